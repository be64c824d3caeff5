// SPDX-License-Identifier: Apache-2.0
// Surfaces in motion over a step: which of their features may meet, which are close, and which do meet.
//
// Vertices move along straight lines from `start` to `end`. A pair of features is a vertex and a triangle,
// two edges, or a vertex and a half-space. Only pairs of which an impulse can move something are looked at.
// Edges inside flat faces of rigid bodies are no features, unless the scene asks for rigid pairs: what comes
// to them comes to the face with a vertex, or over its rim.
#ifndef TB_COLLIDE_SURFACES_H
#define TB_COLLIDE_SURFACES_H

#include "base/array.h"
#include "geometry/surface_mesh.h"
#include "tribo/ccd.h"

enum { TB_HELD_NOT = -1, TB_HELD_FAST = -2 }; // else: the body that a vertex is attached to

typedef struct tbMovingSurface {
  const tbSurfaceMesh* surface;
  const tbVec3 *start, *end; // of its vertices; `end` may change between calls (surface->nvertex)
  const int* holder; // of its vertices: TB_HELD, or a body; null: nothing holds them (surface->nvertex)
  int body;
  bool fixed;    // no impulse moves it
  bool self;     // it may touch itself
  bool rigid;    // rigid surfaces do not meet each other here, unless the scene asks for it
  bool solid;    // matter fills what it encloses: what is behind it has passed through it
  double radius; // it keeps so far from others: half the thickness of cloth                  m
} tbMovingSurface;

// How far from itself: no farther than an edge is long, whatever lies next to each other being nearer than
// that.
static inline double tb_surface_self_radius(const tbMovingSurface* m)
{
  return m->radius < m->surface->edge_length ? m->radius : m->surface->edge_length;
}

// The half-space normal·x ≤ offset.
typedef struct tbMovingPlane {
  tbVec3 normal[2]; // at the start and at the end
  double offset[2];
  int body; // no impulse moves it
} tbMovingPlane;

typedef struct tbSurfaceScene {
  const tbMovingSurface* surface;
  int nsurface;
  const tbMovingPlane* plane;
  int nplane;
  bool rigid_pairs; // rigid surfaces of different bodies meet each other, and planes, too
  // Null, or whether two bodies may touch at all; never asked of a body and itself.
  bool (*may_touch)(const void* user, int a, int b);
  const void* user;
  tbCcdMethod ccd; // that looks for what meets on the way
} tbSurfaceScene;

static inline bool tb_surface_may_touch(const tbSurfaceScene* s, int body_a, int body_b)
{
  return body_a == body_b || !s->may_touch || s->may_touch(s->user, body_a, body_b);
}

typedef enum tbSurfacePair {
  TB_SURFACE_FACE_VERTEX,
  TB_SURFACE_EDGE_EDGE,
  TB_SURFACE_PLANE_VERTEX
} tbSurfacePair;

// Two features. `a` is the side of the face, of the edge of lower surface and index, or of the plane.
typedef struct tbSurfaceFeatures {
  tbSurfacePair kind;
  int surface_a, surface_b; // in tbSurfaceScene; surface_a is a plane's index for TB_SURFACE_PLANE_VERTEX
  int feature_a, feature_b; // triangle, edge or 0; vertex or edge
} tbSurfaceFeatures;

// Where they touch, or come closest: the points Σ weight_a vertex_a and Σ weight_b vertex_b.
typedef struct tbSurfaceContact {
  tbSurfaceFeatures of;
  int count_a, count_b; // vertices on either side: 3 and 1, 2 and 2, 0 and 1
  int vertex_a[3], vertex_b[2];
  double weight_a[3], weight_b[2]; // not negative, each side's sum is 1
  tbVec3 normal;                   // unit, from a to b
  double gap; // along it, of the two points at the start of the step; less than 0: behind each other   m
  double t;   // when they come together, of the step; 0: they are close at its start
} tbSurfaceContact;

// What a pair of features is at the start of the step, however often its end is looked at.
typedef struct tbSurfaceWay {
  tbVec3 normal;   // unit, from the closest point of a to that of b; zero: they touch
  double distance; // of the closest points                                                          m
  double parted;   // along the normal all corners of b are so far beyond those of a, surely          m
} tbSurfaceWay;

typedef struct tbSurfaceCandidates {
  tbArray face_vertex, edge_edge, plane_vertex; // tbSurfaceFeatures, each sorted
  tbArray face_way, edge_way;                   // tbSurfaceWay: of the first two
  tbArray box; // tbBox: of the vertices of all surfaces, which they may move in
  tbArray own; // tbBox: the same beside the drift of their surface, for surfaces that may touch themselves
  tbArena* scratch; // for tb_surface_find() to search in; null: memory that it gives back
} tbSurfaceCandidates;

void tb_surface_candidates_init(tbSurfaceCandidates* candidates);
void tb_surface_candidates_free(tbContext* ctx, tbSurfaceCandidates* candidates);

// The mean motion of its vertices.
tbVec3 tb_surface_drift(const tbMovingSurface* surface);

// All pairs of features that can come within `reach` (and their radii) of each other while every vertex moves
// anywhere in its box: that holds its start, goes `ahead` times as far as its end (Verschoor and Jalba: 3),
// and a quarter of the reach and half of its motion beyond, and 3 % of a mean edge unless the surface is
// fixed. Two features of one surface: while its vertices less the surface's drift do, which may go a tenth of
// their whole motion farther yet. What was in `candidates` is replaced, or stays when the call fails. reach >
// 0, ahead ≥ 1. Vertices that are not finite are TB_ERROR_NUMERIC. Rigid surfaces meet neither each other nor
// planes unless the scene says so; those of one body never meet.
// The same for any number of threads.
tbStatus tb_surface_find(tbContext* ctx, const tbSurfaceScene* scene, double reach, double ahead,
                         tbSurfaceCandidates* candidates);

// The same, unless there are more than `most` of them: *few is false then, and `candidates` as it was.
tbStatus tb_surface_find_few(tbContext* ctx, const tbSurfaceScene* scene, double reach, double ahead,
                             size_t most, tbSurfaceCandidates* candidates, bool* few);

// The same for surfaces of which a vertex ends outside its box, and whatever may meet them; all else stays as
// it was found for this scene. The reach must be no more than it was then.
tbStatus tb_surface_mesh_renew(tbContext* ctx, const tbSurfaceScene* scene, double reach, double ahead,
                               tbSurfaceCandidates* candidates);

// Whether every vertex ends in its box: then nothing but candidates can have met. (Planes have no boxes;
// those that go more than `ahead` times as far as they did then are the caller's to notice.)
bool tb_surface_inside(const tbSurfaceScene* scene, const tbSurfaceCandidates* candidates);

// Candidates that are within `reach` (and their radii) at the start, as contacts of that moment (t = 0).
// Edges only where their insides are closest and stand out of their surfaces; a vertex and a face where the
// closest point is inside the face, or on a corner or side that the face owns; two vertices for the later
// one. Sorted by features. Appended.
tbStatus tb_surface_near(tbContext* ctx, const tbSurfaceScene* scene, const tbSurfaceCandidates* candidates,
                         double reach, tbArray* contacts); // tbSurfaceContact

// Candidates that meet on the way from start to end: come closer than `clearance`, or than half of what they
// start with where that is less; what comes within 1/64 more may count. A vertex and a plane: whether it ends
// so. Contacts of the first moment, to 1e-4 of the step, its normal and its weights. Sorted. Appended. None:
// surfaces that did not pass through each other at the start do not at the end (ccd.h, inclusion).
tbStatus tb_surface_meet(tbContext* ctx, const tbSurfaceScene* scene, const tbSurfaceCandidates* candidates,
                         double clearance, tbArray* contacts); // tbSurfaceContact

// The contact that two features would have at the moment t in [0, 1]: closest points, normal (towards the
// side they started on), and the gap at the start along it. False: they meet there, or have no direction.
bool tb_surface_contact_at(const tbSurfaceScene* scene, const tbSurfaceFeatures* features, double t,
                           tbSurfaceContact* out);

// Whether two solids have passed through each other where they touch: b is behind a's faces there, and a
// behind b's, so that the normal leads farther in. The far side of a thin body is not behind its near one.
bool tb_surface_is_behind(const tbSurfaceScene* scene, const tbSurfaceContact* contact);

// By kind, surface a, feature a, surface b, feature b: <0, 0, >0.
int tb_surface_features_order(const tbSurfaceFeatures* a, const tbSurfaceFeatures* b);

#endif
