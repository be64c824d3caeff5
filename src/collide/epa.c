// SPDX-License-Identifier: Apache-2.0
// Penetration depth by an expanding polytope (van den Bergen, "Proximity queries and penetration depth
// computation on 3D game objects", 2001).
//
// The depth is the least of h(n) over unit n, with h the support function of A − B: B moved by h(n)·n leaves
// A behind. A polytope inside A − B grows by support points: its face of least offset is pushed out, until
// the support point found there lies on the face. Offsets bound the depth from below, h(n) at the faces'
// normals from above.
//
// The polytope need not hold the origin to begin with: offsets are signed, a face that leaves the origin
// outside simply has a negative one and is pushed out first. Any solid tetrahedron will do as a start, and is
// found from the sets themselves, so that touching sets, coincident centres and the flat simplices of a
// distance query are no special cases. Faces nearly coplanar with a new point are replaced with the visible
// ones, which keeps slivers from arising on flat sides.
//
// Cost      5 to 45 points between cylinders and boxes, each a pass over the faces.
// Limits    POINTS support points; the answer is then the last face's direction or the guess, whichever is
//           better: an upper bound all the same.
#include "collide/epa.h"

enum { POINTS = 256, FACES = 2 * POINTS, EDGES = 3 * POINTS };

typedef struct {
  tbVec3 n;      // unit, outward
  double offset; // n·x on the face
  int v[3];      // counter-clockwise seen from outside
  int next[3];   // the face across the edge v[i] → v[i+1]
  bool alive, seen;
} Facet;

typedef struct {
  const tbCore *a, *b;
  int hint_a, hint_b;
  double noise; // rounding of the coordinates
  int npoint, nfacet;
  tbGjkVertex point[POINTS];
  Facet facet[FACES];
} Hull;

static void farthest(Hull* h, tbVec3 d, tbGjkVertex* s) // of A − B; here w = a − b
{
  s->a = tb_core_farthest(h->a, d, &h->hint_a, &s->fa);
  s->b = tb_core_farthest(h->b, tb_neg3(d), &h->hint_b, &s->fb);
  s->w = tb_sub3(s->a, s->b);
}

static bool set_facet(Hull* h, int f, int i, int j, int k)
{
  tbVec3 a = h->point[i].w, b = h->point[j].w, c = h->point[k].w;
  tbVec3 N = tb_cross3(tb_sub3(b, a), tb_sub3(c, a));
  Facet* facet = &h->facet[f];
  *facet = (Facet){.n = tb_normalize3(N), .v = {i, j, k}, .alive = true};
  facet->offset = fmax(tb_dot3(facet->n, a), fmax(tb_dot3(facet->n, b), tb_dot3(facet->n, c)));
  return tb_maxabs3(N) > 0;
}

// The point farthest on either side of a plane through p with normal d; false when it lies in the plane.
static bool farther(Hull* h, tbVec3 p, tbVec3 d, tbGjkVertex* out)
{
  tbGjkVertex other;
  farthest(h, d, out);
  farthest(h, tb_neg3(d), &other);
  double up = tb_dot3(d, tb_sub3(out->w, p)), down = -tb_dot3(d, tb_sub3(other.w, p));
  if (down > up) *out = other;
  return fmax(up, down) > h->noise;
}

static bool start(Hull* h)
{
  tbGjkVertex* p = h->point;
  const tbVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  farthest(h, axes[0], &p[0]);
  double length = 0;
  for (int i = 0; i < 3; i++) { // a long first edge
    tbGjkVertex s;
    farther(h, p[0].w, axes[i], &s);
    double l = tb_distance3(s.w, p[0].w);
    if (l <= length) continue;
    length = l;
    p[1] = s;
  }
  if (length <= h->noise) return false;
  tbVec3 e = tb_normalize3(tb_sub3(p[1].w, p[0].w));
  tbMat3 frame = tb_mat3_frame(e);
  if (!farther(h, p[0].w, tb_mat3_row(frame, 1), &p[2]) && !farther(h, p[0].w, tb_mat3_row(frame, 2), &p[2]))
    return false;
  tbVec3 n = tb_normalize3(tb_cross3(e, tb_sub3(p[2].w, p[0].w)));
  if (!farther(h, p[0].w, n, &p[3])) return false;
  if (tb_dot3(n, tb_sub3(p[3].w, p[0].w)) > 0) { // the fourth point goes below the first three
    tbGjkVertex t = p[0];
    p[0] = p[1];
    p[1] = t;
  }
  h->npoint = 4;
  h->nfacet = 4;
  static const int corner[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  static const int next[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  for (int f = 0; f < 4; f++) {
    if (!set_facet(h, f, corner[f][0], corner[f][1], corner[f][2])) return false;
    for (int i = 0; i < 3; i++) h->facet[f].next[i] = next[f][i];
  }
  return true;
}

typedef struct {
  int face, edge; // of a face that stays: its edge `edge` borders the hole
} Border;

// The faces a point sees, found by walking from one of them; the edges around them in order. A face is
// entered by the edge after which its own are walked, so that the border comes out as one loop.
static bool find_border(Hull* h, int first, tbVec3 w, Border* border, int* count)
{
  struct {
    int face, edge, left;
  } stack[FACES];
  int depth = 0;
  *count = 0;
  h->facet[first].seen = true;
  stack[depth].face = first;
  stack[depth].edge = 0;
  stack[depth++].left = 3;
  while (depth > 0) {
    int f = stack[depth - 1].face, e = stack[depth - 1].edge;
    if (stack[depth - 1].left-- == 0) {
      depth--;
      continue;
    }
    stack[depth - 1].edge = (e + 1) % 3;
    int g = h->facet[f].next[e];
    Facet* other = &h->facet[g];
    if (other->seen) continue;
    int back = 0;
    while (back < 3 && other->next[back] != f) back++;
    if (back == 3) return false;
    if (tb_dot3(other->n, w) >= other->offset - h->noise) {
      other->seen = true;
      if (depth == FACES) return false;
      stack[depth].face = g;
      stack[depth].edge = (back + 1) % 3;
      stack[depth++].left = 2;
    } else {
      if (*count == EDGES) return false;
      border[(*count)++] = (Border){g, back};
    }
  }
  return *count >= 3;
}

static int free_facet(const Hull* h, int from)
{
  while (from < h->nfacet && h->facet[from].alive) from++;
  return from;
}

// Replaces what the newest point sees by a fan around it; false when rounding left no clean fan.
static bool grow(Hull* h, int first)
{
  Border border[EDGES];
  int count, fan[EDGES], p = h->npoint - 1;
  if (!find_border(h, first, h->point[p].w, border, &count)) return false;
  for (int f = 0; f < h->nfacet; f++)
    if (h->facet[f].seen) h->facet[f] = (Facet){.alive = false};
  for (int k = 0, slot = 0; k < count; k++) {
    slot = free_facet(h, slot);
    if (slot == FACES) return false;
    if (slot == h->nfacet) h->nfacet++;
    const Facet* out = &h->facet[border[k].face];
    int from = out->v[(border[k].edge + 1) % 3], to = out->v[border[k].edge];
    if (!set_facet(h, slot, from, to, p)) return false;
    fan[k] = slot++;
  }
  for (int k = 0; k < count; k++) {
    Facet *f = &h->facet[fan[k]], *g = &h->facet[fan[(k + 1) % count]];
    if (f->v[1] != g->v[0]) return false; // the border is not one loop
    f->next[0] = border[k].face;
    h->facet[border[k].face].next[border[k].edge] = fan[k];
    f->next[1] = fan[(k + 1) % count];
    f->next[2] = fan[(k + count - 1) % count];
  }
  return true;
}

static int least_facet(const Hull* h)
{
  int best = -1;
  for (int f = 0; f < h->nfacet; f++)
    if (h->facet[f].alive && (best < 0 || h->facet[f].offset < h->facet[best].offset)) best = f;
  return best; // a closed surface has one
}

// The point of the face below the origin, as weights of its corners, kept inside the face.
static void locate(const Hull* h, const Facet* f, tbEpa* out)
{
  tbVec3 p = tb_scale3(f->offset, f->n), c[3];
  double sum = 0, weight[3];
  for (int i = 0; i < 3; i++) c[i] = h->point[f->v[i]].w;
  for (int i = 0; i < 3; i++) {
    tbVec3 from = c[(i + 1) % 3], to = c[(i + 2) % 3];
    weight[i] = fmax(0, tb_dot3(f->n, tb_cross3(tb_sub3(to, from), tb_sub3(p, from))));
    sum += weight[i];
  }
  out->a = out->b = tb_zero3();
  for (int i = 0; i < 3; i++) {
    out->v[i] = h->point[f->v[i]];
    out->v[i].weight = sum > 0 ? weight[i] / sum : i == 0;
    out->a = tb_madd3(out->a, out->v[i].weight, out->v[i].a);
    out->b = tb_madd3(out->b, out->v[i].weight, out->v[i].b);
  }
}

void tb_epa(const tbCore* a, const tbCore* b, double tolerance, tbVec3 guess, tbEpa* out)
{
  Hull h;
  h.a = a;
  h.b = b;
  h.hint_a = h.hint_b = 0;
  h.noise = 1e-2 * tolerance;
  *out = (tbEpa){.depth = INFINITY, .guessed = true};
  tbGjkVertex s;
  if (tb_maxabs3(guess) > 0) {
    farthest(&h, guess, &s);
    out->depth = tb_dot3(guess, s.w);
    out->normal = guess;
  }
  if (!start(&h)) return;
  for (;;) {
    int least = least_facet(&h);
    const Facet f = h.facet[least];
    if (out->depth - f.offset <= tolerance) return; // nothing beats the guess
    farthest(&h, f.n, &s);
    double reach = tb_dot3(f.n, s.w);
    bool last = reach - f.offset <= tolerance || h.npoint == POINTS;
    if (!last) {
      h.point[h.npoint++] = s;
      if (grow(&h, least)) continue;
    }
    if (reach >= out->depth) return;
    out->depth = reach;
    out->normal = f.n;
    out->guessed = false;
    locate(&h, &f, out);
    return;
  }
}
