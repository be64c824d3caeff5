// SPDX-License-Identifier: Apache-2.0
#include "tribo/tools/decimal.h"
