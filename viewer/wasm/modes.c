// SPDX-License-Identifier: Apache-2.0
// Modes of a reduced body, one slider each: its shape is put there, at rest.
#include "web.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FARTHEST = 0.1; // that a slider at its end moves a node, of the body's size

static double size_of(const tbVec3* x, int count)
{
  tbVec3 low = x[0], high = x[0];
  for (int i = 1; i < count; i++) low = tb_min3(low, x[i]), high = tb_max3(high, x[i]);
  return tb_distance3(low, high);
}

static double farthest(const tbVec3* a, const tbVec3* b, int count)
{
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, tb_distance3(a[i], b[i]));
  return most;
}

// share: of the farthest that the slider goes, −1 to 1. Nodes are linear in a coordinate, so that one try
// tells how far a unit of it goes.
static tbStatus put_mode(tbWorld* w, tbBodyId id, int mode, double share, double* at, tbVec3* before)
{
  int modes = tb_body_mode_count(w, id), nodes = tb_body_node_count(w, id);
  memcpy(at, tb_body_modes(w, id), (size_t)modes * sizeof *at);
  memcpy(before, tb_body_nodes(w, id), (size_t)nodes * sizeof *before);
  at[mode] += 1;
  TB_TRY(tb_body_set_modes(&web.ctx, w, id, at, NULL));
  double unit = farthest(before, tb_body_nodes(w, id), nodes);
  at[mode] = unit > 0 ? share * FARTHEST * size_of(before, nodes) / unit : 0;
  return tb_body_set_modes(&web.ctx, w, id, at, NULL);
}

WEB(tbStatus, web_mode, int body, int mode, double share)
{
  TB_TRY(web_need_world());
  tbWorld* w = web.scene.world;
  tbBodyId id = tb_world_body_at(w, body);
  int modes = body >= 0 && body < tb_world_body_count(w) ? tb_body_mode_count(w, id) : 0;
  if (mode < 0 || mode >= modes) return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "the body has no such mode");
  if (!(fabs(share) <= 10)) return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "a mode goes from -10 to 10");
  double* at = malloc((size_t)modes * sizeof *at);
  tbVec3* before = malloc((size_t)tb_body_node_count(w, id) * sizeof *before);
  tbStatus status = at && before ? put_mode(w, id, mode, share, at, before)
                                 : tb_fail(&web.ctx, TB_ERROR_MEMORY, "out of memory: %d modes", modes);
  free(at), free(before);
  return status == TB_OK ? web_frame() : status;
}
