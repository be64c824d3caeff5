#include "tribo/tools/clock.h"
