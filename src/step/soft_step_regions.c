// SPDX-License-Identifier: Apache-2.0
// Regions of soft-step: space is halved again and again, across the axis along which its bodies lie farthest
// apart, so that every region has about as many. Contacts of a region share no body with those of another:
// each is a thread's, from the first to the last, and threads wait for each other once in a sweep and not
// after every batch. What lies across a border comes afterwards, the last border drawn first:
//
//   regions  0 1 2 3  ──▶  borders  0|1  2|3  ──▶  border  01|23
//
// Regions follow from the places of the bodies alone, not from how many threads there are.
//
// Cost      linear in bodies, for each time that space is halved.
#include "step/soft_step_work.h"

#include "base/memory.h"

enum { FEW = 150 };              // bodies that are worth two regions
enum { SHARE = 2000 };           // of a region, where there are more
enum { BINS = 255 };             // along an axis
static const double REACH = 2.5; // standard deviations of the places on either side that the bins cover

// A part of space before it is halved.
typedef struct {
  int count, axis;
  double sum[3], square[3];
  double low, scale; // bin = (x − low) · scale
  int bin[BINS];
  int upper; // bins from here on are the upper half
} Part;

static int halvings(int bodies)
{
  int levels = bodies >= FEW;
  while (levels > 0 && levels < TB_SOFT_STEP_LEVELS && bodies >= SHARE << levels) levels++;
  return levels;
}

static int bin_of(const Part* p, double x)
{
  double at = (x - p->low) * p->scale;
  return at > 0 ? at < BINS - 1 ? (int)at : BINS - 1 : 0; // not a number: the first
}

static void measure(Part* p)
{
  double most = 0;
  for (int k = 0; k < 3; k++) {
    double mean = p->sum[k] / p->count, spread = p->square[k] / p->count - mean * mean;
    if (!(spread > most)) continue;
    double half = REACH * sqrt(spread);
    most = spread, p->axis = k, p->low = mean - half, p->scale = BINS / (2 * half);
  }
}

static void halve(Part* p)
{
  int below = 0, at = 0;
  while (at < BINS && 2 * (below + p->bin[at]) <= p->count) below += p->bin[at++];
  bool nearer = at < BINS && p->count - 2 * below > 2 * (below + p->bin[at]) - p->count;
  p->upper = at + nearer; // the border that divides them most evenly
}

static double along(const tbTransform* at, int axis) { return (&at->x.x)[axis]; }

// region: of a world's body, so far; −1: it cannot be moved. Each is halved.
static void halve_all(const tbTransform* centre, int bodies, int parts, Part* part, int* region)
{
  for (int i = 0; i < bodies; i++) {
    if (region[i] < 0) continue;
    Part* p = &part[region[i]];
    p->count++;
    for (int k = 0; k < 3; k++) {
      double x = along(&centre[i], k);
      p->sum[k] += x, p->square[k] += x * x;
    }
  }
  for (int k = 0; k < parts; k++)
    if (part[k].count > 0) measure(&part[k]);
  for (int i = 0; i < bodies; i++)
    if (region[i] >= 0)
      part[region[i]].bin[bin_of(&part[region[i]], along(&centre[i], part[region[i]].axis))]++;
  for (int k = 0; k < parts; k++) halve(&part[k]);
  for (int i = 0; i < bodies; i++)
    if (region[i] >= 0) {
      const Part* p = &part[region[i]];
      region[i] = 2 * region[i] + (bin_of(p, along(&centre[i], p->axis)) >= p->upper);
    }
}

tbStatus tb_soft_step_regions(tbArena* arena, int bodies, int* index, tbSoftStepWork* s)
{
  s->levels = halvings(s->moving);
  for (int level = 0; level < s->levels; level++) {
    Part* part = TB_TAKE(arena, Part, (size_t)1 << level);
    if (!part) return TB_ERROR_MEMORY;
    halve_all(s->centre, bodies, 1 << level, part, index);
  }
  int* first = s->region; // of the region's bodies
  int regions = 1 << s->levels;
  for (int k = 0; k <= regions; k++) first[k] = 0;
  for (int i = 0; i < bodies; i++)
    if (index[i] >= 0) first[index[i] + 1]++;
  for (int k = 0; k < regions; k++) first[k + 1] += first[k];
  int next[TB_SOFT_STEP_REGIONS];
  for (int k = 0; k < regions; k++) next[k] = first[k];
  for (int i = 0; i < bodies; i++)
    if (index[i] >= 0) index[i] = next[index[i]]++;
  return TB_OK;
}
