#include "tribo/tools/utf8.h"
