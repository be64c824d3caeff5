// SPDX-License-Identifier: Apache-2.0
// The table of schemes.
#include "step/scheme.h"

#include <string.h>

enum {
  JOINTS = 1 << TB_LAW_BILATERAL | 1 << TB_LAW_NONNEG | 1 << TB_LAW_BOX, // their rows, limits and motors
  CONTACTS = 1 << TB_LAW_NONNEG | 1 << TB_LAW_COULOMB | 1 << TB_LAW_ELLIPTIC | 1 << TB_LAW_CONTENSOU |
             1 << TB_LAW_ROLLING | 1 << TB_LAW_TENSOR | 1 << TB_LAW_DIRECTIONAL |
             1 << TB_LAW_POLYGON, // as rows.c chooses them
};

static const tbScheme schemes[] = {
    {.name = "semi-implicit",
     .summary = "velocity level, one problem per step; overlaps pushed out or projected",
     .reference = "Stewart and Trinkle 1996; Anitescu and Potra 1997; course §1",
     .method = &tb_semi_implicit,
     .moves = TB_MOVES_FRAMES | TB_MOVES_MODES,
     .springs = true,
     .laws = JOINTS | CONTACTS,
     .impact_laws = JOINTS | CONTACTS},
    {.name = "moreau",
     .summary = "Moreau's midpoint rule, restitution inside the contact law",
     .reference = "Moreau 1988; course, proximal chapter",
     .method = &tb_moreau,
     .moves = TB_MOVES_FRAMES,
     .springs = true,
     .laws = JOINTS | CONTACTS},
    {.name = "soft-step",
     .summary =
         "the real-time lane: substeps with soft contacts that are relaxed, sixteen pairs side by side; a "
         "solver with polish alone",
     .reference = "Macklin et al. 2019, small steps; Catto 2024, Solver2D; course §1",
     .method = &tb_soft_step,
     .moves = TB_MOVES_FRAMES,
     .springs = true},
    {.name = "implicit",
     .summary = "deformable bodies with rigid ones: implicit elasticity, contacts found until nothing meets",
     .reference = "Verschoor and Jalba 2019; course §1.10, §2.2",
     .method = &tb_implicit,
     .moves = TB_MOVES_FRAMES | TB_MOVES_NODES | TB_MOVES_MODES,
     .springs = true,
     .laws = JOINTS | CONTACTS,
     .impact_laws = JOINTS | CONTACTS,
     .until_apart = true},
    {.name = "penalty",
     .summary = "springs and dampers at the contacts, of all bodies, explicit or implicit; a solver for "
                "joints and impacts alone",
     .reference = "Cundall and Strack 1979; course §5.1",
     .method = &tb_penalty,
     .moves = TB_MOVES_FRAMES | TB_MOVES_NODES | TB_MOVES_MODES,
     .springs = true,
     .laws = JOINTS,
     .impact_laws = JOINTS | CONTACTS},
    {.name = "pd",
     .summary = "projective dynamics: cloth and solids with one constant factor, contacts in its local steps",
     .reference = "Bouaziz et al. 2014; Ly, Jouve, Boissieux and Bertails-Descoubes 2020",
     .method = &tb_pd,
     .moves = TB_MOVES_FRAMES | TB_MOVES_NODES,
     .springs = true,
     .laws = JOINTS | CONTACTS,
     .impact_laws = JOINTS | CONTACTS},
    {.name = "primal",
     .summary = "descent on relaxed contact: potentials over velocities, preconditioned, differentiable",
     .reference = "Macklin, Erleben, Müller, Chentanez, Jeschke and Kim 2020",
     .method = &tb_primal,
     .moves = TB_MOVES_FRAMES | TB_MOVES_NODES | TB_MOVES_MODES,
     .springs = true,
     .impact_laws = JOINTS | CONTACTS},
    {.name = "xpbd",
     .summary = "its dual: impulses ascend on compliant rows, all at once with split masses or in colours",
     .reference = "Macklin, Müller and Chentanez 2016; Tonge et al. 2012; Macklin et al. 2020",
     .method = &tb_xpbd,
     .moves = TB_MOVES_FRAMES | TB_MOVES_NODES,
     .springs = true,
     .impact_laws = JOINTS | CONTACTS},
    {.name = "vbd",
     .summary = "vertex block descent: the objective of primal, one body or node after the other",
     .reference = "Chen, Liu, Yang and Yuksel 2024",
     .method = &tb_vbd,
     .moves = TB_MOVES_FRAMES | TB_MOVES_NODES | TB_MOVES_MODES,
     .springs = true,
     .impact_laws = JOINTS | CONTACTS},
    {.name = "avbd",
     .summary = "augmented vertex block descent: multipliers beside the potentials",
     .reference = "Giles, Diaz and Yuksel 2025",
     .method = &tb_avbd,
     .moves = TB_MOVES_FRAMES | TB_MOVES_NODES | TB_MOVES_MODES,
     .springs = true,
     .impact_laws = JOINTS | CONTACTS},
    {.name = "ipc",
     .summary = "incremental potential contact: barriers and lagged friction, no crossings; a solver with "
                "exact_friction alone",
     .reference = "Li et al. 2020; Ferguson et al. 2021; course §5.3",
     .method = &tb_ipc,
     .moves = TB_MOVES_FRAMES | TB_MOVES_NODES},
};

int tb_scheme_count(void) { return (int)(sizeof schemes / sizeof *schemes); }
const tbScheme* tb_scheme_at(int index) { return &schemes[index]; }

const tbScheme* tb_scheme_find(const char* name)
{
  for (int i = 0; i < tb_scheme_count(); i++)
    if (strcmp(schemes[i].name, name) == 0) return &schemes[i];
  return NULL;
}

tbFit tb_scheme_fit(const tbScheme* scheme, const tbSolver* solver)
{
  tbFit fit = {0};
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    if (!(scheme->laws & 1u << law)) continue;
    unsigned models = tb_solver_models(solver, (tbLaw)law);
    if (models & 1u << TB_MODEL_CONE) fit.exact |= 1u << law;
    else if (models) fit.modelled |= 1u << law;
    else fit.refused |= 1u << law;
  }
  return fit;
}
