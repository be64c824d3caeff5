#include "tribo/io.h"
