// SPDX-License-Identifier: Apache-2.0
// Triangles for shapes. Round ones are surfaces of revolution about z: a profile of points from the top down,
// each with its normal, turned in equal steps; corners lie on the true surface. A profile that goes on from
// the same place with another normal is a sharp edge.
#include "io/record/drawing.h"

#include "geometry/hull.h"

typedef struct {
  double r, z, nr, nz;
} ProfilePoint;

enum { PROFILE = 64 };

static bool same_place(const ProfilePoint* a, const ProfilePoint* b) { return a->r == b->r && a->z == b->z; }

static int ring_size(const ProfilePoint* p, int segments) { return p->r > 0 ? segments : 1; }

static bool take_mesh(tbArena* arena, int nvertex, int ntriangle, bool normals, tbVec3** vertex,
                      tbVec3** normal, int (**triangle)[3])
{
  *vertex = TB_TAKE(arena, tbVec3, (size_t)nvertex);
  *normal = normals ? TB_TAKE(arena, tbVec3, (size_t)nvertex) : NULL;
  *triangle = tb_arena_take(arena, (size_t)ntriangle, sizeof **triangle);
  return *vertex && *triangle && (*normal || !normals);
}

// The band between two rings whose first vertices are `upper` and `lower`. Returns how many triangles.
static int put_band(int (*t)[3], int upper, int nupper, int lower, int nlower)
{
  int count = 0, segments = nupper > nlower ? nupper : nlower;
  for (int j = 0; j < segments; j++) {
    int next = (j + 1) % segments;
    int a = upper + j % nupper, b = lower + j % nlower, c = lower + next % nlower, d = upper + next % nupper;
    if (nlower > 1) t[count][0] = a, t[count][1] = b, t[count++][2] = c;
    if (nupper > 1) t[count][0] = a, t[count][1] = c, t[count++][2] = d;
  }
  return count;
}

static tbStatus revolve(tbArena* arena, const ProfilePoint* profile, int count, int segments, tbDrawMesh* out)
{
  int nvertex = 0, ntriangle = 0;
  for (int i = 0; i < count; i++) nvertex += ring_size(&profile[i], segments);
  tbVec3 *vertex, *normal;
  int(*triangle)[3];
  if (!take_mesh(arena, nvertex, 2 * segments * (count - 1), true, &vertex, &normal, &triangle))
    return TB_ERROR_MEMORY;
  int first = 0, above = 0;
  for (int i = 0; i < count; i++) {
    const ProfilePoint* p = &profile[i];
    int size = ring_size(p, segments);
    for (int j = 0; j < size; j++) {
      double s, c;
      tb_sin_cos(6.283185307179586 * j / segments, &s, &c);
      vertex[first + j] = tb_vec3(p->r * c, p->r * s, p->z);
      normal[first + j] = tb_normalize3(tb_vec3(p->nr * c, p->nr * s, p->nz));
    }
    if (i > 0 && !same_place(p - 1, p))
      ntriangle += put_band(triangle + ntriangle, first - above, above, first, size);
    first += size, above = size;
  }
  *out = (tbDrawMesh){nvertex, ntriangle, vertex, normal, (const int(*)[3])triangle, -1};
  return TB_OK;
}

// Two half circles, their centres at ±half; the ring between them stands twice where half > 0.
static tbStatus round_caps(tbArena* arena, int segments, double half, tbDrawMesh* out)
{
  ProfilePoint profile[PROFILE];
  int quarter = segments / 4, count = 0;
  for (int side = 1; side >= -1; side -= 2)
    for (int i = 0; i <= quarter; i++) {
      double s, c;
      tb_sin_cos(1.5707963267948966 * (side > 0 ? i : quarter - i) / quarter, &s, &c);
      bool pole = (side > 0 ? i : quarter - i) == 0, equator = (side > 0 ? i : quarter - i) == quarter;
      if (side < 0 && equator && half == 0) continue;
      double z = equator ? 0 : side * c;
      profile[count++] = (ProfilePoint){pole ? 0 : s, z + side * half, pole ? 0 : s, z};
    }
  return revolve(arena, profile, count, segments, out);
}

tbStatus tb_draw_sphere(tbArena* arena, int segments, tbDrawMesh* out)
{
  return round_caps(arena, segments, 0, out);
}

tbStatus tb_draw_capsule(tbArena* arena, int segments, double ratio, tbDrawMesh* out)
{
  return round_caps(arena, segments, ratio, out);
}

tbStatus tb_draw_cylinder(tbArena* arena, int segments, tbDrawMesh* out)
{
  static const ProfilePoint profile[] = {{0, 1, 0, 1},  {1, 1, 0, 1},   {1, 1, 1, 0},
                                         {1, -1, 1, 0}, {1, -1, 0, -1}, {0, -1, 0, -1}};
  return revolve(arena, profile, 6, segments, out);
}

tbStatus tb_draw_box(tbArena* arena, tbDrawMesh* out)
{
  static const int corner[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  tbVec3* vertex = TB_TAKE(arena, tbVec3, 8);
  if (!vertex) return TB_ERROR_MEMORY;
  for (int i = 0; i < 8; i++) vertex[i] = tb_vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
  *out = (tbDrawMesh){8, 12, vertex, NULL, corner, -1};
  return TB_OK;
}

tbStatus tb_draw_square(tbArena* arena, tbDrawMesh* out)
{
  static const int corner[2][3] = {{0, 1, 2}, {1, 3, 2}};
  tbVec3* vertex = TB_TAKE(arena, tbVec3, 4);
  if (!vertex) return TB_ERROR_MEMORY;
  for (int i = 0; i < 4; i++) vertex[i] = tb_vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, 0);
  *out = (tbDrawMesh){4, 2, vertex, NULL, corner, -1};
  return TB_OK;
}

tbStatus tb_draw_hull(tbArena* arena, const tbHull* hull, tbDrawMesh* out)
{
  int ntriangle = hull->face_adr[hull->nface] - 2 * hull->nface, count = 0;
  int(*triangle)[3] = tb_arena_take(arena, (size_t)ntriangle, sizeof *triangle);
  if (!triangle) return TB_ERROR_MEMORY;
  for (int f = 0; f < hull->nface; f++) {
    const int* v = hull->face_vertex + hull->face_adr[f];
    int corners = hull->face_adr[f + 1] - hull->face_adr[f];
    for (int i = 2; i < corners; i++, count++)
      triangle[count][0] = v[0], triangle[count][1] = v[i - 1], triangle[count][2] = v[i];
  }
  *out = (tbDrawMesh){hull->nvertex, ntriangle, hull->vertex, NULL, (const int(*)[3])triangle, 0};
  return TB_OK;
}
