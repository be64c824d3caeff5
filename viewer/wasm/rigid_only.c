// Worlds without deformable bodies. Weak: the library's own take their place where it has them.
#include "tribo/scene.h"

#define WEAK __attribute__((weak))

WEAK int tb_body_node_count(const tbWorld* w, tbBodyId body) { return (void)w, (void)body, 0; }
WEAK const tbVec3* tb_body_nodes(const tbWorld* w, tbBodyId body) { return (void)w, (void)body, NULL; }
WEAK const tbVec3* tb_body_node_velocities(const tbWorld* w, tbBodyId body) { return (void)w, (void)body, NULL; }
WEAK int tb_body_triangle_count(const tbWorld* w, tbBodyId body) { return (void)w, (void)body, 0; }
WEAK const int (*tb_body_triangles(const tbWorld* w, tbBodyId body))[3] { return (void)w, (void)body, NULL; }
WEAK tbStatus tb_body_set_nodes(tbContext* ctx, tbWorld* w, tbBodyId body, const tbVec3* x, const tbVec3* v)
{
  return (void)ctx, (void)w, (void)body, (void)x, (void)v, TB_ERROR_ARGUMENT;
}
