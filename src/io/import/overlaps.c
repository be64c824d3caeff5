// SPDX-License-Identifier: Apache-2.0
// Links of one robot that lie in each other where the scene starts. Both formats' meshes touch by their
// hulls, which are larger than the links, and joints leave such pairs no way apart: as a contact each would
// ask for what cannot be. They are let through each other, with a note.
#include "io/import/robot.h"

#include "scene/world.h"
#include "tribo/check.h"

static const double small = 0.01; // of the smaller one's radius: less is a contact

static const tbRobotBody* root_of(const tbRobotBody* b)
{
  while (b->parent) b = b->parent;
  return b;
}

static tbStatus let_through(tbRobot* r, tbRobotBody* a, tbRobotBody* b, double depth)
{
  tbRobotPair* p = TB_TAKE(r->arena, tbRobotPair, 1);
  if (!p) return TB_ERROR_MEMORY;
  *p = (tbRobotPair){.kind = TB_PAIR_IGNORE, .a = a->name, .b = b->name, .at = b->at, .next = r->pairs};
  r->pairs = p;
  return tb_robot_note(r, b->at, "\"%.60s\" and \"%.60s\" start %.3g m inside each other: they do not touch",
                       a->name, b->name, depth);
}

static tbStatus look(tbRobot* r, const tbWorld* w)
{
  tbArray overlaps = TB_ARRAY(tbOverlap);
  tbStatus status = tb_world_overlaps(r->ctx, w, small, &overlaps);
  const tbOverlap* o = overlaps.data;
  for (size_t i = 0; status == TB_OK && i < overlaps.count; i++) {
    tbRobotBody *a = tb_robot_body(r, tb_body_name(w, tb_world_body_at(w, o[i].a))),
                *b = tb_robot_body(r, tb_body_name(w, tb_world_body_at(w, o[i].b)));
    if (a && b && root_of(a) == root_of(b)) status = let_through(r, a, b, o[i].depth);
  }
  tb_array_free(r->ctx, &overlaps);
  return status;
}

// Asks the scene as it would be: paths of its meshes are whole ones, and what there is to note comes later.
tbStatus tb_robot_part(tbRobot* r)
{
  const char* folder = r->folder;
  tbArray* notes = r->notes;
  tbOut out = tb_out_memory(r->ctx);
  tbScene scene = {0};
  tbContext quiet = *r->ctx; // a scene that cannot be is told of by who loads it
  r->folder = NULL, r->notes = NULL;
  tbStatus status = tb_robot_write(r, &out);
  if (status == TB_OK) status = tb_scene_parse(&quiet, r->path, out.bytes, out.length, ".", &scene);
  r->folder = folder, r->notes = notes;
  if (status == TB_OK) status = look(r, scene.world);
  else if (status == TB_ERROR_MEMORY) tb_fail(r->ctx, status, "no memory for a robot");
  else status = TB_OK;
  tb_scene_free(r->ctx, &scene);
  tb_out_free(&out);
  return status;
}
