// SPDX-License-Identifier: Apache-2.0
// The experiments of Macklin et al. 2020, on the scenes of papers/macklin. The paper gives masses,
// stiffnesses and friction, but few sizes.
#ifndef TB_CLI_PAPER_MACKLIN_H
#define TB_CLI_PAPER_MACKLIN_H

#include "cli/paper.h"
#include "tribo/step.h"

// The scenes have primal as published: preconditioned by its diagonal (eq. 13), with the velocities of the
// last iterate, not from the last step's impulses. These settings make it dual, with split masses.
#define MACKLIN_DUAL \
  "scheme.name=xpbd scheme.mass_splitting=true scheme.contact_stiffness=0 scheme.friction_stiffness=0"

tbStatus macklin_cloth(Paper* paper); // fig. 12 (paper_macklin_cloth.c)

// Fig. 13: a throw that is searched for, and what gradients cost (paper_macklin_gradient.c).
tbStatus macklin_gradient(Paper* paper);

// Beyond the paper: ratios of mass and budgets for every scheme (paper_macklin_ratios.c).
tbStatus macklin_ratios(Paper* paper);

#endif
