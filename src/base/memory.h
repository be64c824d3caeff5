#include "tribo/tools/memory.h"
