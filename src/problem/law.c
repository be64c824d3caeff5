// SPDX-License-Identifier: Apache-2.0
// What the laws and models are called, and how many rows and parameters each takes.
#include "tribo/problem.h"

#include <string.h>

static const struct {
  const char *name, *summary;
} laws[TB_LAW_COUNT] = {
    [TB_LAW_BILATERAL] = {"free", "bilateral: u = 0, any impulse (joints)"},
    [TB_LAW_NONNEG] = {"nonneg", "unilateral without friction, row by row (limits)"},
    [TB_LAW_BOX] = {"box", "lo ≤ λ ≤ hi, row by row (motors)"},
    [TB_LAW_COULOMB] = {"coulomb", "isotropic Coulomb friction, circular cone (2-D: wedge)"},
    [TB_LAW_ELLIPTIC] = {"elliptic", "anisotropic friction, elliptic cone μ_t, μ_b"},
    [TB_LAW_CONTENSOU] = {"contensou", "friction with torsion, ellipsoidal cone μ_t, μ_b, μ_τ"},
    [TB_LAW_ROLLING] = {"rolling", "friction, torsion and rolling resistance with separate limits"},
    [TB_LAW_POLYHEDRAL] = {"polyhedral", "friction pyramid with k directions"},
    [TB_LAW_DIRECTIONAL] = {"directional", "boxed friction with one-sided coefficients (texture friction)"},
    [TB_LAW_POLYGON] = {"polygon", "a coefficient for each of up to sixteen directions (texture friction)"},
    [TB_LAW_TENSOR] = {"tensor", "friction tensor: −λ_n L v̂ while sliding, within L times the disc"},
};

static const char* const models[TB_MODEL_COUNT] = {
    [TB_MODEL_CONE] = "cone",
    [TB_MODEL_BOX] = "box",
    [TB_MODEL_POLYHEDRAL] = "polyhedral",
    [TB_MODEL_CCP] = "ccp",
    [TB_MODEL_FRICTIONLESS] = "frictionless",
};

const char* tb_law_name(tbLaw law) { return (unsigned)law < TB_LAW_COUNT ? laws[law].name : "unknown"; }
const char* tb_law_summary(tbLaw law) { return (unsigned)law < TB_LAW_COUNT ? laws[law].summary : ""; }

bool tb_law_from_name(const char* name, tbLaw* out)
{
  for (int i = 0; i < TB_LAW_COUNT; i++)
    if (strcmp(name, laws[i].name) == 0) {
      *out = (tbLaw)i;
      return true;
    }
  return false;
}

int tb_law_params(tbLaw law, int rows)
{
  if (rows < 1 || rows > TB_MAX_ROWS) return -1;
  switch (law) {
  case TB_LAW_BILATERAL:
  case TB_LAW_NONNEG: return 0;
  case TB_LAW_BOX: return 2 * rows;
  case TB_LAW_COULOMB: return rows == 2 || rows == 3 ? 1 : -1;
  case TB_LAW_ELLIPTIC: return rows == 3 ? 2 : -1;
  case TB_LAW_CONTENSOU: return rows == 4 ? 3 : -1;
  case TB_LAW_ROLLING: return rows == 4 || rows == 5 ? 2 : rows == 6 ? 3 : -1;
  case TB_LAW_POLYHEDRAL: return rows == 3 ? 2 : -1;
  case TB_LAW_DIRECTIONAL: return rows >= 2 ? 2 * (rows - 1) : -1;
  case TB_LAW_POLYGON: return rows == 3 ? 1 + TB_MAX_SIDES : -1;
  case TB_LAW_TENSOR: return rows == 3 ? 4 : -1;
  case TB_LAW_COUNT: break;
  }
  return -1;
}

const char* tb_model_name(tbModel model)
{
  return (unsigned)model < TB_MODEL_COUNT ? models[model] : "unknown";
}

bool tb_model_from_name(const char* name, tbModel* out)
{
  for (int i = 0; i < TB_MODEL_COUNT; i++)
    if (strcmp(name, models[i]) == 0) {
      *out = (tbModel)i;
      return true;
    }
  return false;
}
