// Surfaces in motion over a step: which of their features may meet, which are close, and which do meet.
//
// Vertices move along straight lines from `start` to `end`. A pair of features is a vertex and a triangle,
// two edges, or a vertex and a half-space. Only pairs of which an impulse can move something are looked at.
#ifndef TB_COLLIDE_SKINS_H
#define TB_COLLIDE_SKINS_H

#include "base/array.h"
#include "geometry/skin.h"

enum { TB_HELD_NOT = -1, TB_HELD_FAST = -2 }; // else: the body that a vertex is attached to

typedef struct tbMovingSkin {
  const tbSkin* skin;
  const tbVec3 *start, *end; // of its vertices; `end` may change between calls              (skin->nvertex)
  const int* holder;         // of its vertices: TB_HELD, or a body; null: nothing holds them (skin->nvertex)
  int body;
  bool fixed;    // no impulse moves it
  bool self;     // it may touch itself
  bool rigid;    // rigid skins do not meet each other here
  double radius; // it keeps so far from others: half the thickness of cloth                  m
} tbMovingSkin;

// How far from itself: no farther than an edge is long, whatever lies next to each other being nearer than
// that.
static inline double tb_skin_self_radius(const tbMovingSkin* m)
{
  return m->radius < m->skin->edge_length ? m->radius : m->skin->edge_length;
}

// The half-space normal·x ≤ offset.
typedef struct tbMovingPlane {
  tbVec3 normal[2]; // at the start and at the end
  double offset[2];
  int body; // no impulse moves it
} tbMovingPlane;

typedef struct tbSkinScene {
  const tbMovingSkin* skin;
  int nskin;
  const tbMovingPlane* plane;
  int nplane;
} tbSkinScene;

typedef enum tbSkinPair { TB_SKIN_FACE_VERTEX, TB_SKIN_EDGE_EDGE, TB_SKIN_PLANE_VERTEX } tbSkinPair;

// Two features. `a` is the side of the face, of the edge of lower skin and index, or of the plane.
typedef struct tbSkinFeatures {
  tbSkinPair kind;
  int skin_a, skin_b;       // in tbSkinScene; skin_a is a plane's index for TB_SKIN_PLANE_VERTEX
  int feature_a, feature_b; // triangle, edge or 0; vertex or edge
} tbSkinFeatures;

// Where they touch, or come closest: the points Σ weight_a vertex_a and Σ weight_b vertex_b.
typedef struct tbSkinContact {
  tbSkinFeatures of;
  int count_a, count_b; // vertices on either side: 3 and 1, 2 and 2, 0 and 1
  int vertex_a[3], vertex_b[2];
  double weight_a[3], weight_b[2]; // not negative, each side's sum is 1
  tbVec3 normal;                   // unit, from a to b
  double gap; // along it, of the two points at the start of the step; less than 0: behind each other   m
  double t;   // when they come together, of the step; 0: they are close at its start
} tbSkinContact;

// What a pair of features is at the start of the step, however often its end is looked at.
typedef struct tbSkinWay {
  tbVec3 normal;   // unit, from the closest point of a to that of b; zero: they touch
  double distance; // of the closest points                                                          m
  double parted;   // along the normal all corners of b are so far beyond those of a, surely          m
} tbSkinWay;

typedef struct tbSkinCandidates {
  tbArray face_vertex, edge_edge, plane_vertex; // tbSkinFeatures, each sorted
  tbArray face_way, edge_way;                   // tbSkinWay: of the first two
  tbArray box;                                  // tbBox: of the vertices of all skins, which they may move in
  tbArray own;      // tbBox: the same beside the drift of their skin, for skins that may touch themselves
  tbArena* scratch; // for tb_skin_find() to search in; null: memory that it gives back
} tbSkinCandidates;

void tb_skin_candidates_init(tbSkinCandidates* candidates);
void tb_skin_candidates_free(tbContext* ctx, tbSkinCandidates* candidates);

// The mean motion of its vertices.
tbVec3 tb_skin_drift(const tbMovingSkin* skin);

// All pairs of features that can come within `reach` (and their radii) of each other while every vertex moves
// anywhere in its box: that holds its start, goes `ahead` times as far as its end (Verschoor and Jalba: 3),
// and a quarter of the reach and half of its motion beyond, and 3 % of a mean edge unless the skin is fixed.
// Two features of one skin: while its vertices less the skin's drift do, which may go a tenth of their whole
// motion farther yet. What was in `candidates` is replaced, or stays
// when the call fails. reach > 0, ahead ≥ 1. Vertices that are not finite are TB_ERROR_NUMERIC. Rigid skins
// do not meet planes either. The same for any number of threads.
tbStatus tb_skin_find(tbContext* ctx, const tbSkinScene* scene, double reach, double ahead,
                      tbSkinCandidates* candidates);

// The same for skins of which a vertex ends outside its box, and whatever may meet them; all else stays as it
// was found for this scene. The reach must be no more than it was then.
tbStatus tb_skin_renew(tbContext* ctx, const tbSkinScene* scene, double reach, double ahead,
                       tbSkinCandidates* candidates);

// Whether every vertex ends in its box: then nothing but candidates can have met. (Planes have no boxes;
// those that go more than `ahead` times as far as they did then are the caller's to notice.)
bool tb_skin_inside(const tbSkinScene* scene, const tbSkinCandidates* candidates);

// Candidates that are within `reach` (and their radii) at the start, as contacts of that moment (t = 0).
// Edges only where their insides are closest and stand out of their surfaces; a vertex and a face where the
// closest point is inside the face, or on a corner or side that the face owns; two vertices for the later
// one. Sorted by features. Appended.
tbStatus tb_skin_near(tbContext* ctx, const tbSkinScene* scene, const tbSkinCandidates* candidates,
                      double reach, tbArray* contacts); // tbSkinContact

// Candidates that meet on the way from start to end: come closer than `clearance`, or than half of what they
// start with where that is less; what comes within 1/64 more may count. A vertex and a plane: whether it ends
// so. Contacts of the first moment, to 1e-4 of the step, its normal and its weights. Sorted. Appended. None:
// surfaces that did not pass through each other at the start do not at the end (ccd.h, inclusion).
tbStatus tb_skin_meet(tbContext* ctx, const tbSkinScene* scene, const tbSkinCandidates* candidates,
                      double clearance, tbArray* contacts); // tbSkinContact

// The contact that two features would have at the moment t in [0, 1]: closest points, normal (towards the
// side they started on), and the gap at the start along it. False: they meet there, or have no direction.
bool tb_skin_contact_at(const tbSkinScene* scene, const tbSkinFeatures* features, double t,
                        tbSkinContact* out);

// By kind, skin a, feature a, skin b, feature b: <0, 0, >0.
int tb_skin_features_order(const tbSkinFeatures* a, const tbSkinFeatures* b);

#endif
