// SPDX-License-Identifier: Apache-2.0
// A robot between the file it comes from and the scene it becomes: a tree of bodies. urdf.c and mjcf.c make
// it, scene.c writes it.
#ifndef TB_IO_IMPORT_ROBOT_H
#define TB_IO_IMPORT_ROBOT_H

#include "io/import/xml.h"
#include "tribo/import.h"

typedef struct tbRobotShape tbRobotShape;
struct tbRobotShape {
  tbShapeType type;    // sphere, box, capsule, cylinder, plane; convex: of a file
  tbTransform pose;    // in its body
  double size[3];      // box: full edge lengths; sphere: radius; capsule and cylinder: radius, length
  const char* file;    // of a hull
  tbVec3 scale;        // of its coordinates
  const tbVec3* point; // or of points, where the file is one that scenes do not read
  int points;
  tbXml* at;
  tbRobotShape* next;
};

typedef struct tbRobotJoint tbRobotJoint;
struct tbRobotJoint {
  tbJointType type; // ball, hinge, slider
  const char* name;
  tbVec3 anchor, axis; // in the frame of its body
  double start;        // its coordinate in the scene's first moment; limits and targets are measured from 0
  tbQuat turn;         // of a ball: the same
  bool limited;
  double lower, upper;
  double stiffness, damping, rest; // a spring of the joint's own
  double friction;                 // dry: N·m or N
  double reference;                // MJCF: what its coordinate is called at 0
  double armature;                 // MJCF: inertia of its rotor
  bool servoed;                    // by an actuator
  tbServo servo;
  double target;
  double effort; // of actuators whose force does not depend on it
  tbXml* at;
  tbRobotJoint* next;

  tbTransform place; // of its body in the world before it moves (arrange.c)
};

// Friction of what a body touches with.
typedef struct tbRobotFriction {
  int rows;         // of its contacts: 1 none, 3 sliding, 4 and spinning, 6 and rolling; 0: not said
  double length[3]; // coefficient of sliding; lengths of spinning and rolling, m
} tbRobotFriction;

typedef struct tbRobotBody tbRobotBody;
struct tbRobotBody {
  const char* name;
  tbRobotBody* parent;    // null: the world
  tbTransform pose;       // in its parent, joints at zero
  bool free;              // moves freely; else by its joints, or not at all
  const char* free_joint; // what the joint is called that lets it, or null
  tbRobotJoint* joints;   // from the parent outwards
  double mass;            // 0: none
  tbVec3 centre;          // of mass, in its frame
  tbMat3 inertia;         // about it, its axes
  tbRobotFriction friction;
  uint32_t category, mask; // 0 and 0: the usual ones
  tbRobotShape* shapes;
  tbXml* at;
  tbRobotBody* next; // parents come before children

  // of arrange.c
  tbTransform place; // in the world
  bool stands;       // never moves
  tbRobotBody*
      carrier;        // whose shapes these are: itself, or what a massless body is fixed to; null: the world
  tbRobotBody* group; // the first of those it is rigidly fixed to
};

// Two bodies held together beside the tree, or let through each other.
typedef struct tbRobotPair tbRobotPair;
struct tbRobotPair {
  enum { TB_PAIR_BALL, TB_PAIR_WELD, TB_PAIR_IGNORE } kind;
  const char *a, *b; // null: the world
  tbVec3 anchor;     // in the frame of a
  tbXml* at;
  tbRobotPair* next;
};

typedef struct tbRobot {
  tbContext* ctx;
  tbArena* arena;
  tbArray* notes;     // tbImportNote; null: not asked for
  const char* path;   // of the file
  const char* folder; // of the scene; null: whole paths
  const char* name;
  tbVec3 gravity;
  double dt;
  tbRobotBody *bodies, *last;
  tbRobotPair* pairs;
} tbRobot;

tbStatus tb_import_urdf(tbRobot* r, tbXml* root, const tbImportOptions* options);
tbStatus tb_import_mjcf(tbRobot* r, tbXml* root, const tbImportOptions* options);
// arrange.c: where bodies are, what a moving one without mass becomes, who carries whose shapes.
tbStatus tb_robot_arrange(tbRobot* r);
tbStatus tb_robot_start(tbRobot* r, const tbImportOptions* options); // coordinates that are asked for
tbStatus tb_robot_part(tbRobot* r); // overlaps.c: which links do not touch, as they start inside each other
tbStatus tb_robot_write(tbRobot* r, tbOut* out); // scene.c

tbStatus tb_robot_note(tbRobot* r, const tbXml* at, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
tbStatus tb_robot_note_unread(tbRobot* r, tbXml* root);     // what was not read, each kind once
tbRobotBody* tb_robot_body(tbRobot* r, const char* name);   // or null
tbRobotJoint* tb_robot_joint(tbRobot* r, const char* name); // or null
tbRobotBody* tb_robot_add(tbRobot* r, const char* name, tbRobotBody* parent, tbXml* at); // null: no memory
tbStatus tb_robot_shape(tbRobot* r, tbRobotBody* body, tbRobotShape shape);
const char* tb_robot_text(tbRobot* r, const char* format, ...)
    __attribute__((format(printf, 2, 3))); // null: no memory

// mesh.c: the path of a mesh as it is on this machine, null where there is none.
const char* tb_robot_find(tbRobot* r, const char* base, const char* name);
// Whether a hull can be made of it; *good false after a note that says why not.
tbStatus tb_robot_check_mesh(tbRobot* r, const tbXml* at, tbRobotShape* shape, bool* good);
// The hull of points of the file itself.
tbStatus tb_robot_hull(tbRobot* r, const tbXml* at, tbVec3* point, int count, tbRobotShape* shape);
// collada.c: the points of all that a COLLADA file shows, m, in the arena.
tbStatus tb_collada_points(tbContext* ctx, tbArena* arena, const char* path, tbVec3** out, int* count);
// The path from the scene's folder, in the arena.
tbStatus tb_robot_relative(tbRobot* r, const char* file, const char** out);

// Turned about x, then y, then z of the fixed frame.
tbQuat tb_robot_rpy(const double angle[3]);

#endif
