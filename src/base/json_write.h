#include "tribo/tools/json_write.h"
