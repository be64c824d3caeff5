#include "tribo/tools/text.h"
