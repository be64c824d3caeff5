#include "tribo/ccd.h"
