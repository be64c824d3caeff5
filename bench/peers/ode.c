// SPDX-License-Identifier: Apache-2.0
// ODE, as Debian has it, with its quick step.
#include "peers/peer.h"

#include <ode/ode.h>

#include <stdbool.h>
#include <stdlib.h>

enum { CONTACTS = 8 };

typedef struct {
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  double mu;
  int count;
  dGeomID* geom;
  const PeerScene* scene;
  dTriMeshDataID mesh;
  double (*vertex)[3];
  int (*triangle)[3];
} World;

static dGeomID terrain_of(World* w, const PeerTerrain* t)
{
  int count = peer_terrain_triangles(t, &w->vertex, &w->triangle), n = t->side + 1;
  w->mesh = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildDouble(w->mesh, w->vertex, sizeof *w->vertex, n * n, w->triangle, 3 * count,
                              sizeof *w->triangle);
  return dCreateTriMesh(w->space, w->mesh, 0, 0, 0);
}

static void join(World* w, const PeerJoint* j)
{
  dBodyID a = dGeomGetBody(w->geom[j->a]), b = dGeomGetBody(w->geom[j->b]);
  int hinged = j->axis[0] != 0 || j->axis[1] != 0 || j->axis[2] != 0;
  dJointID joint = hinged ? dJointCreateHinge(w->world, 0) : dJointCreateBall(w->world, 0);
  dJointAttach(joint, b, a); // so that the hinge's angle is b's
  if (!hinged) {
    dJointSetBallAnchor(joint, j->anchor[0], j->anchor[1], j->anchor[2]);
    return;
  }
  dJointSetHingeAnchor(joint, j->anchor[0], j->anchor[1], j->anchor[2]);
  dJointSetHingeAxis(joint, j->axis[0], j->axis[1], j->axis[2]);
  dJointSetHingeParam(joint, dParamLoStop, j->low);
  dJointSetHingeParam(joint, dParamHiStop, j->high);
}

static dGeomID shape_of(dSpaceID space, const PeerBody* b, dMass* mass)
{
  const double *h = b->half, length = 2 * (h[2] - h[0]), weight = b->mass > 0 ? b->mass : 1;
  if (b->kind == PEER_SPHERE) {
    dMassSetSphereTotal(mass, weight, h[0]);
    return dCreateSphere(space, h[0]);
  }
  if (b->kind == PEER_CAPSULE) {
    dMassSetCapsuleTotal(mass, weight, 3, h[0], length);
    return dCreateCapsule(space, h[0], length);
  }
  dMassSetBoxTotal(mass, weight, 2 * h[0], 2 * h[1], 2 * h[2]);
  return dCreateBox(space, 2 * h[0], 2 * h[1], 2 * h[2]);
}

static void* open_world(const PeerScene* scene)
{
  dInitODE2(0);
  World* w = calloc(1, sizeof *w);
  w->world = dWorldCreate(), w->space = dHashSpaceCreate(0), w->contacts = dJointGroupCreate(0);
  w->scene = scene, w->mu = scene->mu, w->count = scene->count;
  w->geom = calloc((size_t)scene->count, sizeof *w->geom);
  dWorldSetGravity(w->world, 0, 0, -9.81);
  for (int i = 0; i < scene->count; i++) {
    const PeerBody* b = &scene->body[i];
    dMass mass;
    bool hilly = b->kind == PEER_TERRAIN;
    dGeomID g = w->geom[i] = hilly ? terrain_of(w, &scene->terrain) : shape_of(w->space, b, &mass);
    dQuaternion q = {b->q[0], b->q[1], b->q[2], b->q[3]};
    if (b->mass > 0) {
      dBodyID body = dBodyCreate(w->world);
      dBodySetMass(body, &mass);
      dGeomSetBody(g, body);
    }
    dGeomSetPosition(g, b->x[0], b->x[1], b->x[2]);
    dGeomSetQuaternion(g, q);
  }
  for (int i = 0; i < scene->joints; i++) join(w, &scene->joint[i]);
  return w;
}

static bool are_joined(const World* w, dGeomID a, dGeomID b)
{
  dBodyID A = dGeomGetBody(a), B = dGeomGetBody(b);
  if (A && B) return dAreConnectedExcluding(A, B, dJointTypeContact);
  for (int i = 0; i < w->scene->joints; i++) { // ODE does not know what is joined to a body that is fixed
    dGeomID c = w->geom[w->scene->joint[i].a], d = w->geom[w->scene->joint[i].b];
    if ((a == c && b == d) || (a == d && b == c)) return true;
  }
  return false;
}

static void meet(void* user, dGeomID a, dGeomID b)
{
  World* w = user;
  if (!dGeomGetBody(a) && !dGeomGetBody(b)) return;
  if (are_joined(w, a, b)) return;
  dContact contact[CONTACTS];
  int count = dCollide(a, b, CONTACTS, &contact[0].geom, sizeof *contact);
  for (int i = 0; i < count; i++) {
    contact[i].surface.mode = dContactApprox1;
    contact[i].surface.mu = w->mu;
    dJointAttach(dJointCreateContact(w->world, w->contacts, &contact[i]), dGeomGetBody(a), dGeomGetBody(b));
  }
}

static void step(void* world, double dt)
{
  World* w = world;
  dSpaceCollide(w->space, w, meet);
  dWorldQuickStep(w->world, dt);
  dJointGroupEmpty(w->contacts);
}

static void pose(void* world, int i, PeerPose* out)
{
  const World* w = world;
  const dReal* x = dGeomGetPosition(w->geom[i]);
  dQuaternion q;
  dGeomGetQuaternion(w->geom[i], q);
  dBodyID body = dGeomGetBody(w->geom[i]);
  for (int k = 0; k < 3; k++) out->x[k] = x[k], out->v[k] = body ? dBodyGetLinearVel(body)[k] : 0;
  for (int k = 0; k < 4; k++) out->q[k] = q[k];
}

static void close_world(void* world)
{
  World* w = world;
  dJointGroupDestroy(w->contacts);
  dSpaceDestroy(w->space);
  dWorldDestroy(w->world);
  if (w->mesh) dGeomTriMeshDataDestroy(w->mesh);
  free(w->vertex);
  free(w->triangle);
  dCloseODE();
  free(w->geom);
  free(w);
}

const Peer peer_ode = {
    "ODE", PEER_ALL & ~(1 << PEER_OCTAHEDRON), PEER_MANY, 1, open_world, step, pose, 0, close_world};
