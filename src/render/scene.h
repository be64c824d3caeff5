// SPDX-License-Identifier: Apache-2.0
// One frame of a subject as light: which triangle every sample shows, and what colour it has there.
#ifndef TB_RENDER_SCENE_H
#define TB_RENDER_SCENE_H

#include "render/light.h"
#include "render/raster.h"
#include "render/theme.h"
#include "render/view.h"

// Linear over the picture: at + right x + down y.
typedef struct tbLinear {
  double at, right, down;
} tbLinear;

static inline double tb_linear_at(const tbLinear* f, double x, double y)
{
  return f->at + f->right * x + f->down * y;
}

// The ground in a picture: 1/distance is linear over it, and so is a place along its axes times that.
typedef struct tbScreenPlane {
  tbLinear inverse;    // 1/distance
  double sway;         // how far that strays within half a pixel
  tbLinear along[2];   // of the ray, along the axes of the grid
  double eye[2];       // the eye, along them, from the stage's centre
  double origin[2];    // of the grid, likewise
  tbVec3 normal, u, v; // in the world, unit; the axes of the grid
  tbVec3 plain;        // the ground's colour where no shadow falls; that of its lines
  tbVec3 line;
  bool shown;       // faces the eye
  tbGround* ground; // its shadows
} tbScreenPlane;

// A triangle of an instance, with its mean normal in the body's frame.
typedef struct tbFacet {
  tbVec3 normal;
  int instance;
  int leader; // the first triangle of the plane face that it belongs to, by which it is drawn; else its own
} tbFacet;

// An instance in the world: turned, then moved.
typedef struct tbPosed {
  tbMat3 turn;
  tbVec3 at;
} tbPosed;

static inline tbVec3 tb_posed_vertex(const tbPosed* p, const tbInstance* in, tbVec3 vertex)
{
  return tb_add3(p->at, tb_mat3_mulv(p->turn, tb_mul3(in->scale, vertex)));
}

// Triangles of an instance on the screen, as tbStage.entry has them.
typedef struct tbScreenRange {
  int first, count;
  bool cut; // one by one, as they are in the world
} tbScreenRange;

enum { TB_BAND = 48, TB_ENCODE = 2048 }; // rows of samples side by side; steps of the table to sRGB

// Sky light changes slowly over a surface: it is asked once for each surface in a square of pixels. A surface
// is a body's number, or ~k for plane k.
enum { TB_SKY_CACHE = 6 };
typedef struct tbSkyCache {
  int count;
  struct {
    int surface;
    tbVec3 normal;
    tbLit lit; // sky and open
  } entry[TB_SKY_CACHE];
} tbSkyCache;

typedef struct tbStage {
  const tbSubject* subject;
  const tbLighting* lighting;
  const tbTheme* theme;
  tbView view; // in pixels
  tbCut cut;
  int samples;
  int square; // pixels across that share the light of the sky, and are lit at once where they show one face
  tbRaster raster; // of samples
  double* at;      // a column's or row's place in pixels                         (the larger of the two)
  tbScreenTriangle* triangle; // that cover samples, of an instance from its own first one on  (ntriangle)
  tbArray cut_triangle;       // tbScreenTriangle: those of instances that are cut, which may be more
  tbScreenRange* range;       // where those of an instance are                                   (ninstance)
  tbArray entry;              // int, triangles band by band; from ntriangle on those in cut_triangle
  int* band;                  // first entry of a band                                       (nband+1)
  int nband;
  tbScreenPlane* plane; // (nplane)
  tbFacet* facet;       // (ntriangle)
  tbPosed* posed;       // (ninstance)
  tbVec3* screen;       // of a mesh's corners: x, y, 1/distance                      (npiece max_vertex)
  int npiece;           // of instances that are put on the screen side by side
  tbVec3* color;        // of the bodies, as light                                     (nbody)
  tbVec3 background, ground, grid;
  float encode[TB_ENCODE + 2];
  double cell, reach; // of the ground's grid; where it has faded away
  tbVec3 centre;      // that it fades from
  float* rgb;         // what comes out, as shown (sRGB), 0 … 1                      (3 width height)
  float* depth;       // 1/distance of what is nearest in a pixel                    (width height)
} tbStage;

// Triangles to samples (visible.c), then samples to pixels (shade.c).
tbStatus tb_stage_rasterize(tbContext* ctx, tbStage* stage);
void tb_stage_shade(tbThreads* threads, tbStage* stage);

void tb_stage_prepare(tbStage* stage);           // colours and facets, once
void tb_stage_find_facets(const tbStage* stage); // of all instances (visible.c)

// The ground (ground.c): what a plane is in this frame, and its light at a place in the picture.
void tb_ground_place(const tbStage* stage, int plane);
tbVec3 tb_ground_light(const tbStage* stage, int plane, double x, double y, tbSkyCache* cache);
// The same for a square of pixels at once; false: its pixels differ.
bool tb_ground_square(const tbStage* stage, int plane, int x, int y, tbSkyCache* cache, tbVec3* out);

// The sky's light that the cache has for a surface of nearly that normal; false: none.
bool tb_sky_find(const tbSkyCache* cache, int surface, tbVec3 normal, tbVec3 up, tbLit* out);
void tb_sky_keep(tbSkyCache* cache, int surface, tbVec3 normal, tbLit lit);

// Two numbers for a place in the picture, in 0 … 1, even over small squares of pixels.
void tb_stage_jitter(double x, double y, double out[2]);

// Decides what is cut away of fixed shapes.
void tb_cut_away(const tbSubject* subject, const tbView* view, const tbScope* scope);

#endif
