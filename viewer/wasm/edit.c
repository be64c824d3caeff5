// What a page changes in a running world, and the library's face has no need of: friction and masses away
// from the scene's own, and the spring that holds a body under the pointer.
#include "web.h"

#include "kind/deformable.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  double mass;
  tbMat3 inertia, inverse;
} Weight;

// As the scene has them.
struct WebOriginal {
  tbMaterial* material;
  tbContactMaterial* contact_material;
  tbPairRule* pair;
  Weight* weight; // of the bodies
};

static void* copy(const tbArray* array)
{
  void* block = malloc(array->count * array->item + 1);
  return block && array->count ? memcpy(block, array->data, array->count * array->item) : block;
}

void web_original_free(WebOriginal* o)
{
  if (!o) return;
  free(o->material), free(o->contact_material), free(o->pair), free(o->weight);
  free(o);
}

WebOriginal* web_original(const tbWorld* w)
{
  WebOriginal* o = calloc(1, sizeof *o);
  if (!o) return NULL;
  o->material = copy(&w->material), o->contact_material = copy(&w->contact_material),
  o->pair = copy(&w->pair);
  o->weight = calloc(w->body.count + 1, sizeof *o->weight);
  if (!o->material || !o->contact_material || !o->pair || !o->weight) {
    web_original_free(o);
    return NULL;
  }
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    o->weight[i] = (Weight){b->mass, b->inertia, b->inertia_inv};
  }
  return o;
}

// Friction.

static tbFriction changed(tbFriction f, double scale, double mu)
{
  bool elliptic = f.kind == TB_FRICTION_ELLIPTIC;
  if (mu >= 0) {
    f.mu = mu;
    if (elliptic) f.mu_t = f.mu_b = mu;
    return f;
  }
  f.mu *= scale, f.mu_t *= scale, f.mu_b *= scale, f.torsion *= scale, f.rolling *= scale;
  return f;
}

void web_edit_friction(tbWorld* w, const WebOriginal* o, double scale, double mu)
{
  tbMaterial* material = w->material.data;
  tbContactMaterial* contact_material = w->contact_material.data;
  tbPairRule* pair = w->pair.data;
  for (size_t i = 0; i < w->material.count; i++)
    material[i].contact_material.friction = changed(o->material[i].contact_material.friction, scale, mu);
  for (size_t i = 0; i < w->contact_material.count; i++)
    contact_material[i].friction = changed(o->contact_material[i].friction, scale, mu);
  for (size_t i = 0; i < w->pair.count; i++)
    pair[i].contact_material.friction = changed(o->pair[i].contact_material.friction, scale, mu);
}

// Masses.

static void weigh(tbBody* b, const Weight* own, double ratio)
{
  b->mass = ratio * own->mass;
  b->inertia = tb_mat3_scale(ratio, own->inertia);
  b->inertia_inv = tb_mat3_scale(1 / ratio, own->inverse);
}

static bool has_ratio(const tbBody* b) { return b->motion == TB_BODY_DYNAMIC && b->kind->framed; }

tbStatus web_edit_mass(tbContext* ctx, tbWorld* w, const WebOriginal* o, int body, double ratio)
{
  if (body < 0 || (size_t)body >= w->body.count || !has_ratio(&tb_bodies(w)[body]))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "only a rigid body that moves freely has a mass ratio");
  if (!(ratio >= 1e-6 && ratio <= 1e6))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a mass ratio is a number from 1e-6 to 1e6");
  weigh(&tb_bodies(w)[body], &o->weight[body], ratio);
  return TB_OK;
}

void web_edit_masses(tbWorld* to, const WebOriginal* o, const tbWorld* from, const WebOriginal* from_original)
{
  for (size_t i = 0; i < from->body.count; i++) {
    const tbBody* b = &tb_bodies(from)[i];
    if (!has_ratio(b) || b->mass == from_original->weight[i].mass) continue;
    int k = tb_world_find_body(to, b->name).index;
    if (k >= 0 && has_ratio(&tb_bodies(to)[k]))
      weigh(&tb_bodies(to)[k], &o->weight[k], b->mass / from_original->weight[i].mass);
  }
}

// Holding. The point is pulled as by a critically damped spring of its own weight there, taken implicitly, so
// that it is as firm for a feather as for a house and stable for every step:
//
//   Δu = h (ω² (target − p − h u) − 2 ω u) / (1 + h ω)²,     impulse K⁻¹ Δu,     K = 1/m − [r] I⁻¹ [r]

static const double omega = 15, turning = 3; // rad/s; 1/s, of what turns about the point
static const double firmest = 500;           // m/s²

static tbVec3 kick(tbVec3 p, tbVec3 u, tbVec3 target, double h)
{
  tbVec3 a = tb_sub3(tb_scale3(omega * omega, tb_sub3(tb_sub3(target, p), tb_scale3(h, u))),
                     tb_scale3(2 * omega, u));
  a = tb_scale3(1 / ((1 + h * omega) * (1 + h * omega)), a);
  double size = tb_norm3(a);
  return tb_scale3(size > firmest ? h * firmest / size : h, a);
}

// 1 at the held node, falling to 0 at a distance of 0.3 of the body's size.
static double share(const tbFemBody* fem, int held, int node, double size)
{
  double s = tb_distance3(fem->rest[node], fem->rest[held]) / (0.3 * size);
  return s < 1 && !fem->pinned[node] ? (1 - s * s) * (1 - s * s) : 0;
}

// The pull has the weight of the whole body. The nodes near the held one take as much of it as leaves their
// velocity its direction when the spring's damping acts on them; the rest acts on all of them alike.
static void pull_nodes(const tbDeformable* d, const WebHold* hold, double h)
{
  const tbFemBody* fem = d->fem;
  tbBox box = {fem->rest[0], fem->rest[0]};
  for (int i = 0; i < fem->nnode; i++)
    box.lo = tb_min3(box.lo, fem->rest[i]), box.hi = tb_max3(box.hi, fem->rest[i]);
  double size = tb_distance3(box.lo, box.hi), whole = 0, pulled = 0;
  for (int i = 0; i < fem->nnode; i++)
    whole += fem->mass[i], pulled += fem->mass[i] * share(fem, hold->node, i, size);
  if (!(pulled > 0)) return; // all of them are pinned
  double gain = fmin(whole / pulled, fmax(1, (1 + h * omega) * (1 + h * omega) / (4 * h * omega)));
  double rest = 1 - gain * pulled / whole;
  tbVec3 dv = kick(d->x[hold->node], d->v[hold->node], hold->target, h);
  for (int i = 0; i < fem->nnode; i++)
    if (!fem->pinned[i]) d->v[i] = tb_madd3(d->v[i], rest + gain * share(fem, hold->node, i, size), dv);
}

tbVec3 web_hold_point(const tbWorld* w, const WebHold* hold)
{
  const tbBody* b = &tb_bodies(w)[hold->body];
  if (tb_deformable(b)) return tb_deformable(b)->x[hold->node];
  return tb_add3(b->x, tb_quat_rotate(b->q, hold->local));
}

tbStatus web_hold_begin(tbContext* ctx, const tbWorld* w, int body, tbVec3 point, tbVec3 target, WebHold* out)
{
  const tbBody* b = body >= 0 && (size_t)body < w->body.count ? &tb_bodies(w)[body] : NULL;
  if (!b || b->motion == TB_BODY_FIXED || b->motion == TB_BODY_KINEMATIC)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "only a body that moves freely can be held");
  if (!isfinite(tb_norm3(point)) || !isfinite(tb_norm3(target)))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a point must be finite");
  *out = (WebHold){.body = body, .local = tb_quat_unrotate(b->q, tb_sub3(point, b->x)), .target = target};
  const tbDeformable* d = tb_deformable(b);
  if (!d) return TB_OK;
  for (int i = 1; i < d->fem->nnode; i++)
    if (tb_distance3(d->x[i], point) < tb_distance3(d->x[out->node], point)) out->node = i;
  return TB_OK;
}

tbStatus web_pull(tbContext* ctx, tbWorld* w, const WebHold* hold, double h)
{
  if (hold->body < 0) return TB_OK;
  const tbBody* b = &tb_bodies(w)[hold->body];
  if (tb_deformable(b)) {
    pull_nodes(tb_deformable(b), hold, h);
    return TB_OK;
  }
  tbVec3 r = tb_quat_rotate(b->q, hold->local);
  tbMat3 R = tb_quat_mat3(b->q), X = tb_mat3_skew(r), I = tb_body_world_inertia(b);
  tbMat3 inverse = tb_mat3_mul(R, tb_mat3_mult(b->inertia_inv, R));
  tbMat3 K =
      tb_mat3_sub(tb_mat3_scale(1 / b->mass, tb_mat3_identity()), tb_mat3_mul(X, tb_mat3_mul(inverse, X)));
  tbVec3 u = tb_add3(b->v, tb_cross3(b->w, r));
  tbVec3 force =
      tb_scale3(1 / h, tb_mat3_mulv(tb_mat3_inverse(K), kick(tb_add3(b->x, r), u, hold->target, h)));
  tbVec3 brake = tb_scale3(-turning / (1 + h * turning), tb_mat3_mulv(I, b->w));
  return tb_body_apply(ctx, w, tb_world_body_at(w, hold->body), force, tb_add3(tb_cross3(r, force), brake));
}
