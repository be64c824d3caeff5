// Sheets of triangles.
#include "kind/deformable.h"

const tbKind tb_kind_cloth = {.name = "cloth",
                              .sheet = true,
                              .release = tb_deformable_release,
                              .place = tb_deformable_place,
                              .energy = tb_deformable_energy,
                              .angular_momentum = tb_deformable_angular_momentum,
                              .hash = tb_deformable_hash,
                              .nodes = tb_deformable_nodes,
                              .set_nodes = tb_deformable_set_nodes};
