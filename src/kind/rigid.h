// Rigid bodies: entries of their row that other kinds with a frame may share.
#ifndef TB_KIND_RIGID_H
#define TB_KIND_RIGID_H

#include "kind/table.h"

void tb_rigid_place(tbWorld* world, int body, const tbBodyState* state);
tbEnergy tb_rigid_energy(const tbWorld* world, const tbBody* body);
tbVec3 tb_rigid_angular_momentum(const tbBody* body);

#endif
