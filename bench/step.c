// SPDX-License-Identifier: Apache-2.0
// Steps of growing piles: time by phase, and how time and memory grow with the number of bodies.
//
//   bench_step [SCHEME] [BODIES…]        default: a stack of 10, then 1000, 2000, 4000, 8000 boxes dropped
//   into
//                                        a bin; soft-step: 1000, 4000, 16000, 64000
#include "bench.h"
#include "tribo/step.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static void fixed(tbContext* ctx, tbWorld* w, tbShape shape)
{
  tbBodyDef def = tb_default_body_def();
  def.kind = TB_BODY_FIXED, def.shapes = &shape, def.shape_count = 1;
  if (tb_world_add_body(ctx, w, &def, NULL) != TB_OK) exit(1);
}

// A stack, or layers of side × side boxes a little apart over a floor between four walls.
static void build(tbContext* ctx, tbWorld* w, int count)
{
  int side = 1;
  while (count > 10 && side * side * side < count) side++;
  double half = 0.55 * side + 0.1;
  fixed(ctx, w, tb_shape_plane(tb_vec3(0, 0, 1), 0));
  fixed(ctx, w, tb_shape_plane(tb_vec3(1, 0, 0), -half));
  fixed(ctx, w, tb_shape_plane(tb_vec3(-1, 0, 0), -half));
  fixed(ctx, w, tb_shape_plane(tb_vec3(0, 1, 0), -half));
  fixed(ctx, w, tb_shape_plane(tb_vec3(0, -1, 0), -half));
  tbShape box = tb_shape_box(tb_vec3(1, 1, 1));
  for (int i = 0; i < count; i++) {
    tbBodyDef def = tb_default_body_def();
    double lift = count > 10 ? 1.05 : 1;
    def.shapes = &box, def.shape_count = 1;
    def.position = tb_vec3(1.1 * (i % side - 0.5 * (side - 1)) + 0.02 * (i % 3),
                           1.1 * (i / side % side - 0.5 * (side - 1)), 0.5 + lift * (i / (side * side)));
    if (tb_world_add_body(ctx, w, &def, NULL) != TB_OK) exit(1);
  }
}

static double processor_s(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv)
{
  static const int sizes[] = {10, 1000, 2000, 4000, 8000}, many[] = {1000, 4000, 16000, 64000};
  static const char* const phases[] = {"collide", "assemble", "solve", "integrate", "judge"};
  const char* scheme = argc > 1 && !atoi(argv[1]) ? argv[1] : NULL;
  bool fast = scheme && strcmp(scheme, "soft-step") == 0;
  if (scheme) argc--, argv++;
  int runs = argc > 1 ? argc - 1 : fast ? 4 : 5;
  double last = 0, last_memory = 0, last_count = 0, last_contacts = 0;
  printf("%8s %9s", "bodies", "contacts");
  for (int p = 0; p < TB_PHASE_COUNT; p++) printf(" %9s", phases[p]);
  printf(" %9s   ms a step; growth of all%s; memory\n", fast ? "processor" : "but solve",
         fast ? ", by the processor's time" : " but solve");
  for (int r = 0; r < runs; r++) {
    int count = argc > 1 ? atoi(argv[r + 1])
                : fast   ? many[r]
                         : sizes[r],
        settle = count > 10 ? 40 : 100, timed = 10;
    tbContext ctx = tb_default_context();
    tbWorldDef def = tb_default_world_def();
    tbWorld* w;
    if (tb_world_create(&ctx, &def, &w) != TB_OK) return 1;
    build(&ctx, w, count);
    tbStepOptions o = tb_default_step_options();
    if (scheme) o.scheme = scheme, o.dt = 1.0 / 60;
    o.solver.solver = count > 10 ? "bgs" : "auto", o.solver.max_iterations = 20, o.solver.tolerance = 1e-4;
    tbStepReport report = {0};
    double sum[TB_PHASE_COUNT] = {0}, other = 0, begun = 0;
    for (int i = 0; i < settle + timed; i++) {
      if (i == settle) begun = processor_s();
      if (tb_world_step(&ctx, w, &o, &report) != TB_OK) {
        printf("%s\n", ctx.error.message);
        return 0;
      }
      for (int p = 0; i >= settle && p < TB_PHASE_COUNT; p++) sum[p] += report.phase_s[p];
    }
    printf("%8d %9d", count, report.contacts);
    for (int p = 0; p < TB_PHASE_COUNT; p++) {
      printf(" %9.3f", 1e3 * sum[p] / timed);
      other += p == TB_PHASE_SOLVE ? 0 : sum[p] / timed;
    }
    if (fast) other = (processor_s() - begun) / timed;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double memory = (double)usage.ru_maxrss / 1024;
    printf(" %9.3f", 1e3 * other);
    if (last_count > 10) printf("   n^%.2f", log(other / last) / log(count / last_count));
    printf("   %.0f MiB", memory);
    if (last_count > 10)
      printf(" (%.0f bytes a body more, %.0f a contact)",
             (memory - last_memory) * 1048576 / (count - last_count),
             (memory - last_memory) * 1048576 / (report.contacts - last_contacts));
    printf("\n");
    last = other, last_memory = memory, last_count = count, last_contacts = report.contacts;
    tb_world_free(&ctx, w);
  }
  return 0;
}
