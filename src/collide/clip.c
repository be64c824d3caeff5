// SPDX-License-Identifier: Apache-2.0
// Overlap of two faces by clipping (Sutherland & Hodgman 1974), with names for the corners.
//
// Both faces are projected along n. The subject is cut by the lines of the clipper's sides, one after the
// other. Each side of the polygon in work remembers where it comes from, a side of the subject or a line of
// the clipper, so each new corner is known for what it is: where two sides cross, or a corner of the clipper.
// Its height over the projection is then taken on its own edge or face, never from an accumulated
// intersection: corners keep the exact place they have on their shape.
//
// Corners within `near` of a line count as inside and are never cut: faces that share a border, such as those
// of stacked equal boxes, give the same corners whatever the rounding of their poses.
#include "collide/clip.h"

#include <string.h>

typedef struct {
  double u, v, h; // across n, and along it
} Place;

typedef struct {
  const tbFace* face;
  int n;
  Place at[TB_FACE_CORNERS];
  Place tilt; // of the plane h = at[0].h + tilt.u (u − at[0].u) + tilt.v (v − at[0].v)
} Outline;

typedef struct {
  double u, v;
  int subject; // corner, or first corner of the side it lies on; −1: it is a corner of the clipper
  int clipper; // likewise; −1: it is a corner of the subject
  int side;    // where the side that leaves it comes from: k of the subject, n + j of the clipper's lines
} Corner;

// False when the face is seen so much from the side that heights on it mean nothing.
static bool project(const tbFace* face, tbMat3 frame, double mirror, Outline* out)
{
  tbVec3 n = tb_mat3_row(frame, 0), t = tb_mat3_row(frame, 1), b = tb_mat3_row(frame, 2);
  out->face = face;
  out->n = face->n;
  for (int i = 0; i < face->n; i++) {
    tbVec3 p = face->corner[i];
    out->at[i] = (Place){tb_dot3(p, t), mirror * tb_dot3(p, b), tb_dot3(p, n)};
  }
  if (face->n < 3) return true;
  double facing = tb_dot3(face->normal, n);
  if (fabs(facing) < 0.02) return false;
  out->tilt.u = -tb_dot3(face->normal, t) / facing;
  out->tilt.v = -mirror * tb_dot3(face->normal, b) / facing;
  return true;
}

static double height_on_plane(const Outline* o, double u, double v)
{
  return o->at[0].h + o->tilt.u * (u - o->at[0].u) + o->tilt.v * (v - o->at[0].v);
}

// Parameter along side k of the point closest to (u, v), and back.
static double parameter(const Outline* o, int k, double u, double v)
{
  Place p = o->at[k], q = o->at[(k + 1) % o->n];
  double eu = q.u - p.u, ev = q.v - p.v, ee = eu * eu + ev * ev;
  return ee > 0 ? ((u - p.u) * eu + (v - p.v) * ev) / ee : 0;
}

static Place along(const Outline* o, int k, double t)
{
  Place p = o->at[k], q = o->at[(k + 1) % o->n];
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return (Place){p.u + t * (q.u - p.u), p.v + t * (q.v - p.v), p.h + t * (q.h - p.h)};
}

static uint32_t side_feature(const Outline* o, int k)
{
  return tb_feature_edge(o->face->feature[k], o->face->feature[(k + 1) % o->n]);
}

static uint32_t corner_feature(const Outline* o, int k) { return tb_feature_vertex(o->face->feature[k]); }

// A new corner where the side `side` (of the subject, or a line of the clipper) crosses line j.
static Corner crossing(const Corner* p, const Corner* q, double dp, double dq, int side, int j, int subject_n,
                       int clipper_n)
{
  double t = dp / (dp - dq);
  Corner c = {.u = p->u + t * (q->u - p->u), .v = p->v + t * (q->v - p->v), .subject = side, .clipper = j};
  if (side >= subject_n) { // two lines of the clipper: the corner between them
    int i = side - subject_n;
    c.subject = -1;
    c.clipper = (i + 1) % clipper_n == j ? j : i;
  }
  return c;
}

static int cut(const Outline* subject, const Outline* clipper, int j, double near, const Corner* in, int n,
               Corner* out)
{
  Place p = clipper->at[j], q = clipper->at[(j + 1) % clipper->n];
  double eu = q.u - p.u, ev = q.v - p.v, length = sqrt(eu * eu + ev * ev);
  double inside[TB_CLIP_POINTS];
  int count = 0;
  for (int i = 0; i < n; i++)
    inside[i] = length > near ? (eu * (in[i].v - p.v) - ev * (in[i].u - p.u)) / length : 0;
  for (int i = 0; i < n && count + 2 <= TB_CLIP_POINTS; i++) {
    int k = (i + 1) % n;
    bool here = inside[i] >= -near, there = inside[k] >= -near;
    if (here) out[count++] = in[i];
    if (here && !there) {
      if (inside[i] <= near)
        out[count - 1].side = subject->n + j; // it lies on the line: no second corner at its place
      else {
        out[count] = crossing(&in[i], &in[k], inside[i], inside[k], in[i].side, j, subject->n, clipper->n);
        out[count++].side = subject->n + j;
      }
    } else if (!here && there && inside[k] > near) {
      out[count] = crossing(&in[i], &in[k], inside[i], inside[k], in[i].side, j, subject->n, clipper->n);
      out[count++].side = in[i].side;
    }
  }
  return count;
}

typedef struct {
  Place on_subject, on_clipper; // one above the other, but for segments that are not quite parallel
  uint32_t subject, clipper;
} Met;

static bool meet(const Outline* s, const Outline* c, const Corner* k, Met* out)
{
  double hs, hc, u = k->u, v = k->v;
  if (k->clipper < 0) { // a corner of the subject over the clipper's face
    hs = s->at[k->subject].h;
    hc = height_on_plane(c, u, v);
    out->subject = corner_feature(s, k->subject);
    out->clipper = tb_feature_face(c->face->index);
  } else if (k->subject < 0) { // a corner of the clipper under the subject's face
    if (s->n < 3) return false;
    u = c->at[k->clipper].u;
    v = c->at[k->clipper].v;
    hs = height_on_plane(s, u, v);
    hc = c->at[k->clipper].h;
    out->subject = tb_feature_face(s->face->index);
    out->clipper = corner_feature(c, k->clipper);
  } else { // two sides
    hs = along(s, k->subject, parameter(s, k->subject, u, v)).h;
    hc = along(c, k->clipper, parameter(c, k->clipper, u, v)).h;
    out->subject = side_feature(s, k->subject);
    out->clipper = side_feature(c, k->clipper);
  }
  out->on_subject = (Place){u, v, hs};
  out->on_clipper = (Place){u, v, hc};
  return true;
}

static int clip_polygon(const Outline* s, const Outline* c, double near, Met* out)
{
  Corner buffer[2][TB_CLIP_POINTS];
  int n = s->n, which = 0, count = 0;
  for (int i = 0; i < n; i++) buffer[0][i] = (Corner){s->at[i].u, s->at[i].v, i, -1, i};
  for (int j = 0; j < c->n && n > 0; j++, which ^= 1)
    n = cut(s, c, j, near, buffer[which], n, buffer[which ^ 1]);
  for (int i = 0; i < n; i++)
    if (meet(s, c, &buffer[which][i], &out[count])) count++;
  return count;
}

// Two segments meet along a stretch only if they run the same way to a thousandth; otherwise in a point at
// most, which is for the caller, which knows the closest points.
static int clip_segments(const Outline* s, const Outline* c, Met* out)
{
  double cu = c->at[1].u - c->at[0].u, cv = c->at[1].v - c->at[0].v, cc = cu * cu + cv * cv;
  double su = s->at[1].u - s->at[0].u, sv = s->at[1].v - s->at[0].v, ss = su * su + sv * sv;
  double cross = cu * sv - cv * su;
  int count = 0;
  if (!(cross * cross <= 1e-6 * cc * ss) || cc == 0 || ss == 0) return 0;
  for (int end = 0; end < 2; end++) { // ends of the subject above the clipper
    double t = parameter(c, 0, s->at[end].u, s->at[end].v);
    if (t < 0 || t > 1) continue;
    out[count++] = (Met){s->at[end], along(c, 0, t), corner_feature(s, end), side_feature(c, 0)};
  }
  for (int end = 0; end < 2; end++) { // ends of the clipper below the subject
    double t = parameter(s, 0, c->at[end].u, c->at[end].v);
    if (t < 0 || t > 1) continue;
    out[count++] = (Met){along(s, 0, t), c->at[end], side_feature(s, 0), corner_feature(c, end)};
  }
  return count;
}

static int clip_outlines(const Outline* s, const Outline* c, double near, Met* out)
{
  if (c->n >= 3) return clip_polygon(s, c, near, out);
  return s->n == 2 && c->n == 2 ? clip_segments(s, c, out) : 0;
}

int tb_clip_faces(const tbFace* a, const tbFace* b, tbVec3 n, bool b_clips, double near, tbClipPoint* out)
{
  if (a->n < 3) b_clips = true; // only a polygon can cut
  if (b->n < 3) b_clips = false;
  tbMat3 frame = tb_mat3_frame(n);
  Outline subject, clipper;
  Met met[TB_CLIP_POINTS];
  double mirror = b_clips ? -1 : 1; // the clipper runs counter-clockwise
  if (!project(b_clips ? a : b, frame, mirror, &subject) ||
      !project(b_clips ? b : a, frame, mirror, &clipper))
    return 0;
  int count = clip_outlines(&subject, &clipper, near, met);
  for (int i = 0; i < count; i++) {
    const Met* m = &met[i];
    Place pa = b_clips ? m->on_subject : m->on_clipper, pb = b_clips ? m->on_clipper : m->on_subject;
    pa.v *= mirror;
    pb.v *= mirror;
    out[i] = (tbClipPoint){.a = tb_mat3_tmulv(frame, tb_vec3(pa.h, pa.u, pa.v)),
                           .b = tb_mat3_tmulv(frame, tb_vec3(pb.h, pb.u, pb.v)),
                           .gap = pb.h - pa.h,
                           .fa = b_clips ? m->subject : m->clipper,
                           .fb = b_clips ? m->clipper : m->subject};
  }
  return count;
}
