// SPDX-License-Identifier: Apache-2.0
// Ly et al. 2020, for long: three sheets on a turning ball and a ribbon that folds on itself, twenty seconds.
#include "cli/paper_ly.h"

#include "tribo/io.h"

#include <math.h>
#include <string.h>

enum { SHEETS = 3 };

// How fast the nodes of a sheet go around the ball's axis, on average over those above its upper half.
static double turning(const tbWorld* w, tbBodyId sheet)
{
  double sum = 0, weight = 0;
  const tbVec3 *x = tb_body_nodes(w, sheet), *v = tb_body_node_velocities(w, sheet);
  for (int k = 0; k < tb_body_node_count(w, sheet); k++)
    if (x[k].z > 0.45) {
      sum += x[k].x * v[k].y - x[k].y * v[k].x;
      weight += x[k].x * x[k].x + x[k].y * x[k].y;
    }
  return weight > 0 ? sum / weight : 0;
}

// Layers of a sheet over one another: triangles that a vertical line through a node meets, at most.
static int count_layers(const tbWorld* w, tbBodyId id)
{
  const tbVec3* x = tb_body_nodes(w, id);
  const int(*t)[3] = tb_body_triangles(w, id);
  int most = 0;
  for (int k = 0; k < tb_body_node_count(w, id); k += 7) {
    int layers = 0;
    double px = x[k].x + 1e-7, py = x[k].y + 3e-7; // not through an edge
    for (int i = 0; i < tb_body_triangle_count(w, id); i++) {
      double side[3];
      for (int c = 0; c < 3; c++) {
        tbVec3 a = x[t[i][c]], b = x[t[i][(c + 1) % 3]];
        side[c] = (b.x - a.x) * (py - a.y) - (b.y - a.y) * (px - a.x);
      }
      layers += (side[0] > 0) == (side[1] > 0) && (side[1] > 0) == (side[2] > 0);
    }
    most = layers > most ? layers : most;
  }
  return most;
}

typedef struct {
  double speed;           // of the fastest node in the last three quarters of the time         m/s
  double slip;            // of the innermost sheet on the ball, in all                         rad
  double turning[SHEETS]; // from inside out, in the last quarter of the time: what hangs swings  rad/s
  int crossings;          // at the end
  int layers;             // at the end
  double last;            // of the fastest node in the last tenth of the time                 m/s
} LyLong;

// The scene is freed.
static tbStatus run_long(Paper* p, tbScene scene, double seconds, LyLong* out)
{
  tbStepReport report = {0};
  *out = (LyLong){0};
  tbWorld* w = scene.world;
  const tbStepOptions* o = &scene.step;
  tbBodyId cloth = tb_world_body_at(w, tb_world_body_count(w) - 1);
  tbStatus status = TB_OK;
  for (int i = 0, n = (int)ceil(seconds / o->dt); status == TB_OK && i < n; i++) {
    status = tb_world_step(p->ctx, w, o, &report);
    for (int k = 0, body = 0; k < SHEETS && body < tb_world_body_count(w); body++) {
      tbBodyId sheet = tb_world_body_at(w, body);
      if (tb_body_node_count(w, sheet) == 0) continue;
      double now = turning(w, sheet);
      if (k == 0) out->slip += o->dt * (2 - now);
      if (4 * i >= 3 * n) out->turning[k] += now / (n - (3 * n + 3) / 4);
      k++;
    }
    if (4 * i >= n) out->speed = fmax(out->speed, ly_fastest_node(w));
    if (10 * i >= 9 * n) out->last = fmax(out->last, ly_fastest_node(w));
    out->crossings += report.intersections;
  }
  out->layers = count_layers(w, cloth);
  tb_scene_free(p->ctx, &scene);
  return status;
}

static tbStatus run_sheets(Paper* p, double mu, double seconds, LyLong* out)
{
  tbScene scene;
  TB_TRY(ly_scene(p, &ly_setups[2], p->quick ? 8 : 24, mu, &scene));
  return run_long(p, scene, seconds, out);
}

// The ribbon of table 2, softer in bending: with its 0.02 N·m it bends over (0.02/0.25 g)^⅓ = 0.2 m, and no
// more than five layers of 1.5 m lie over each other.
static tbStatus run_folding(Paper* p, double seconds, LyLong* out)
{
  tbScene scene;
  TB_TRY(paper_scene(p, "folding", &scene, "%s", p->quick ? "cloth.*.mesh.grid.cells=[38,3]" : ""));
  return run_long(p, scene, seconds, out);
}

tbStatus ly_twenty_seconds(Paper* p)
{
  double seconds = p->quick ? 0.5 : 20;
  LyLong slow, fast, ribbon;
  paper_section(p, "Twenty seconds",
                "Three sheets on a ball that turns at 2 rad/s, and a ribbon that falls and folds.");
  TB_TRY(run_sheets(p, 0.1, seconds, &slow));
  TB_TRY(run_sheets(p, 0.3, seconds, &fast));
  TB_TRY(run_folding(p, p->quick ? 0.3 : 20, &ribbon));
  // What lies on a ball of a quarter of a metre goes at half a metre a second; what hangs down swings, too,
  // and in the half second of --quick sheets are still falling.
  paper_claim(p, fmax(slow.speed, fast.speed) < (p->quick ? 8 : 4),
              "speeds of vertices are bounded, nothing pops",
              "%.2f m/s at most with μ .1, %.2f with .3, after the first quarter", slow.speed, fast.speed);
  // The innermost sheet lies on the ball; those over it slip on each other, and the outermost may slide off.
  paper_claim(p, p->quick || (fast.slip < 0.5 * slow.slip && fabs(fast.turning[0] - 2) < 0.2),
              "the sheet on the ball is carried along with μ .3, slips with .1",
              "slipped by %.2f rad with .1, %.2f with .3; sheets from inside out, in the last quarter: %.2f, "
              "%.2f, %.2f rad/s with .1, %.2f, %.2f, %.2f with .3",
              slow.slip, fast.slip, slow.turning[0], slow.turning[1], slow.turning[2], fast.turning[0],
              fast.turning[1], fast.turning[2]);
  paper_claim(
      p, ribbon.crossings == 0 && (p->quick || (ribbon.layers >= 10 && ribbon.speed < 1)),
      "a ribbon folds ten layers deep; no crossing in any step of the certified mode",
      "%d layers at the end, %d crossings in all, %.2g m/s at most after the first quarter, %.2g in the "
      "last tenth",
      ribbon.layers, ribbon.crossings, ribbon.speed, ribbon.last);
  paper_section_end(p);
  return TB_OK;
}
