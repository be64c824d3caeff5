// SPDX-License-Identifier: Apache-2.0
// A scene of boxes as every engine gets it, and what an engine is to the race.
#ifndef TB_BENCH_PEER_H
#define TB_BENCH_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  double half[3], x[3], q[4]; // q: w x y z
  double mass;                // 0: fixed
} PeerBox;

typedef struct {
  const char* name;
  double mu;
  int steps, count;
  PeerBox* box;
} PeerScene;

typedef struct {
  double x[3], q[4], v[3];
} PeerPose;

// One of the engines; gravity is (0, 0, −9.81), nothing sleeps.
typedef struct {
  const char* name;
  void* (*open)(const PeerScene* scene);
  void (*step)(void* world, double dt);
  void (*pose)(void* world, int box, PeerPose* out);
  double (*residual)(void* world); // m/s, of the last step, by the judge; null, or negative: not known
  void (*close)(void* world);
} Peer;

extern const Peer peer_bullet, peer_ode;

#ifdef __cplusplus
}
#endif
#endif
