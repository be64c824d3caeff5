// SPDX-License-Identifier: Apache-2.0
// Chapter 5: scenes after those of Li et al. 2020, with meshes of their project, beside the times that they
// publish (figure 23 of the article). Sizes differ, and are named.
#include "cli/paper_course.h"

#include "tribo/inspect.h"
#include "tribo/step.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  const char *scene, *mesh, *stands_for;
  int steps;           // at most
  int nodes;           // of the article's, about
  double seconds;      // of a step of it
  const char* remarks; // in what it differs
} Row;

static const Row rows[] = {
    {"published-knives", "mat40x40.msh", "mat on knives, figure 2", 30, 3200, 1.4, "the same mesh"},
    {"published-rollers", "sphere1K.msh", "ball mesh roller, figure 8", 50, 7000, 63.3, "a coarser ball"},
    {"published-funnel", "sphere1K.msh", "dolphin funnel, figure 13", 8, 8000, 27.9,
     "a coarser ball; drawn in by its tip"},
    {"published-twist", "mat40x40.msh", "mat twist, figure 14", 40, 45000, 776.2,
     "a fourteenth of the nodes; 1.6 s of 100"},
};

static bool has_mesh(const Paper* p, const Row* row)
{
  char path[PATH_MAX], mesh[PATH_MAX + 60];
  if (paper_scene_path(p, row->scene, path) != TB_OK) return false;
  *(strrchr(path, '/') + 1) = 0;
  snprintf(mesh, sizeof mesh, "%s../../../shared/meshes/%s", path, row->mesh);
  return access(mesh, R_OK) == 0;
}

static tbStatus run(Paper* p, const Row* row, tbOut* table, int* missed, int64_t* crossed)
{
  tbScene s;
  int steps = 0, iterations = 0, contacts = 0;
  TB_TRY(paper_scene(p, row->scene, &s, "%s", ""));
  tbStatus status = TB_OK;
  int nodes = (int)tb_world_size(s.world).nodes;
  double begun = paper_cpu_seconds();
  for (; steps < row->steps && status == TB_OK; steps++) {
    tbStepReport r;
    status = tb_world_step(p->ctx, s.world, &s.step, &r);
    if (status != TB_OK) break;
    iterations += r.iterations, contacts = r.contacts > contacts ? r.contacts : contacts;
    *missed += r.newton_missed, *crossed += r.intersections;
  }
  double seconds = (paper_cpu_seconds() - begun) / steps;
  printf("    %-28s %6d nodes, %3d steps: %7.3f s and %5.1f Newton iterations a step; published %6d nodes, "
         "%.1f s\n",
         row->stands_for, nodes, steps, seconds, (double)iterations / steps, row->nodes, row->seconds);
  out_format(table, "%s,%d,%d,%.4f,%.1f,%d,%d,%g,%s\n", row->scene, nodes, steps, seconds,
             (double)iterations / steps, contacts, row->nodes, row->seconds, row->remarks);
  tb_scene_free(p->ctx, &s);
  return status;
}

tbStatus course_published_barriers(Paper* p)
{
  int missed = 0, there = 0;
  int64_t crossed = 0;
  paper_section(
      p, "Chapter 5: barriers beside published times",
      "Processor time of a step in all threads together, of scenes after those of Li et al. 2020. They "
      "report times by the clock of their own code, in several threads, on machines from a Core i7 of 4 "
      "cores at 2.9 GHz to a Core i9 of 8 at 3.6 GHz.");
  for (size_t i = 0; i < sizeof rows / sizeof *rows && !p->quick; i++) there += has_mesh(p, &rows[i]);
  if (there == 0) {
    paper_skip(p, "scenes after those of Li et al. 2020",
               p->quick ? "takes minutes" : "their meshes are not in shared/meshes beside the checkout");
    paper_section_end(p);
    return TB_OK;
  }
  tbOut* table = paper_table(p, "barrier-published.csv",
                             "scene,nodes,steps,s_per_step,iterations,contacts,published_nodes,"
                             "published_s_per_step,differs in");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (has_mesh(p, &rows[i])) TB_TRY(run(p, &rows[i], table, &missed, &crossed));
  paper_claim(p, missed == 0 && crossed == 0, "every step ends, free of intersections",
              "%d steps missed Newton's tolerance, %d crossings in %d scenes", missed, (int)crossed, there);
  paper_section_end(p);
  return TB_OK;
}
