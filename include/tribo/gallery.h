// SPDX-License-Identifier: Apache-2.0
// The gallery: scenes made by rule, each with a few parameters. scenes/NAME.json is what it makes of the
// defaults.
//
//   const tbGalleryScene* arch = tb_gallery_find("arch");
//   double values[TB_GALLERY_PARAMETERS];
//   tb_gallery_defaults(arch, values);
//   tb_gallery_set(&ctx, arch, values, "thickness=0.12");
//   tb_gallery_load(&ctx, arch, values, NULL, &scene);
#ifndef TRIBO_GALLERY_H
#define TRIBO_GALLERY_H

#include "tribo/io.h"

TB_API_BEGIN

struct tbPen;

enum { TB_GALLERY_PARAMETERS = 6 };

typedef struct tbGalleryParameter {
  const char *name, *summary;
  double value, low, high; // default and range
  bool whole;              // takes whole numbers only
} tbGalleryParameter;

typedef struct tbGalleryScene {
  const char *name, *summary;
  bool files; // names mesh files, which lie in the folder meshes/ beside it
  void (*write)(struct tbPen* pen);
  tbGalleryParameter parameter[TB_GALLERY_PARAMETERS]; // a null name ends them
} tbGalleryScene;

int tb_gallery_count(void);
const tbGalleryScene* tb_gallery_at(int index);
const tbGalleryScene* tb_gallery_find(const char* name); // or null

// Values come in the order of the parameters. A null for them below stands for the defaults; others are
// checked against their ranges (TB_ERROR_ARGUMENT).
void tb_gallery_defaults(const tbGalleryScene* scene, double values[TB_GALLERY_PARAMETERS]);
// "name=number". What is wrong is said with the nearest name, or the nearest number in range.
tbStatus tb_gallery_set(tbContext* ctx, const tbGalleryScene* scene, double* values, const char* assignment);
// As a scene file, and its meshes beside it.
tbStatus tb_gallery_save(tbContext* ctx, const tbGalleryScene* scene, const double* values, const char* path);
// At once as a scene. folder: where meshes/ goes; may be null for a scene without files.
tbStatus tb_gallery_load(tbContext* ctx, const tbGalleryScene* scene, const double* values,
                         const char* folder, tbScene* out);

// The scene as text; the caller frees out.
tbStatus tb_gallery_print(tbContext* ctx, const tbGalleryScene* scene, const double* values,
                          const char* folder, tbOut* out);

TB_API_END
#endif
