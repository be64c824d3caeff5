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

typedef struct tbMj {
  tbRobot* r;
  tbXml* root;
  tbMjClass *classes, *main; // main null: there are no defaults
  double degree;             // what an angle is multiplied by
  const char *sequence, *mesh_folder;
  bool auto_limits;
  enum { TB_MJ_AUTO, TB_MJ_GEOMS, TB_MJ_GIVEN } inertia; // where masses come from
  int unnamed;                                           // bodies
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
// Up to `most` numbers; what is absent stays as it is. count: 0 where the attribute is absent; may be null.
tbStatus tb_mj_numbers(tbMj* m, tbMjAt at, const char* key, int least, int most, double* out, int* count);
tbStatus tb_mj_bool(tbMj* m, tbMjAt at, const char* key, bool usual, bool* out); // "auto" and absent: usual
tbStatus tb_mj_turn(tbMj* m, tbMjAt at, tbQuat* out); // quat, axisangle, euler, xyaxes, zaxis
tbStatus tb_mj_pose(tbMj* m, tbMjAt at, tbTransform* out);

// mjcf_geom.c: adds the geom's shape to the body and its mass to the sum.
tbStatus tb_mj_geom(tbMj* m, tbMjAt at, tbTransform frame, tbRobotBody* body, tbMass* sum);

// mjcf_joint.c
tbStatus tb_mj_joint(tbMj* m, tbMjAt at, tbTransform frame, tbRobotBody* body);
tbStatus tb_mj_actuators(tbMj* m);
tbStatus tb_mj_pairs(tbMj* m); // <equality> and <contact>

#endif
