#include "tribo/tools/file.h"
