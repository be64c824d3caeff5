// SPDX-License-Identifier: Apache-2.0
// The world as arrays.
#include "tribo/bulk.h"

#include "scene/kind.h"

#include <string.h>

static void put3(double* out, size_t row, tbVec3 x)
{
  if (out) tb_store3(out + 3 * row, x);
}

void tb_world_get_poses(const tbWorld* w, double* position, double* orientation)
{
  for (size_t i = 0; i < w->body.count; i++) {
    tbBodyState s = tb_body_state(w, tb_world_body_at(w, (int)i));
    const double q[4] = {s.orientation.w, s.orientation.x, s.orientation.y, s.orientation.z};
    put3(position, i, s.position);
    if (orientation) memcpy(orientation + 4 * i, q, sizeof q);
  }
}

void tb_world_get_velocities(const tbWorld* w, double* velocity, double* angular)
{
  for (size_t i = 0; i < w->body.count; i++) {
    tbBodyState s = tb_body_state(w, tb_world_body_at(w, (int)i));
    put3(velocity, i, s.velocity);
    put3(angular, i, s.angular_velocity);
  }
}

int tb_world_node_count(const tbWorld* w)
{
  int count = 0;
  for (size_t i = 0; i < w->body.count; i++) count += tb_nodes_of(&tb_bodies(w)[i]).count;
  return count;
}

void tb_world_get_nodes(const tbWorld* w, int* first, double* position, double* velocity)
{
  size_t row = 0;
  for (size_t i = 0; i < w->body.count; i++) {
    tbNodes nodes = tb_nodes_of(&tb_bodies(w)[i]);
    if (first) first[i] = (int)row;
    for (int n = 0; n < nodes.count; n++, row++)
      put3(position, row, nodes.x[n]), put3(velocity, row, nodes.v[n]);
  }
  if (first) first[w->body.count] = (int)row;
}

void tb_world_get_contacts(const tbWorld* w, const tbContactArrays* out)
{
  for (size_t i = 0; i < w->contact.count; i++) {
    const tbContactRecord* r = (const tbContactRecord*)w->contact.data + i;
    if (out->a) out->a[i] = r->body_a;
    if (out->b) out->b[i] = r->body_b;
    put3(out->position, i, r->position);
    put3(out->normal, i, r->normal);
    put3(out->tangent, i, r->tangent);
    if (out->gap) out->gap[i] = r->gap;
    if (out->impulse) memcpy(out->impulse + 6 * i, r->impulse, sizeof r->impulse);
    if (out->velocity) memcpy(out->velocity + 6 * i, r->velocity, sizeof r->velocity);
    if (out->state) out->state[i] = (int)r->state;
  }
}

static void add3(double* out, int row, double sign, tbVec3 x)
{
  if (out) tb_store3(out + 3 * row, tb_madd3(tb_load3(out + 3 * row), sign, x));
}

// Torsion about the normal, rolling about the tangents: as many of them as the contact has rows for.
static tbVec3 spin_of(const tbContactRecord* r, tbVec3 binormal)
{
  tbVec3 spin = tb_zero3();
  int row = 3;
  if (r->rows == 4 || r->rows == 6) spin = tb_scale3(r->impulse[row++], r->normal);
  if (r->rows < 5) return spin;
  return tb_madd3(tb_madd3(spin, r->impulse[row], r->tangent), r->impulse[row + 1], binormal);
}

// A contact that adheres pulls, and may hold what slides without pushing.
static bool acts(const tbContactRecord* r)
{
  for (int i = 0; i < r->rows; i++)
    if (r->impulse[i] != 0) return true;
  return false;
}

void tb_world_get_contact_sums(const tbWorld* w, double* impulse, double* moment, int* contacts)
{
  size_t n = w->body.count;
  if (impulse) memset(impulse, 0, 3 * n * sizeof *impulse);
  if (moment) memset(moment, 0, 3 * n * sizeof *moment);
  if (contacts) memset(contacts, 0, n * sizeof *contacts);
  for (size_t i = 0; i < w->contact.count; i++) {
    const tbContactRecord* r = (const tbContactRecord*)w->contact.data + i;
    if (!acts(r)) continue;
    tbVec3 binormal = tb_cross3(r->normal, r->tangent), f = tb_scale3(r->impulse[0], r->normal);
    if (r->rows >= 3) f = tb_madd3(tb_madd3(f, r->impulse[1], r->tangent), r->impulse[2], binormal);
    tbVec3 spin = spin_of(r, binormal);
    for (int side = 0; side < 2; side++) {
      int body = side ? r->body_b : r->body_a;
      tbVec3 arm = tb_sub3(r->position, tb_body_state(w, tb_world_body_at(w, body)).position);
      double sign = side ? 1 : -1;
      add3(impulse, body, sign, f);
      add3(moment, body, sign, tb_add3(tb_cross3(arm, f), spin));
      if (contacts) contacts[body]++;
    }
  }
}
