// The plane between two features at the start of a step, for every candidate.
#include "base/threads.h"
#include "collide/skins_pair.h"

enum { GRAIN = 1024 };

typedef struct {
  const tbSkinScene* scene;
  const tbSkinFeatures* features;
  tbSkinWay* way;
} Job;

static void find_ways(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int i = begin; i < end; i++) {
    tbSkinContact c = tb_skin_corners(job->scene, &job->features[i]);
    tbVec3 x[4];
    tb_skin_places(job->scene, &c, false, x);
    tbVec3 way = tb_closest_features(c.count_a == 3, x).way, normal = tb_normalize3(way);
    job->way[i] = (tbSkinWay){normal, tb_norm3(way), tb_skin_parted(x, c.count_b, normal)};
  }
}

void tb_skin_ways(tbContext* ctx, const tbSkinScene* scene, const tbArray* features, tbSkinWay* out)
{
  Job job = {scene, features->data, out};
  tb_parallel_for(ctx->threads, (int)features->count, GRAIN, find_ways, &job);
}
