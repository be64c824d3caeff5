// SPDX-License-Identifier: Apache-2.0
// The pen of the gallery, continued: soft bodies, cloth, reduced bodies.
#include "gallery/gallery.h"

static void put_mesh(tbPen* pen, const tbPenMesh* m)
{
  tbJsonWriter* w = &pen->json;
  tb_put_object(w, "mesh");
  if (m->file) {
    tb_put_string(w, "file", m->file);
    tb_put_end(w);
    return;
  }
  tb_put_object(w, m->kind);
  if (m->sizes > 0) tb_put_numbers(w, "size", m->size, (size_t)m->sizes);
  for (int i = 0; i < 3 && m->number[i].key; i++) tb_put_number(w, m->number[i].key, m->number[i].value);
  if (m->cell_counts == 1) tb_put_int(w, "cells", m->cells[0]);
  else tb_put_numbers(w, "cells", (double[3]){m->cells[0], m->cells[1], m->cells[2]}, (size_t)m->cell_counts);
  tb_put_end(w);
  tb_put_end(w);
}

static void put_pin(tbPen* pen, const tbPenPin* p)
{
  tbJsonWriter* w = &pen->json;
  tb_put_object(w, NULL);
  if (p->body) tb_put_string(w, "body", p->body);
  tb_put_array(w, "box");
  tb_pen_put3(pen, NULL, p->low);
  tb_pen_put3(pen, NULL, p->high);
  tb_put_end(w);
  tb_pen_put_nonzero3(pen, "velocity", p->velocity);
  tb_pen_put_nonzero3(pen, "angular_velocity", p->angular_velocity);
  tb_put_end(w);
}

// Those that hold (attached: false), or those that are fixed to a body.
static void put_pins(tbPen* pen, const tbPenSoft* s, bool attached)
{
  int count = 0;
  for (int i = 0; i < s->pin_count; i++) {
    if (!s->pins[i].body == attached) continue;
    if (count++ == 0) tb_put_array(&pen->json, attached ? "attach" : "pins");
    put_pin(pen, &s->pins[i]);
  }
  if (count > 0) tb_put_end(&pen->json);
}

static void put_rest(tbPen* pen, const tbPenSoft* s)
{
  tb_pen_put_nonzero(pen, "damping", s->damping);
  if (s->material) tb_put_string(&pen->json, "material", s->material);
  tb_pen_put_pose(pen, s->position, s->orientation);
  tb_pen_put_nonzero3(pen, "velocity", s->velocity);
  put_pins(pen, s, false);
  put_pins(pen, s, true);
  tb_pen_put_repeat(pen, s->count, s->spacing, s->jitter);
  tb_put_end(&pen->json);
}

static void begin(tbPen* pen, const char* section, const tbPenSoft* s)
{
  tb_pen_open(pen, section);
  tb_put_object(&pen->json, NULL);
  tb_put_string(&pen->json, "name", s->name);
  put_mesh(pen, &s->mesh);
}

void tb_pen_soft(tbPen* pen, const tbPenSoft* s)
{
  begin(pen, "soft", s);
  if (s->model) tb_put_string(&pen->json, "model", s->model);
  tb_pen_put_nonzero(pen, "young", s->young);
  tb_pen_put_nonzero(pen, "poisson", s->poisson);
  put_rest(pen, s);
}

void tb_pen_reduced(tbPen* pen, const tbPenSoft* s)
{
  begin(pen, "reduced", s);
  tb_put_int(&pen->json, "modes", s->modes);
  if (s->basis) tb_put_string(&pen->json, "basis", s->basis);
  tb_pen_put_nonzero(pen, "young", s->young);
  tb_pen_put_nonzero(pen, "poisson", s->poisson);
  put_rest(pen, s);
}

void tb_pen_cloth(tbPen* pen, const tbPenSoft* s)
{
  begin(pen, "cloth", s);
  tb_pen_put_nonzero(pen, "area_density", s->area_density);
  tb_pen_put_nonzero(pen, "stretch", s->stretch);
  tb_pen_put_nonzero(pen, "shear", s->shear);
  tb_put_number(&pen->json, "bend", s->bend);
  tb_pen_put_nonzero(pen, "thickness", s->thickness);
  tb_pen_put_nonzero(pen, "air_damping", s->air_damping);
  tb_pen_put_nonzero3(pen, "warp", s->warp);
  put_rest(pen, s);
}

tbPenMesh tb_pen_soft_box(tbVec3 size, int nx, int ny, int nz)
{
  return (tbPenMesh){
      .kind = "box", .size = {size.x, size.y, size.z}, .sizes = 3, .cells = {nx, ny, nz}, .cell_counts = 3};
}

tbPenMesh tb_pen_soft_sphere(double radius, int cells)
{
  return (tbPenMesh){.kind = "sphere", .number = {{"radius", radius}}, .cells = {cells}, .cell_counts = 1};
}

tbPenMesh tb_pen_soft_torus(double ring, double tube, int across, int around)
{
  return (tbPenMesh){.kind = "torus",
                     .number = {{"ring", ring}, {"tube", tube}},
                     .cells = {across, around},
                     .cell_counts = 2};
}

tbPenMesh tb_pen_grid(double width, double height, int across, int along)
{
  return (tbPenMesh){
      .kind = "grid", .size = {width, height}, .sizes = 2, .cells = {across, along}, .cell_counts = 2};
}
