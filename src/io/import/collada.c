// SPDX-License-Identifier: Apache-2.0
// COLLADA, as far as a convex hull wants it: the positions of all geometries that the scene shows, moved by
// the nodes they hang on and in metres. Which way is up is not looked at, as URDF has it.
#include "io/import/robot.h"

#include <string.h>

typedef struct {
  double m[3][4];
} Affine;

typedef struct {
  tbContext* ctx;
  tbXml* root;
  tbArray points; // tbVec3
  double metre;
} Collada;

static Affine multiply(Affine a, Affine b)
{
  Affine c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      c.m[i][j] = j == 3 ? a.m[i][3] : 0;
      for (int k = 0; k < 3; k++) c.m[i][j] += a.m[i][k] * b.m[k][j];
    }
  return c;
}

static Affine diagonal(double x, double y, double z)
{
  return (Affine){{{x, 0, 0, 0}, {0, y, 0, 0}, {0, 0, z, 0}}};
}

// What a node's element does to what is in the node; anything but a transformation: nothing.
static tbStatus read_transform(Collada* c, const tbXml* at, Affine* out)
{
  double v[16];
  const char* text = at->text ? at->text : "";
  *out = diagonal(1, 1, 1);
  if (strcmp(at->name, "matrix") == 0) {
    TB_TRY(tb_xml_numbers(c->ctx, at, "text", text, 16, 16, v, NULL));
    memcpy(out->m, v, sizeof out->m);
  } else if (strcmp(at->name, "translate") == 0) {
    TB_TRY(tb_xml_numbers(c->ctx, at, "text", text, 3, 3, v, NULL));
    for (int i = 0; i < 3; i++) out->m[i][3] = v[i];
  } else if (strcmp(at->name, "scale") == 0) {
    TB_TRY(tb_xml_numbers(c->ctx, at, "text", text, 3, 3, v, NULL));
    *out = diagonal(v[0], v[1], v[2]);
  } else if (strcmp(at->name, "rotate") == 0) {
    TB_TRY(tb_xml_numbers(c->ctx, at, "text", text, 4, 4, v, NULL));
    double length = tb_norm3(tb_load3(v));
    if (!(length > 0)) return TB_OK;
    tbMat3 R = tb_quat_mat3(tb_quat_exp(tb_scale3(v[3] * TB_PI / 180 / length, tb_load3(v))));
    for (int i = 0; i < 3; i++) memcpy(out->m[i], R.m[i], sizeof R.m[i]);
  }
  return TB_OK;
}

// The element below that has the id which a reference "#id" names.
static tbXml* find_id(tbXml* at, const char* reference)
{
  const char* id = tb_xml_get(at, "id");
  if (id && reference[0] == '#' && strcmp(id, reference + 1) == 0) return at;
  for (tbXml* child = at->first; child; child = child->next) {
    tbXml* found = find_id(child, reference);
    if (found) return found;
  }
  return NULL;
}

static tbStatus add_source(Collada* c, tbXml* source, Affine A)
{
  tbXml* list = tb_xml_child(source, "float_array");
  if (!list || !list->text) return TB_OK;
  size_t most = strlen(list->text) / 2 + 1;
  double* number = TB_NEW(c->ctx, double, most);
  int count = 0;
  if (!number) return TB_ERROR_MEMORY;
  tbStatus status = tb_xml_numbers(c->ctx, list, "text", list->text, 0, (int)most, number, &count);
  for (int i = 0; i + 2 < count && status == TB_OK; i += 3) {
    double x[3];
    for (int k = 0; k < 3; k++)
      x[k] = c->metre *
             (A.m[k][0] * number[i] + A.m[k][1] * number[i + 1] + A.m[k][2] * number[i + 2] + A.m[k][3]);
    tbVec3 point = tb_load3(x);
    status = tb_array_push(c->ctx, &c->points, &point, 1);
  }
  tb_free(c->ctx, number);
  return status;
}

static tbStatus add_geometry(Collada* c, tbXml* geometry, Affine A)
{
  tbXml* mesh = tb_xml_child(geometry, "mesh");
  tbXml* vertices = mesh ? tb_xml_child(mesh, "vertices") : NULL;
  for (tbXml* in = vertices ? tb_xml_child(vertices, "input") : NULL; in; in = tb_xml_next(in, "input")) {
    const char *meaning = tb_xml_get(in, "semantic"), *name = tb_xml_get(in, "source");
    tbXml* source = name && meaning && strcmp(meaning, "POSITION") == 0 ? find_id(mesh, name) : NULL;
    if (source) TB_TRY(add_source(c, source, A));
  }
  return TB_OK;
}

static tbStatus add_node(Collada* c, tbXml* node, Affine A)
{
  for (tbXml* at = node->first; at; at = at->next) {
    Affine B;
    const char* name = strcmp(at->name, "instance_geometry") == 0 ? tb_xml_get(at, "url") : NULL;
    tbXml* geometry = name ? find_id(c->root, name) : NULL;
    TB_TRY(read_transform(c, at, &B)); // they stand before what they move
    A = multiply(A, B);
    if (geometry) TB_TRY(add_geometry(c, geometry, A));
    else if (strcmp(at->name, "node") == 0) TB_TRY(add_node(c, at, A));
  }
  return TB_OK;
}

static tbStatus read_scenes(Collada* c)
{
  tbXml *asset = tb_xml_child(c->root, "asset"), *unit = asset ? tb_xml_child(asset, "unit") : NULL;
  const char* metre = unit ? tb_xml_get(unit, "meter") : NULL;
  if (metre) TB_TRY(tb_xml_numbers(c->ctx, unit, "meter", metre, 1, 1, &c->metre, NULL));
  tbXml* scenes = tb_xml_child(c->root, "library_visual_scenes");
  for (tbXml* s = scenes ? tb_xml_child(scenes, "visual_scene") : NULL; s; s = tb_xml_next(s, "visual_scene"))
    TB_TRY(add_node(c, s, diagonal(1, 1, 1)));
  return c->points.count ? TB_OK : tb_xml_fail(c->ctx, c->root, "a COLLADA file without geometry");
}

tbStatus tb_collada_points(tbContext* ctx, tbArena* arena, const char* path, tbVec3** out, int* count)
{
  Collada c = {.ctx = ctx, .points = TB_ARRAY(tbVec3), .metre = 1};
  TB_TRY(tb_xml_load(ctx, arena, path, &c.root));
  tbStatus status = read_scenes(&c);
  *out = status == TB_OK ? TB_TAKE(arena, tbVec3, c.points.count) : NULL;
  if (status == TB_OK && !*out) status = TB_ERROR_MEMORY;
  if (status == TB_OK) memcpy(*out, c.points.data, c.points.count * sizeof **out);
  *count = (int)c.points.count;
  tb_array_free(ctx, &c.points);
  return status;
}
