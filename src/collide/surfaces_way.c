// SPDX-License-Identifier: Apache-2.0
// The plane between two features at the start of a step, for every candidate.
#include "base/threads.h"
#include "collide/surfaces_pair.h"

enum { GRAIN = 1024 };

typedef struct {
  const tbSurfaceScene* scene;
  const tbSurfaceFeatures* features;
  tbSurfaceWay* way;
} Job;

static void find_ways(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int i = begin; i < end; i++) {
    tbSurfaceContact c = tb_surface_corners(job->scene, &job->features[i]);
    tbVec3 x[4];
    tb_surface_places(job->scene, &c, false, x);
    tbVec3 way = tb_closest_features(c.count_a == 3, x).way, normal = tb_normalize3(way);
    job->way[i] = (tbSurfaceWay){normal, tb_norm3(way), tb_surface_parted(x, c.count_b, normal)};
  }
}

void tb_surface_ways(tbContext* ctx, const tbSurfaceScene* scene, const tbArray* features, tbSurfaceWay* out)
{
  Job job = {scene, features->data, out};
  tb_parallel_for(ctx->threads, (int)features->count, GRAIN, find_ways, &job);
}
