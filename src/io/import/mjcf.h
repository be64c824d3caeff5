// SPDX-License-Identifier: Apache-2.0
// MJCF as it is read: default classes, the compiler's settings, and the parts.
#ifndef TB_IO_IMPORT_MJCF_H
#define TB_IO_IMPORT_MJCF_H

#include "io/import/robot.h"

typedef struct tbMjClass tbMjClass;
struct tbMjClass {
  const char* name; // "main" for the first
  tbXml* at;
  tbMjClass *parent, *next;
};

// A geom that may touch.
typedef struct tbMjTouch tbMjTouch;
struct tbMjTouch {
  const char* name;
  tbRobotBody* body;
  uint32_t type, affinity; // contype and conaffinity
  tbXml* at;
  tbMjTouch* next;
};

typedef struct tbMj {
  tbRobot* r;
  tbXml* root;
  tbMjClass *classes, *main; // main null: there are no defaults
  double degree;             // what an angle is multiplied by
  const char *sequence, *mesh_folder;
  bool auto_limits;
  bool balanced;     // moments of which two are less than the third become equal
  bool exact_meshes; // volumes of meshes; else as MuJoCo has them, tetrahedra that all count (mjcf_mesh.c)
  enum { TB_MJ_AUTO, TB_MJ_GEOMS, TB_MJ_GIVEN } inertia; // where masses come from
  int unnamed;                                           // bodies
  int groups[2];                                         // of geoms that have mass
  double least_mass, least_inertia, total_mass; // of moving bodies, and of all; total 0 or less: as it is
  bool strip_path;
  const char* suffix; // of names within <replicate>
  double* control;    // of actuators, by the <key> that is asked for
  int controls;
  tbMjTouch* touches;
} tbMj;

// An element with the class it is read by.
typedef struct tbMjAt {
  tbXml* xml;
  tbMjClass* class;
} tbMjAt;

// mjcf_default.c
tbStatus tb_mj_read_defaults(tbMj* m);
tbStatus tb_mj_at(tbMj* m, tbXml* xml, tbMjClass* inherited,
                  tbMjAt* out); // its own class, or the inherited one
tbStatus tb_mj_class(tbMj* m, tbXml* xml, const char* key, tbMjClass** out);
const char* tb_mj_get(tbMjAt at, const char* key); // its own, or its class's; null: absent
bool tb_mj_is_actuator(const char* name);
void tb_mj_forgive_defaults(tbMj* m); // those that no element has: nothing is missed by them
// Up to `most` numbers; what is absent stays as it is. count: 0 where the attribute is absent; may be null.
tbStatus tb_mj_numbers(tbMj* m, tbMjAt at, const char* key, int least, int most, double* out, int* count);
tbStatus tb_mj_bool(tbMj* m, tbMjAt at, const char* key, bool usual, bool* out); // "auto" and absent: usual
tbStatus tb_mj_turn(tbMj* m, tbMjAt at, tbQuat* out); // quat, axisangle, euler, xyaxes, zaxis
tbStatus tb_mj_euler(tbMj* m, tbMjAt at, const double angle[3], tbQuat* out);
tbStatus tb_mj_pose(tbMj* m, tbMjAt at, tbTransform* out);

// What the mass of a mesh is made of, by the names of MJCF.
typedef enum tbMjMeshRule {
  TB_MJ_MESH_LEGACY,
  TB_MJ_MESH_EXACT,
  TB_MJ_MESH_CONVEX,
  TB_MJ_MESH_SHELL
} tbMjMeshRule;
// mjcf_mesh.c: legacy and shell.
tbMass tb_mj_mesh_mass(const tbMesh* mesh, tbTransform pose, double density, tbMjMeshRule rule);

// mjcf_geom.c: adds the geom's shape to the body and its mass to the sum.
tbStatus tb_mj_geom(tbMj* m, tbMjAt at, tbTransform frame, tbRobotBody* body, tbMass* sum);

// mjcf_joint.c
tbStatus tb_mj_joint(tbMj* m, tbMjAt at, tbTransform frame, tbRobotBody* body);
tbStatus tb_mj_equalities(tbMj* m);
tbStatus tb_mj_add_pair(tbMj* m, tbRobotPair pair);

// mjcf_actuator.c
tbStatus tb_mj_actuators(tbMj* m);

// mjcf_contact.c
bool tb_mj_in_pair(tbMj* m, const char* geom); // whether a <pair> names it
tbStatus tb_mj_contacts(tbMj* m);

// mjcf_key.c: the scene starts as the <key> of that name says; null: as the bodies stand.
tbStatus tb_mj_key(tbMj* m, const char* name);

// Its name, with what <replicate> adds; null: it has none.
tbStatus tb_mj_name(tbMj* m, tbXml* xml, const char** out);

#endif
