// SPDX-License-Identifier: Apache-2.0
// Bullet, as Debian has it, at its defaults.
#include "peers/peer.h"

#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <vector>

namespace
{
struct World {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  std::vector<btCollisionShape*> shape;
  std::vector<btRigidBody*> body;
};

btCollisionShape* shape_of(const PeerBody& b)
{
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
    btCollisionShape* shape = shape_of(b);
    btVector3 inertia(0, 0, 0);
    if (b.mass > 0) shape->calculateLocalInertia(b.mass, inertia);
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
  for (btRigidBody* b : w->body) {
    w->world.removeRigidBody(b);
    delete b;
  }
  for (btCollisionShape* s : w->shape) delete s;
  delete w;
}
} // namespace

extern "C" const Peer peer_bullet = {"Bullet", open, step, pose, nullptr, close};
