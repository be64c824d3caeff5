#include "tribo/tools/decimal.h"
