#include "tribo/tools/sort.h"
