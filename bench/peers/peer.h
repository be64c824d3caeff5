// SPDX-License-Identifier: Apache-2.0
// A scene of bodies as every engine gets it, and what an engine is to the race.
#ifndef TB_BENCH_PEER_H
#define TB_BENCH_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { PEER_BOX, PEER_SPHERE, PEER_CAPSULE, PEER_OCTAHEDRON, PEER_TERRAIN, PEER_KINDS } PeerKind;

typedef struct {
  PeerKind kind;
  double half[3];    // of the box around it; a capsule lies along z and ends in balls of the radius half[0]
  double x[3], q[4]; // q: w x y z
  double mass;       // 0: fixed
} PeerBody;

// Bodies that are joined do not collide with each other. a comes before b, and no body is b twice.
typedef struct {
  int a, b;
  double anchor[3], axis[3]; // world, at the start; no axis: a ball joint, else a hinge
  double low, high;          // of a hinge's angle from the start, rad
} PeerJoint;

// Heights over a square of side × side cells, (side + 1)² of them, x fastest; cells are cut from their corner
// of lowest x and y to the opposite one.
typedef struct {
  int side;
  double half; // of the square, about the origin
  double* height;
} PeerTerrain;

typedef struct {
  const char* name;
  double mu;
  int steps, count, joints;
  PeerBody* body;
  PeerJoint* joint;
  PeerTerrain terrain; // of the body of that kind
} PeerScene;

typedef struct {
  double x[3], q[4], v[3];
} PeerPose;

// One of the engines; gravity is (0, 0, −9.81), nothing sleeps.
typedef struct {
  const char* name;
  unsigned kinds; // of bodies that it takes, 1 << PeerKind each
  int most;       // bodies that it is asked to take
  int threads;
  void* (*open)(const PeerScene* scene);
  void (*step)(void* world, double dt);
  void (*pose)(void* world, int body, PeerPose* out);
  double (*residual)(void* world); // m/s, of the last step, by the judge; null, or negative: not known
  void (*close)(void* world);
} Peer;

enum { PEER_ALL = (1 << PEER_KINDS) - 1, PEER_MANY = 1 << 30 };

// tribo.c: real time on one thread and on two, polished, exact.
extern const Peer peer_tribo[];
enum { PEER_TRIBO_LANES = 4, PEER_TRIBO_EXACT = 2 }; // lanes from the second number on are certified
extern const Peer peer_bullet, peer_ode, peer_mujoco;

// scenes.c. Bodies, joints and heights are the caller's to free.
enum { PEER_SCENES = 13 };
PeerScene peer_scene(int index);
void peer_scene_free(PeerScene* scene);
// Corners of the terrain, and its triangles: three corners each.
int peer_terrain_triangles(const PeerTerrain* terrain, double (**vertex)[3], int (**triangle)[3]);

// By shapes and poses alone (overlap.c): how deep bodies are in each other at most, and how far anchors of
// joints have come apart.
double peer_overlap(const PeerScene* scene, const PeerPose* pose);
double peer_apart(const PeerScene* scene, const PeerPose* pose);

// A line of the result, and the page of all of them (page.c).
typedef struct {
  char scene[64], engine[32];
  int bodies, steps, threads;
  double mean_ms, median_ms, worst_ms, wall_ms; // the first three: of the processor
  double overlap, deepest, apart, moved, residual;
} PeerRow;

int peer_write_page(const char* path, const PeerRow* row, int count);

#ifdef __cplusplus
}
#endif
#endif
