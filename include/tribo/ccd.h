// SPDX-License-Identifier: Apache-2.0
// Continuous collision detection: do a vertex and a triangle, or two edges, meet while their corners move
// along straight lines from t = 0 to t = 1, and when first?
//
// Both questions are one. The vector between a point of one feature and a point of the other is
//
//   F(t, u, v) = C(t) + u U(t) + v V(t),      C, U, V linear in t,
//
//   vertex–face   C = p − f0     U = f0 − f1     V = f0 − f2     u, v ≥ 0,  u + v ≤ 1
//   edge–edge     C = a0 − b0    U = a1 − a0     V = b0 − b1     0 ≤ u, v ≤ 1
//
// and the features come within the separation s when |F| ≤ s somewhere. Three methods answer:
//
//   TB_CCD_INCLUSION      searches boxes of (t, u, v) with bounds that hold in floating point: never misses
//   TB_CCD_CUBIC          roots of the cubic det[C, U, V](t), then a test whether the point is inside
//   TB_CCD_MULTIVARIATE   Newton's method on F = 0 in all three unknowns
//
// The last two are what the literature compares with: they can miss, and know no separation beyond a
// tolerance; simulation uses the first.
#ifndef TRIBO_CCD_H
#define TRIBO_CCD_H

#include "tribo/base.h"
#include "tribo/math.h"

TB_API_BEGIN

typedef enum tbCcdKind { TB_CCD_VERTEX_FACE, TB_CCD_EDGE_EDGE } tbCcdKind;

typedef enum tbCcdMethod {
  TB_CCD_INCLUSION,
  TB_CCD_CUBIC,
  TB_CCD_MULTIVARIATE,
  TB_CCD_METHOD_COUNT
} tbCcdMethod;

const char* tb_ccd_method_name(tbCcdMethod method); // "inclusion", …
bool tb_ccd_method_from_name(const char* name, tbCcdMethod* out);

// Corners: p f0 f1 f2, or a0 a1 b0 b1, where they start and where they end.
typedef struct tbCcdQuery {
  tbCcdKind kind;
  tbVec3 start[4], end[4];
} tbCcdQuery;

typedef struct tbCcdOptions {
  tbCcdMethod method;
  double separation;     // s ≥ 0: closer than this is a hit                                    m
  double delta;          // what comes within s + delta may be called a hit; 0: what doubles can tell  m
  double time_tolerance; // how much earlier than such a moment the reported one may be, of the unit step
  int max_boxes;         // work at most; then a hit at the earliest moment not yet ruled out
} tbCcdOptions;

tbCcdOptions tb_default_ccd_options(void);

// The moment and the place. weight: barycentric, so that the touching points are
// p and Σ weight[i] f(i−1), or weight[0] a0 + weight[1] a1 and weight[2] b0 + weight[3] b1.
// normal: unit, from the face or the edge b to the vertex or the edge a, on the side it came from.
typedef struct tbCcdHit {
  double t;
  double weight[4];
  tbVec3 normal;
  bool capped; // max_boxes was reached: the hit is assumed
  int boxes;   // looked at; set for misses too
} tbCcdHit;

// True: a hit. With TB_CCD_INCLUSION
//   false  proves that the features stay farther apart than s for all t in [0, 1];
//   true   promises that they do so for all t < hit->t, and, unless capped, that they come within s + delta
//          by hit->t + time_tolerance. delta counts as 2e-14 of the largest extent of the query at least.
// Coordinates that are not finite, or whose differences are not, are a hit at 0, capped. hit may be null.
bool tb_ccd(const tbCcdQuery* query, const tbCcdOptions* options, tbCcdHit* hit);

// Looking back (course §2.2.1): corners are at `now` after a step of length h; did they meet on the way, when
// first, and how deep are they in each other since? A discrete step that has gone too far is rewound to
// there, or takes the place, the normal and the depth for a contact of its next one.
typedef struct tbCcdPast {
  tbCcdHit hit;   // t: share of the step until they met
  double back;    // how long ago that was: (1 − t) h                                                   s
  double depth;   // overlap now of the places that met, along the normal they met with; < 0: they are apart
                  // again  m
  tbVec3 closing; // velocity of b's place relative to a's over the step, p and a0 a1 being a             m/s
} tbCcdPast;

// query: where corners were, and where they are. As tb_ccd promises; past may be null.
bool tb_ccd_backward(const tbCcdQuery* query, double h, const tbCcdOptions* options, tbCcdPast* past);

// Where corners were that came to `now` with these velocities (course, eq. 89): x' = x − h u. That rounds:
// where the former places are known, they are the ones to ask with.
void tb_ccd_before(const tbVec3 now[4], const tbVec3 velocity[4], double h, tbVec3 before[4]);

TB_API_END
#endif
