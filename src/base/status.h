#include "tribo/tools/status.h"
