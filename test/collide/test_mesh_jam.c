// SPDX-License-Identifier: Apache-2.0
// Meshes in motion: rings, boxes, cylinders and a ball dropped on a slab, all in a heap. A small
// velocity-level solver is enough to ask what contacts must give: nothing falls through, nothing stays inside
// another, nothing gains energy.
#include "collide/contact.h"
#include "geometry/box.h"
#include "meshes.h"
#include "test.h"

enum { BODIES = 9, CONTACTS = 1000, STEPS = 450, SWEEPS = 25 };

static const double dt = 0.005;

typedef struct {
  tbShape shape;
  tbTransform T;
  tbVec3 v, w;
  double inverse_mass;
  tbMat3 body_inverse, inverse; // of the inertia, in the body's axes and in the world's
} Body;

typedef struct {
  Body *a, *b;
  tbVec3 ra, rb, axis[3];
  double bias, mass[3], impulse[3];
} Contact;

static tbVec3 velocity(const Body* b, tbVec3 r) { return tb_add3(b->v, tb_cross3(b->w, r)); }

static void push(Body* b, tbVec3 r, tbVec3 impulse)
{
  b->v = tb_madd3(b->v, b->inverse_mass, impulse);
  b->w = tb_add3(b->w, tb_mat3_mulv(b->inverse, tb_cross3(r, impulse)));
}

static double response(const Body* b, tbVec3 r, tbVec3 axis)
{
  tbVec3 x = tb_cross3(r, axis);
  return b->inverse_mass + tb_dot3(x, tb_mat3_mulv(b->inverse, x));
}

static Contact contact(Body* a, Body* b, const tbContactPoint* p)
{
  tbVec3 middle = tb_lerp3(p->a, p->b, 0.5);
  Contact c = {.a = a, .b = b, .ra = tb_sub3(middle, a->T.x), .rb = tb_sub3(middle, b->T.x)};
  tbMat3 frame = tb_mat3_frame(p->normal);
  for (int i = 0; i < 3; i++) {
    c.axis[i] = tb_mat3_row(frame, i);
    c.mass[i] = 1 / (response(a, c.ra, c.axis[i]) + response(b, c.rb, c.axis[i]));
  }
  c.bias = p->gap > 0 ? p->gap / dt : fmax(0.2 * p->gap / dt, -1);
  return c;
}

static void solve(Contact* c)
{
  for (int i = 0; i < 3; i++) {
    double u = tb_dot3(tb_sub3(velocity(c->b, c->rb), velocity(c->a, c->ra)), c->axis[i]) + (i ? 0 : c->bias);
    double next = c->impulse[i] - c->mass[i] * u, most = 0.5 * c->impulse[0];
    next = i == 0 ? fmax(0, next) : fmax(-most, fmin(most, next));
    tbVec3 impulse = tb_scale3(next - c->impulse[i], c->axis[i]);
    c->impulse[i] = next;
    push(c->a, c->ra, tb_neg3(impulse));
    push(c->b, c->rb, impulse);
  }
}

static int find_contacts(Body* bodies, Contact* contacts, double* worst)
{
  tbContext ctx = tb_default_context();
  tbArray points = TB_ARRAY(tbContactPoint);
  const double margin = 0.02;
  int count = 0;
  for (int i = 0; i < BODIES; i++)
    for (int j = i + 1; j < BODIES; j++) {
      tbBox a = tb_box_grow(tb_shape_box_of(&bodies[i].shape, bodies[i].T), margin),
            b = tb_shape_box_of(&bodies[j].shape, bodies[j].T);
      if (!tb_box_meets(&a, &b)) continue;
      points.count = 0;
      CHECK_OK(&ctx, tb_collide(&ctx, &bodies[i].shape, bodies[i].T, &bodies[j].shape, bodies[j].T, margin,
                                &points));
      const tbContactPoint* p = points.data;
      for (size_t k = 0; k < points.count && count < CONTACTS; k++) {
        *worst = fmin(*worst, p[k].gap);
        contacts[count++] = contact(&bodies[i], &bodies[j], &p[k]);
      }
    }
  tb_array_free(&ctx, &points);
  return count;
}

static void step(Body* bodies, Contact* contacts, double* worst)
{
  for (int i = 1; i < BODIES; i++) {
    Body* b = &bodies[i];
    tbMat3 R = tb_quat_mat3(b->T.q);
    b->v.z -= 9.81 * dt;
    b->inverse = tb_mat3_mult(tb_mat3_mul(R, b->body_inverse), R);
  }
  int count = find_contacts(bodies, contacts, worst);
  for (int k = 0; k < SWEEPS; k++)
    for (int c = 0; c < count; c++) solve(&contacts[c]);
  for (int i = 1; i < BODIES; i++) {
    bodies[i].T.x = tb_madd3(bodies[i].T.x, dt, bodies[i].v);
    bodies[i].T.q = tb_quat_integrate(bodies[i].T.q, bodies[i].w, dt);
  }
}

static double kinetic(const Body* bodies)
{
  double sum = 0;
  for (int i = 1; i < BODIES; i++) sum += 0.5 * tb_dot3(bodies[i].v, bodies[i].v) / bodies[i].inverse_mass;
  return sum;
}

LONG_TEST(a_heap_of_meshes_settles_and_nothing_falls_through)
{
  tbMesh *ring = torus_mesh(0.3, 0.1, 12, 6), *slab = box_mesh(tb_vec3(12, 12, 1), 6),
         *ball = ball_mesh(0.2, 6, 8);
  tbShape shapes[5] = {tb_shape_mesh(ring), tb_shape_box(tb_vec3(0.4, 0.3, 0.2)), tb_shape_mesh(ring),
                       tb_shape_cylinder(0.15, 0.4), tb_shape_mesh(ball)};
  Body bodies[BODIES] = {{.shape = tb_shape_mesh(slab), .T = {tb_quat_identity(), {0, 0, -0.5}}}};
  tbRandom r = test_random(31);
  for (int i = 1; i < BODIES; i++) {
    Body* b = &bodies[i];
    b->shape = shapes[i % 5];
    b->T.q = tb_quat_normalize(
        tb_quat(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), 1));
    b->T.x = tb_vec3(test_uniform(&r, -0.1, 0.1), test_uniform(&r, -0.1, 0.1), 0.5 + 0.82 * (i - 1));
    tbMass mass = tb_shape_mass(&b->shape, 1000);
    b->inverse_mass = 1 / mass.mass;
    b->body_inverse = tb_mat3_inverse(mass.inertia);
  }
  Contact* contacts = calloc(CONTACTS, sizeof *contacts);
  double worst = 0, late = 0;
  for (int k = 0; k < STEPS; k++) step(bodies, contacts, k < STEPS - 100 ? &worst : &late);
  for (int i = 1; i < BODIES; i++) CHECK(bodies[i].T.x.z > 0.05);
  CHECK(worst > -0.05); // at impacts of 11 m/s, 5 cm a step
  CHECK(late > -0.01);
  CHECK(kinetic(bodies) < 200); // of 9 kJ
  free(contacts);
  mesh_done(ring);
  mesh_done(slab);
  mesh_done(ball);
}
