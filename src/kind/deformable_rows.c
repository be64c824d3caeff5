// SPDX-License-Identifier: Apache-2.0
// Touched where its surface is the mean Σ w_i x_i of some nodes, a contact has the rows ±w_i d on each of
// them. Rows of turning are those of the triangles around that place. Nodes attached to a body that moves
// freely have three rows each that hold them there.
#include "kind/deformable_step.h"

// The columns of a contact, node by node.
enum { MOST_TRIANGLES = 20, MOST_NODES = 3 + 3 * MOST_TRIANGLES };
typedef struct {
  int count, node[MOST_NODES];
  tbVec3 row[MOST_NODES][TB_MAX_ROWS];
} Columns;

static tbVec3* column(Columns* c, int node)
{
  int k = 0;
  while (k < c->count && c->node[k] != node) k++;
  if (k == c->count) {
    c->node[c->count++] = node;
    for (int i = 0; i < TB_MAX_ROWS; i++) c->row[k][i] = tb_zero3();
  }
  return c->row[k];
}

// Whether the triangle has all of these corners.
static bool has_corners(const int* triangle, const int* vertex, int count)
{
  int found = 0;
  for (int k = 0; k < count; k++)
    for (int i = 0; i < 3; i++) found += triangle[i] == vertex[k];
  return found == count;
}

// The triangles around the touched vertex, edge or face.
static int patch_of(const tbSurfaceMesh* s, const tbContactSide* side, int* triangle)
{
  int count = 0, vertex = side->count > 0 ? side->vertex[0] : -1;
  if (vertex < 0) return 0;
  for (int i = s->star_adr[vertex]; i < s->star_adr[vertex + 1] && count < MOST_TRIANGLES; i++)
    if (has_corners(s->triangle[s->star[i]], side->vertex, side->count)) triangle[count++] = s->star[i];
  return count;
}

// share · d·ω of a triangle as it turns: its normal n with its corners, and half the curl of its velocities
// about it. With sides e_i and g_i in its plane, g_i·e_j = δ_ij,
//
//   ω = −Σ (n × g_i)(ė_i·n) + ½ n Σ ė_i·(n × g_i)
//
// which is exact where it turns as one; the couple of forces on its corners has the torque d.
static void add_turning(const tbDeformable* d, int triangle, double share, const tbContactSide* side,
                        Columns* out)
{
  const int* corner = d->surface->triangle[triangle];
  int node[3];
  for (int i = 0; i < 3; i++) node[i] = d->surface->node[corner[i]];
  tbVec3 e = tb_sub3(d->x[node[1]], d->x[node[0]]), f = tb_sub3(d->x[node[2]], d->x[node[0]]);
  tbVec3 N = tb_cross3(e, f);
  double area = tb_norm3(N);
  if (!(area > 0)) return;
  tbVec3 n = tb_scale3(1 / area, N);
  // n × g_1 = n × (f × n)/area and n × g_2 = n × (n × e)/area
  tbVec3 across[2] = {tb_scale3(1 / area, f), tb_scale3(-1 / area, e)};
  for (int i = 3; i < side->rows; i++) {
    double about = tb_dot3(side->direction[i], n);
    tbVec3 sum = tb_zero3();
    for (int k = 0; k < 2; k++) {
      tbVec3 c = tb_scale3(-tb_dot3(side->direction[i], across[k]), n);
      c = tb_scale3(side->sign * share, tb_madd3(c, 0.5 * about, across[k]));
      tbVec3* row = column(out, node[1 + k]);
      row[i] = tb_add3(row[i], c), sum = tb_add3(sum, c);
    }
    tbVec3* row = column(out, node[0]);
    row[i] = tb_sub3(row[i], sum);
  }
}

void tb_deformable_contact(const tbStepView* view, int body, const tbContactSide* side, int dof, tbBuilder* b)
{
  const tbDeformable* d = tb_bodies(view->world)[body].own;
  Columns columns = {0};
  double jac[TB_MAX_ROWS * 3];
  for (int k = 0; k < side->count; k++) {
    tbVec3* row = column(&columns, d->surface->node[side->vertex[k]]);
    for (int i = 0; i < side->rows && i < 3; i++)
      row[i] = tb_madd3(row[i], side->sign * side->weight[k], side->direction[i]);
  }
  int triangle[MOST_TRIANGLES], count = side->rows > 3 ? patch_of(d->surface, side, triangle) : 0;
  for (int k = 0; k < count; k++) add_turning(d, triangle[k], 1.0 / count, side, &columns);
  for (int k = 0; k < columns.count; k++) {
    for (int i = 0; i < side->rows; i++) tb_store3(jac + 3 * i, columns.row[k][i]);
    tb_builder_jacobian(b, dof + 3 * columns.node[k], 3, jac);
  }
}

bool tb_deformable_attached(const tbBody* body, int k, int* other)
{
  const tbDeformable* d = body->own;
  if (k >= d->nhold) return false;
  *other = d->hold[k].body;
  return true;
}

static bool is_attached(const tbWorld* w, const tbDeformable* d, int node, int* body)
{
  *body = d->holder[node] < 0 ? -1 : d->hold[d->holder[node]].body;
  return *body >= 0 && tb_bodies(w)[*body].motion == TB_BODY_DYNAMIC;
}

int tb_deformable_list_attached(const tbWorld* w, const tbDeformable* d, tbAttachedNode* out)
{
  int count = 0;
  for (int n = 0, other; d->nhold > 0 && n < d->fem->nnode; n++) {
    if (!is_attached(w, d, n, &other)) continue;
    if (out) out[count] = (tbAttachedNode){n, other, d->local[n], d->pull[n]};
    count++;
  }
  return count;
}

// u = v_node − v_point, and what they are apart is closed.
tbStatus tb_deformable_attach(tbContext* ctx, const tbStepView* view, int body, tbBuilder* b, tbArray* guess)
{
  const tbWorld* w = view->world;
  const tbDeformable* d = tb_bodies(w)[body].own;
  for (int n = 0, other; d->nhold > 0 && n < d->fem->nnode; n++) {
    if (!is_attached(w, d, n, &other)) continue;
    tbTransform frame = view->centre[other];
    tbVec3 arm = tb_quat_rotate(frame.q, d->local[n]), apart = tb_sub3(d->x[n], tb_add3(frame.x, arm));
    double own[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, jac[18], bias[3];
    tb_store3(bias, tb_scale3(1 / view->h, apart));
    for (int k = 0; k < 3; k++) tb_point_row(tb_load3(own + 3 * k), arm, -1, jac + 6 * k);
    tb_builder_contact(b, TB_LAW_BILATERAL, 3, NULL, bias, NULL);
    tb_builder_jacobian(b, view->place[body].dof + 3 * n, 3, own);
    tb_bodies(w)[other].kind->frame_rows(3, jac, view->place[other].dof, b);
    TB_TRY(tb_array_push(ctx, guess, &d->pull[n], 3));
  }
  return TB_OK;
}

int tb_deformable_detach(const tbWorld* w, tbBody* body, const tbProblem* p, const double* lambda, int first)
{
  tbDeformable* d = body->own;
  int at = first;
  for (int n = 0, other; d->nhold > 0 && n < d->fem->nnode; n++)
    if (is_attached(w, d, n, &other)) d->pull[n] = tb_load3(lambda + p->row_adr[at++]);
  return at - first;
}
