// SPDX-License-Identifier: Apache-2.0
// Queries of every kind that breaks collision detectors, with coordinates that are integers.
#include "base/random.h"
#include "ccd_oracle.h"

#include <math.h>
#include <string.h>

static int64_t any(uint64_t* random, int64_t size) // −size … size
{
  return (int64_t)(tb_random_bits(random) % (uint64_t)(2 * size + 1)) - size;
}

static int below(uint64_t* random, int n) { return tb_random_below(random, n); }

static void scatter(ExactQuery* q, uint64_t* random, int64_t size, int64_t unit)
{
  for (int e = 0; e < 2; e++)
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 3; k++) q->x[e][i][k] = unit * any(random, size);
}

// Moves one corner so that F(t, u, v) = 0, with t, u, v in quarters. Coordinates are multiples of 2304: the
// corner's weight and the time divide.
static void plant(ExactQuery* q, int t, int u, int v)
{
  int64_t face[4] = {4, u + v - 4, -u, -v}, edges[4] = {4 - u, u, v - 4, -v};
  const int64_t* w = q->kind == TB_CCD_VERTEX_FACE ? face : edges;
  int moved = q->kind == TB_CCD_EDGE_EDGE && u == 4, end = t > 0;
  for (int k = 0; k < 3; k++) {
    int64_t sum = 0; // of 16 F without the coordinate sought
    for (int i = 0; i < 4; i++) sum += w[i] * ((4 - t) * q->x[0][i][k] + t * q->x[1][i][k]);
    int64_t scale = w[moved] * (end ? t : 4);
    sum -= scale * q->x[end][moved][k];
    q->x[end][moved][k] = -sum / scale;
  }
}

static void plant_any(ExactQuery* q, uint64_t* random, int t)
{
  int u = below(random, 5), v = q->kind == TB_CCD_VERTEX_FACE ? below(random, 5 - u) : below(random, 5);
  plant(q, t, u, v);
}

static void nudge(ExactQuery* q, uint64_t* random) // by one unit: the nearest miss there is
{
  q->x[below(random, 2)][below(random, 4)][below(random, 3)] += below(random, 2) ? 1 : -1;
}

// All corners into one plane through the origin: the third axis becomes a combination of the others.
static void flatten(ExactQuery* q, uint64_t* random)
{
  int64_t a = any(random, 2), b = any(random, 2);
  int axis = below(random, 3);
  for (int e = 0; e < 2; e++)
    for (int i = 0; i < 4; i++) {
      int64_t* x = q->x[e][i];
      x[axis] = a * x[(axis + 1) % 3] + b * x[(axis + 2) % 3];
    }
}

// The last corner onto the line of two others, at the start or at both ends.
static void align(ExactQuery* q, uint64_t* random)
{
  int m = (int)any(random, 2);
  for (int e = 0; e < 1 + below(random, 2); e++)
    for (int k = 0; k < 3; k++)
      q->x[e][3][k] = q->kind == TB_CCD_EDGE_EDGE ? q->x[e][2][k] + m * (q->x[e][1][k] - q->x[e][0][k])
                                                  : q->x[e][1][k] + m * (q->x[e][2][k] - q->x[e][1][k]);
}

static void copy_corner(ExactQuery* q, uint64_t* random)
{
  int from = below(random, 4), to = below(random, 4);
  for (int e = 0; e < 2; e++)
    if (below(random, 3)) memcpy(q->x[e][to], q->x[e][from], sizeof q->x[e][to]);
}

static void offset(ExactQuery* q, uint64_t* random, int64_t size)
{
  for (int k = 0; k < 3; k++) {
    int64_t by = any(random, size);
    for (int e = 0; e < 2; e++)
      for (int i = 0; i < 4; i++) q->x[e][i][k] += by;
  }
}

static void creep(ExactQuery* q, uint64_t* random, int64_t size) // ends a little from where it starts
{
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++) q->x[1][i][k] = q->x[0][i][k] + any(random, size);
}

enum { SMALL, MEDIUM, PLANTED, NEAR, FLAT, PARALLEL, ENDS, RIMS, DUPLICATES, OFFSETS, TINY, FINE };

const char* exact_family_name(int family)
{
  static const char* const name[EXACT_FAMILIES] = {
      [SMALL] = "small integers",     [MEDIUM] = "random",
      [PLANTED] = "one known root",   [NEAR] = "a unit beside a root",
      [FLAT] = "in one plane",        [PARALLEL] = "parallel edges, thin triangles",
      [ENDS] = "touching at an end",  [RIMS] = "vertex on an edge",
      [DUPLICATES] = "shared points", [OFFSETS] = "far from the origin",
      [TINY] = "tiny motion",         [FINE] = "2⁻³⁰ beside a root",
  };
  return name[family];
}

ExactQuery exact_query(uint64_t* random, int family)
{
  ExactQuery q = {.kind = below(random, 2) ? TB_CCD_EDGE_EDGE : TB_CCD_VERTEX_FACE,
                  .shift = below(random, 61) - 40};
  int unit = 2304, way = below(random, 4);
  scatter(&q, random,
          family == SMALL    ? 1 + below(random, 8)
          : family == MEDIUM ? 1000
                             : 1 + below(random, 20),
          family <= MEDIUM ? 1
          : family == FINE ? (int64_t)unit << 18
                           : unit);
  switch (family) {
  case PLANTED: plant_any(&q, random, below(random, 5)); break;
  case NEAR:
  case FINE:
    plant_any(&q, random, below(random, 5));
    nudge(&q, random);
    break;
  case FLAT:
    flatten(&q, random);
    if (way == 0) plant_any(&q, random, below(random, 5)); // stays in the plane: it is linear
    if (way == 1) nudge(&q, random);
    break;
  case PARALLEL:
    align(&q, random);
    if (way < 2) plant_any(&q, random, below(random, 5));
    if (way == 2) flatten(&q, random);
    break;
  case ENDS:
    plant_any(&q, random, way & 1 ? 0 : 4);
    if (way & 2) nudge(&q, random);
    break;
  case RIMS: {
    int u = below(random, 5), side = below(random, 3);
    plant(&q, below(random, 5), side == 0 ? 0 : u, side == 1 ? 0 : side == 2 ? 4 - u : u);
    if (way == 0) nudge(&q, random);
    break;
  }
  case DUPLICATES:
    copy_corner(&q, random);
    if (way == 0) copy_corner(&q, random);
    if (way == 1) plant_any(&q, random, below(random, 5));
    break;
  case OFFSETS:
    if (way) plant_any(&q, random, below(random, 5));
    if (way == 1) nudge(&q, random);
    offset(&q, random, (int64_t)1 << 45);
    break;
  case TINY:
    creep(&q, random, 1 + below(random, 3));
    if (way == 0) plant_any(&q, random, 0);
    if (way == 1) flatten(&q, random);
    break;
  default: break;
  }
  return q;
}

tbCcdQuery exact_to_query(const ExactQuery* q)
{
  tbCcdQuery r = {.kind = q->kind};
  for (int e = 0; e < 2; e++)
    for (int i = 0; i < 4; i++) {
      const int64_t* x = q->x[e][i];
      *(e ? &r.end[i] : &r.start[i]) = tb_vec3(ldexp((double)x[0], q->shift), ldexp((double)x[1], q->shift),
                                               ldexp((double)x[2], q->shift));
    }
  return r;
}
