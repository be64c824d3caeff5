#include "tribo/tools/random.h"
