// SPDX-License-Identifier: Apache-2.0
// Bullet, as Debian has it, at its defaults.
#include "peers/peer.h"

#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstdlib>
#include <vector>

namespace
{
struct World {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  btTriangleMesh terrain;
  std::vector<btCollisionShape*> shape;
  std::vector<btRigidBody*> body;
  std::vector<btTypedConstraint*> joint;
};

btVector3 vector_of(const double* x) { return btVector3(x[0], x[1], x[2]); }

btCollisionShape* terrain_of(World* w, const PeerTerrain& t)
{
  double(*vertex)[3];
  int(*triangle)[3];
  int count = peer_terrain_triangles(&t, &vertex, &triangle);
  for (int i = 0; i < count; i++)
    w->terrain.addTriangle(vector_of(vertex[triangle[i][0]]), vector_of(vertex[triangle[i][1]]),
                           vector_of(vertex[triangle[i][2]]));
  std::free(vertex);
  std::free(triangle);
  return new btBvhTriangleMeshShape(&w->terrain, true);
}

btCollisionShape* octahedron_of(const double* half)
{
  btConvexHullShape* shape = new btConvexHullShape;
  for (int i = 0; i < 6; i++) {
    btVector3 corner(0, 0, 0);
    corner[i / 2] = i % 2 ? half[i / 2] : -half[i / 2];
    shape->addPoint(corner, i == 5);
  }
  return shape;
}

// The hinge's angle is b's against a's about the axis, which is turned to z.
btTypedConstraint* joint_of(World* w, const PeerJoint& j)
{
  btRigidBody *a = w->body[j.a], *b = w->body[j.b];
  btVector3 anchor = vector_of(j.anchor), axis = vector_of(j.axis);
  btTransform to_a = a->getWorldTransform().inverse(), to_b = b->getWorldTransform().inverse();
  if (axis.length2() == 0) return new btPoint2PointConstraint(*a, *b, to_a * anchor, to_b * anchor);
  btTransform frame(shortestArcQuat(btVector3(0, 0, 1), axis), anchor);
  btHingeConstraint* hinge = new btHingeConstraint(*a, *b, to_a * frame, to_b * frame, true);
  hinge->setLimit(j.low, j.high);
  return hinge;
}

btCollisionShape* shape_of(World* w, const PeerScene& scene, const PeerBody& b)
{
  if (b.kind == PEER_TERRAIN) return terrain_of(w, scene.terrain);
  if (b.kind == PEER_OCTAHEDRON) return octahedron_of(b.half);
  if (b.kind == PEER_SPHERE) return new btSphereShape(b.half[0]);
  if (b.kind == PEER_CAPSULE) return new btCapsuleShapeZ(b.half[0], 2 * (b.half[2] - b.half[0]));
  return new btBoxShape(btVector3(b.half[0], b.half[1], b.half[2]));
}

void* open(const PeerScene* scene)
{
  World* w = new World;
  w->world.setGravity(btVector3(0, 0, -9.81));
  for (int i = 0; i < scene->count; i++) {
    const PeerBody& b = scene->body[i];
    btCollisionShape* shape = shape_of(w, *scene, b);
    btVector3 inertia(0, 0, 0);
    if (b.mass > 0) shape->calculateLocalInertia(b.mass, inertia);
    if (b.kind == PEER_OCTAHEDRON) // not that of the box around it
      for (int k = 0; k < 3; k++)
        inertia[k] = b.mass / 10 * (std::pow(b.half[(k + 1) % 3], 2) + std::pow(b.half[(k + 2) % 3], 2));
    btRigidBody::btRigidBodyConstructionInfo info(b.mass, nullptr, shape, inertia);
    info.m_startWorldTransform =
        btTransform(btQuaternion(b.q[1], b.q[2], b.q[3], b.q[0]), btVector3(b.x[0], b.x[1], b.x[2]));
    info.m_friction = std::sqrt(scene->mu); // Bullet multiplies the two
    btRigidBody* body = new btRigidBody(info);
    body->setActivationState(DISABLE_DEACTIVATION);
    w->world.addRigidBody(body);
    w->shape.push_back(shape);
    w->body.push_back(body);
  }
  for (int i = 0; i < scene->joints; i++) {
    w->joint.push_back(joint_of(w, scene->joint[i]));
    w->world.addConstraint(w->joint.back(), true);
  }
  return w;
}

void step(void* world, double dt) { static_cast<World*>(world)->world.stepSimulation(dt, 0, dt); }

void pose(void* world, int i, PeerPose* out)
{
  const btRigidBody* b = static_cast<World*>(world)->body[i];
  btVector3 x = b->getWorldTransform().getOrigin(), v = b->getLinearVelocity();
  btQuaternion q = b->getWorldTransform().getRotation();
  for (int k = 0; k < 3; k++) out->x[k] = x[k], out->v[k] = v[k];
  out->q[0] = q.w(), out->q[1] = q.x(), out->q[2] = q.y(), out->q[3] = q.z();
}

void close(void* world)
{
  World* w = static_cast<World*>(world);
  for (btTypedConstraint* j : w->joint) {
    w->world.removeConstraint(j);
    delete j;
  }
  for (btRigidBody* b : w->body) {
    w->world.removeRigidBody(b);
    delete b;
  }
  for (btCollisionShape* s : w->shape) delete s;
  delete w;
}
} // namespace

extern "C" const Peer peer_bullet = {"Bullet", PEER_ALL, PEER_MANY, 1, open, step, pose, nullptr, close};
