// SPDX-License-Identifier: Apache-2.0
#include "io/problem/json.h"

tbLawKeys tb_law_keys(tbLaw law, int rows)
{
  switch (law) {
  case TB_LAW_BILATERAL:
  case TB_LAW_NONNEG: return (tbLawKeys){0};
  case TB_LAW_BOX: return (tbLawKeys){.each = rows, .list = {"lo", "hi"}};
  case TB_LAW_COULOMB: return (tbLawKeys){1, {"mu"}, 0, {0}};
  case TB_LAW_ELLIPTIC: return (tbLawKeys){2, {"mu_t", "mu_b"}, 0, {0}};
  case TB_LAW_CONTENSOU: return (tbLawKeys){3, {"mu_t", "mu_b", "mu_torsion"}, 0, {0}};
  case TB_LAW_ROLLING:
    if (rows == 4) return (tbLawKeys){2, {"mu", "mu_torsion"}, 0, {0}};
    if (rows == 5) return (tbLawKeys){2, {"mu", "mu_rolling"}, 0, {0}};
    return (tbLawKeys){3, {"mu", "mu_torsion", "mu_rolling"}, 0, {0}};
  case TB_LAW_POLYHEDRAL: return (tbLawKeys){2, {"mu", "directions"}, 0, {0}};
  case TB_LAW_DIRECTIONAL: return (tbLawKeys){.each = rows - 1, .list = {"mu_minus", "mu_plus"}};
  case TB_LAW_POLYGON: return (tbLawKeys){.each = TB_MAX_SIDES / 2, .list = {"mu_plus", "mu_minus"}};
  case TB_LAW_TENSOR: return (tbLawKeys){4, {"tt", "tb", "bt", "bb"}, 0, {0}};
  case TB_LAW_COUNT: break;
  }
  return (tbLawKeys){0};
}
