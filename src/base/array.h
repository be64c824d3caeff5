#include "tribo/tools/array.h"
