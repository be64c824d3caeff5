// SPDX-License-Identifier: Apache-2.0
// What a frame shows, written into arrays that JavaScript reads in place.
#include "web.h"

static void put_pose(double* out, const tbWorld* w, int body)
{
  tbBodyState s = tb_body_state(w, tb_world_body_at(w, body));
  tb_store3(out, s.position);
  out[3] = s.orientation.w, out[4] = s.orientation.x, out[5] = s.orientation.y, out[6] = s.orientation.z;
}

// position, normal, impulse on b, its parts, gap, speed of slip, state, bodies, residual: as CONTACT of
// viewer/src/engine.js
static void put_contact(double* out, const tbContactView* c)
{
  tbVec3 second = tb_cross3(c->normal, c->tangent);
  bool sliding = c->rows >= 3;
  double t = c->rows >= 2 ? c->impulse[1] : 0, b = sliding ? c->impulse[2] : 0;
  double ut = c->rows >= 2 ? c->velocity[1] : 0, ub = sliding ? c->velocity[2] : 0;
  tbVec3 impulse = tb_madd3(tb_madd3(tb_scale3(c->impulse[0], c->normal), t, c->tangent), b, second);
  tb_store3(out, c->position);
  tb_store3(out + 3, c->normal);
  tb_store3(out + 6, impulse);
  out[9] = c->impulse[0], out[10] = sqrt(t * t + b * b), out[11] = c->gap, out[12] = sqrt(ut * ut + ub * ub);
  out[13] = c->state, out[16] = c->residual;
  out[14] = tb_body_place(web.scene.world, c->a), out[15] = tb_body_place(web.scene.world, c->b);
}

static tbStatus put_nodes(const tbWorld* w)
{
  int count = 0;
  for (int i = 0; i < web.views.bodies; i++) count += tb_body_node_count(w, tb_world_body_at(w, i));
  TB_TRY(web_room(&web.views.node, &web.node_room, 3 * (size_t)count * sizeof(float)));
  float* out = web.views.node;
  web.views.nodes = count;
  for (int i = 0; i < web.views.bodies; i++) {
    const tbVec3* x = tb_body_nodes(w, tb_world_body_at(w, i));
    for (int k = tb_body_node_count(w, tb_world_body_at(w, i)); k > 0; k--, x++)
      *out++ = (float)x->x, *out++ = (float)x->y, *out++ = (float)x->z;
  }
  return TB_OK;
}

tbStatus web_frame(void)
{
  const tbWorld* w = web.scene.world;
  WebViews* v = &web.views;
  int bodies = tb_world_body_count(w), contacts = tb_world_contact_count(w);
  v->bodies = v->contacts = v->nodes = 0;
  v->report = web.report;
  TB_TRY(web_room(&v->pose, &web.pose_room, WEB_POSE * (size_t)bodies * sizeof(double)));
  v->bodies = bodies;
  for (int i = 0; i < bodies; i++) put_pose(v->pose + WEB_POSE * i, w, i);
  TB_TRY(put_nodes(w));
  TB_TRY(web_room(&v->contact, &web.contact_room, WEB_CONTACT * (size_t)contacts * sizeof(double)));
  v->contacts = contacts;
  for (int i = 0; i < contacts; i++) {
    tbContactView c = tb_world_contact(w, i);
    put_contact(v->contact + WEB_CONTACT * i, &c);
  }
  return TB_OK;
}

// The friction set of a contact, per newton of normal force, and the velocity that slides there: 1, or 0
// where there is none to show.
WEB(int, web_friction_set, int index)
{
  const tbWorld* w = web.scene.world;
  tbVec3 edge[WEB_EDGE];
  web.views.edge = web.edge;
  if (!w || tb_world_contact_friction(w, index, WEB_EDGE, edge) == 0) return 0;
  tbContactView c = tb_world_contact(w, index);
  tbVec3 second = tb_cross3(c.normal, c.tangent);
  for (int i = 0; i < WEB_EDGE; i++) tb_store3(web.edge + 3 * i, edge[i]);
  tb_store3(web.edge + 3 * WEB_EDGE,
            tb_add3(tb_scale3(c.velocity[1], c.tangent), tb_scale3(c.velocity[2], second)));
  return 1;
}
