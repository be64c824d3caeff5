#include "tribo/tools/json.h"
