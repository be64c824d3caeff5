// SPDX-License-Identifier: Apache-2.0
// A scene of bodies as every engine gets it, and what an engine is to the race.
#ifndef TB_BENCH_PEER_H
#define TB_BENCH_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { PEER_BOX, PEER_SPHERE, PEER_CAPSULE } PeerKind;

typedef struct {
  PeerKind kind;
  double half[3];    // of the box around it; a capsule lies along z and ends in balls of the radius half[0]
  double x[3], q[4]; // q: w x y z
  double mass;       // 0: fixed
} PeerBody;

typedef struct {
  const char* name;
  double mu;
  int steps, count;
  PeerBody* body;
} PeerScene;

typedef struct {
  double x[3], q[4], v[3];
} PeerPose;

// One of the engines; gravity is (0, 0, −9.81), nothing sleeps.
typedef struct {
  const char* name;
  void* (*open)(const PeerScene* scene);
  void (*step)(void* world, double dt);
  void (*pose)(void* world, int body, PeerPose* out);
  double (*residual)(void* world); // m/s, of the last step, by the judge; null, or negative: not known
  void (*close)(void* world);
} Peer;

// How deep the bodies are in each other at most, by their shapes and poses alone (overlap.c).
double peer_overlap(const PeerScene* scene, const PeerPose* pose);

extern const Peer peer_bullet, peer_ode;

#ifdef __cplusplus
}
#endif
#endif
