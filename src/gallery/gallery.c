// SPDX-License-Identifier: Apache-2.0
// Scenes of the gallery: the values of their parameters, and what is written or read of them.
#include "gallery/gallery.h"

#include "base/decimal.h"
#include "base/file.h"

#include <string.h>

static bool has(const tbGalleryScene* scene, int i)
{
  return i < TB_GALLERY_PARAMETERS && scene->parameter[i].name;
}

void tb_gallery_defaults(const tbGalleryScene* scene, double values[TB_GALLERY_PARAMETERS])
{
  for (int i = 0; i < TB_GALLERY_PARAMETERS; i++) values[i] = has(scene, i) ? scene->parameter[i].value : 0;
}

// The nearest number that the parameter takes.
static double nearest(const tbGalleryParameter* p, double value)
{
  if (p->whole) value = floor(value + 0.5);
  return value < p->low ? p->low : value > p->high ? p->high : value;
}

static tbStatus check_value(tbContext* ctx, const tbGalleryScene* scene, int i, double value)
{
  const tbGalleryParameter* p = &scene->parameter[i];
  if (value >= p->low && value <= p->high && (!p->whole || value == floor(value))) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: %s takes a %snumber from %g to %g, not %g; the nearest is %g",
                 scene->name, p->name, p->whole ? "whole " : "", p->low, p->high, value, nearest(p, value));
}

static tbStatus no_parameter(tbContext* ctx, const tbGalleryScene* scene, const char* name)
{
  char list[240] = "";
  tbNearest near = tb_nearest(name);
  for (int i = 0; has(scene, i); i++) {
    tb_nearest_offer(&near, scene->parameter[i].name);
    tb_list_append(list, sizeof list, scene->parameter[i].name);
  }
  if (near.name)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no parameter \"%s\"; did you mean \"%s\"?", scene->name,
                   name, near.name);
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no parameter \"%s\"; it has %s", scene->name, name, list);
}

tbStatus tb_gallery_set(tbContext* ctx, const tbGalleryScene* scene, double* values, const char* assignment)
{
  char name[64];
  const char *equals = strchr(assignment, '='), *end = assignment + strlen(assignment);
  size_t length = equals ? (size_t)(equals - assignment) : 0;
  if (!equals || length >= sizeof name)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "expected PARAMETER=NUMBER, found \"%.100s\"", assignment);
  memcpy(name, assignment, length);
  name[length] = 0;
  for (int i = 0; has(scene, i); i++) {
    if (strcmp(scene->parameter[i].name, name) != 0) continue;
    double value = 0;
    if (tb_read_double(equals + 1, end, &value) != end || !isfinite(value))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: %s takes a number, not \"%.100s\"", scene->name, name,
                     equals + 1);
    TB_TRY(check_value(ctx, scene, i, value));
    values[i] = value;
    return TB_OK;
  }
  return no_parameter(ctx, scene, name);
}

tbStatus tb_gallery_print(tbContext* ctx, const tbGalleryScene* scene, const double* values,
                          const char* folder, tbOut* out)
{
  double defaults[TB_GALLERY_PARAMETERS];
  tb_gallery_defaults(scene, defaults);
  if (!values) values = defaults;
  for (int i = 0; has(scene, i); i++) TB_TRY(check_value(ctx, scene, i, values[i]));
  tbPen pen = {.ctx = ctx, .scene = scene, .value = values, .folder = folder, .json = tb_json_writer(out, 2)};
  pen.json.flat = 2;
  tb_put_object(&pen.json, NULL);
  scene->write(&pen);
  if (pen.section) tb_put_end(&pen.json);
  tb_put_end(&pen.json);
  tbStatus status = tb_json_writer_finish(&pen.json);
  return pen.status != TB_OK ? pen.status : status;
}

// The folder of a path, to be freed; "." for a bare name.
static char* folder_of(tbContext* ctx, const char* path)
{
  const char* slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 1;
  char* folder = TB_NEW(ctx, char, length + 1);
  if (folder) memcpy(folder, slash ? path : ".", length);
  return folder;
}

tbStatus tb_gallery_save(tbContext* ctx, const tbGalleryScene* scene, const double* values, const char* path)
{
  char* folder = folder_of(ctx, path);
  if (!folder) return TB_ERROR_MEMORY;
  tbOut out = tb_out_memory(ctx);
  tbStatus status = tb_gallery_print(ctx, scene, values, folder, &out);
  if (status == TB_OK) status = tb_write_file(ctx, path, out.bytes, out.length);
  tb_out_free(&out);
  tb_free(ctx, folder);
  return status;
}

tbStatus tb_gallery_load(tbContext* ctx, const tbGalleryScene* scene, const double* values,
                         const char* folder, tbScene* out)
{
  tbOut text = tb_out_memory(ctx);
  tbStatus status = tb_gallery_print(ctx, scene, values, folder, &text);
  if (status == TB_OK) status = tb_scene_parse(ctx, scene->name, text.bytes, text.length, folder, out);
  tb_out_free(&text);
  return status;
}
