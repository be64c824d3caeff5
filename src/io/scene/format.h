// SPDX-License-Identifier: Apache-2.0
// The scene format as data: one table of records and their keys (format.c).
//
// Everything that must know the format works from the table: the reader with its check of unknown keys
// (read.c), the published JSON Schema and the keys in docs/scene-format.md (schema.c). A key is
// stated once, with its type, its bounds, where its value goes and one line for a person; its default is
// whatever the record's `init` put there. A new part of the format is a struct here and its rows in the
// table.
#ifndef TB_IO_SCENE_FORMAT_H
#define TB_IO_SCENE_FORMAT_H

#include "base/json.h"
#include "tribo/step.h"

enum { TB_SCENE_VERSION = 1 };

// ---- the table ----

typedef enum tbKeyKind { //      JSON                            the struct's member
  TB_KEY_NUMBER,         //      a number in `range`             double
  TB_KEY_INT,            //      a whole number in `range`       int
  TB_KEY_INT64,          //      a whole number in `range`       int64_t
  TB_KEY_BOOL,           //      true or false                   bool
  TB_KEY_STRING,         //      a string                        const char*, lives with the tree
  TB_KEY_CHOICE,         //      one of the names `choice`       int: its index
  TB_KEY_NAME,           //      one of the names `choice`       const char*: the name
  TB_KEY_TAG,            //      the name of a variant           int: its index; the record's first key
  TB_KEY_NUMBERS,        //      min … max numbers in `range`    double[max], and their count at count_at
  TB_KEY_INTS,           //      max whole numbers in `range`    int[max]
  TB_KEY_INDICES,        //      min … max of them               tbSceneIndices
  TB_KEY_POINTS,         //      min … max arrays of 3 numbers   tbScenePoints
  TB_KEY_MATRIX,         //      max arrays of max numbers       double[max·max], row-major
  TB_KEY_RECORD,         //      an object                       a pointer; null: absent
  TB_KEY_PART,           //      an object                       the record itself
  TB_KEY_RECORDS,        //      an array of objects             tbSceneList
  TB_KEY_NAMED,          //      an object of objects            tbSceneList; the names are the nodes' keys
} tbKeyKind;

typedef struct tbRecord tbRecord;

typedef struct tbKey {
  const char* name;
  tbKeyKind kind;
  size_t at;                        // of the member
  tbRange range;                    // of each number
  int min, max;                     // how many numbers
  size_t count_at;                  // of an int; 0: none
  bool spread;                      // numbers: one by itself stands for all
  const char* (*choice)(int index); // null past the last
  const tbRecord* record;
  bool required;
  bool shown;       // the default means something to a person
  double scale;     // numbers: what the member is of the file's; 0: the same
  const char* unit; // null: the text says it
  const char* text; // one line: meaning, unit
} tbKey;

// An object of the format. Its struct begins with `const tbJson* node`, the place for messages.
struct tbRecord {
  const char* name; // singular, as a definition in the schema; of a variant: its tag
  const char* text;
  size_t size;
  void (*init)(void* record); // defaults; null: zeros
  const tbKey* keys;
  int key_count;
  // The options whose key is `group` and one more word (tribo/options.h) are keys as well, and go to the
  // tbStepOptions at options_at. Null: none.
  const char* group;
  size_t options_at;
  // Variants add keys, all in the same struct. The tag picks one; without a tag, the variant that knows most
  // of the object's keys. A variant without keys and text is a name that is reserved.
  const tbRecord* variants;
  int variant_count;
  bool by_tag;      // of a variant: the tag alone picks it
  const char* bare; // a key: a value that is no object stands for it
};

extern const tbRecord tb_scene_record; // the whole file

// A record's keys: its group's options, then its own (options.c).
int tb_record_key_count(const tbRecord* record);
tbKey tb_record_key(const tbRecord* record, int index);

typedef struct tbRecordReader {
  tbContext* ctx;
  tbArena* arena;               // of what is read
  struct tbSceneErrors* errors; // where errors are noted; null: reading ends at the first
} tbRecordReader;

void tb_record_init(const tbRecord* record, void* out);
tbStatus tb_record_read(const tbRecordReader* in, const tbRecord* record, const tbJson* node, void* out);

// ---- what a file says, as plain structs ----

typedef struct tbSceneList {
  void* items;
  int count;
} tbSceneList;

typedef struct tbScenePoints {
  double (*xyz)[3];
  int count;
} tbScenePoints;

typedef struct tbSceneIndices {
  int* index;
  int count;
} tbSceneIndices;

typedef struct tbScenePose {
  double position[3], orientation[4], euler[3], euler_deg[3];
} tbScenePose;

// Parts of the file that hold options: of `options` those of the part's group.
typedef struct tbSceneStabilization {
  const tbJson* node;
  tbStepOptions options;
  double erp, cfm;
} tbSceneStabilization;

typedef struct tbSceneScheme {
  const tbJson* node;
  tbStepOptions options;
  tbSceneStabilization stabilization;
} tbSceneScheme;

typedef struct tbSceneSolver {
  const tbJson* node;
  tbStepOptions options;
} tbSceneSolver;

typedef struct tbSceneContact {
  const tbJson* node;
  tbStepOptions options;
} tbSceneContact;

typedef enum tbFrictionModel { // variants of the record, in order
  TB_FRICTION_MODEL_COULOMB,
  TB_FRICTION_MODEL_ELLIPTIC,
  TB_FRICTION_MODEL_CONTENSOU,
  TB_FRICTION_MODEL_MATCHSTICK,
  TB_FRICTION_MODEL_TENSOR,
  TB_FRICTION_MODEL_TEXTURE,
} tbFrictionModel;

typedef struct tbSceneMap {
  double scale, coordinates_scale;
  int mapping; // tbMapping
  const char* coordinates;
} tbSceneMap;

typedef struct tbSceneField {
  const tbJson* node;
  tbScenePoints points, directions;
  const char* image;
  tbSceneMap map;
} tbSceneField;

typedef struct tbSceneFriction {
  const tbJson* node;
  int model; // tbFrictionModel
  double mu, mu_t, mu_b, direction[3], torsion, rolling, matrix[4], matrix_back[4], kappa;
  const char* normal_map;
  double patch;
  int directions;
  tbSceneMap map;
  tbSceneField* field;
  double mu_static, static_ratio, stribeck, tresca, adhesion, restitution;
} tbSceneFriction;

// Of contacts: k and b, or υ and ε.
typedef struct tbSceneSpring {
  double stiffness, damping, erp, cfm, coat;
} tbSceneSpring;

typedef struct tbSceneMaterial {
  const tbJson* node;
  double density, restitution;
  tbSceneFriction* friction;
  tbSceneSpring spring;
} tbSceneMaterial;

typedef struct tbScenePair {
  const tbJson* node;
  const char *a, *b;
  tbSceneFriction* friction;
  double restitution;
  tbSceneSpring spring;
} tbScenePair;

typedef struct tbSceneShape {
  const tbJson* node;
  int type; // tbShapeType
  tbScenePose pose;
  double radius, length, size[3], normal[3], offset, scale;
  tbScenePoints vertices;
  const char* file;
  int resolution;
} tbSceneShape;

typedef struct tbSceneMotionKey {
  const tbJson* node;
  double t;
  tbScenePose pose;
} tbSceneMotionKey;

typedef struct tbSceneMotion {
  const tbJson* node;
  double velocity[3], angular_velocity[3];
  tbSceneList keys; // tbSceneMotionKey
} tbSceneMotion;

typedef struct tbSceneRepeat {
  const tbJson* node;
  int count[3];
  double spacing[3], jitter;
} tbSceneRepeat;

typedef struct tbSceneLoadKey {
  const tbJson* node;
  double t, force[3], torque[3];
} tbSceneLoadKey;

typedef struct tbSceneLoad {
  const tbJson* node;
  double force[3], torque[3];
  tbSceneList keys; // tbSceneLoadKey
} tbSceneLoad;

typedef struct tbSceneBody {
  const tbJson* node;
  const char *name, *material;
  tbSceneShape* shape;
  tbSceneList shapes; // tbSceneShape
  double mass, density, inertia[6], centre[3], restitution;
  int inertia_count;
  tbScenePose pose;
  double velocity[3], angular_velocity[3];
  tbSceneFriction* friction;
  bool fixed, bullet;
  int64_t category, mask;
  tbSceneMotion* kinematic;
  tbSceneLoad* load;
  tbSceneRepeat* repeat;
} tbSceneBody;

typedef struct tbSceneMotor {
  const tbJson* node;
  double speed, force;
  tbSceneList keys; // tbSceneJointKey
} tbSceneMotor;

typedef struct tbSceneJointKey {
  const tbJson* node;
  double t, value;
} tbSceneJointKey;

typedef struct tbSceneEffort {
  const tbJson* node;
  double force;
  tbSceneList keys; // tbSceneJointKey
} tbSceneEffort;

typedef struct tbSceneServo {
  const tbJson* node;
  double target, stiffness, damping, force;
  tbSceneList keys; // tbSceneJointKey
} tbSceneServo;

typedef struct tbSceneIgnore {
  const tbJson* node;
  const char *a, *b;
} tbSceneIgnore;

typedef struct tbSceneJoint {
  const tbJson* node;
  const char* name;
  int type; // tbJointType
  const char *a, *b;
  double anchor[3], anchor_b[3], axis[3], limits[2], limits_deg[2], friction, armature, compliance, damping;
  tbSceneMotor* motor;
  tbSceneServo* servo;
  tbSceneEffort* effort;
  bool collide;
} tbSceneJoint;

// A mesh by rule: those of the numbers that its kind has.
typedef struct tbSceneGrid {
  const tbJson* node;
  double size[3], radius, length, ring, tube, inner, outer, height;
  int cells[3], tets;
} tbSceneGrid;

typedef struct tbSceneMesh { // one of these
  const tbJson* node;
  const char* file;
  tbSceneGrid *box, *sphere, *cylinder, *rod, *torus, *ring, *grid, *tube;
  int refine;
} tbSceneMesh;

typedef struct tbSceneDamping {
  const tbJson* node;
  double mass, stiffness;
} tbSceneDamping;

// Nodes by place or by number.
typedef struct tbSceneNodes {
  tbScenePoints box; // low and high corner, world, at the start
  tbSceneIndices vertices;
} tbSceneNodes;

typedef struct tbScenePin {
  const tbJson* node;
  tbSceneNodes nodes;
  tbSceneMotion own; // what the pin itself says of its motion
  tbSceneMotion *kinematic, *motion;
} tbScenePin;

typedef struct tbSceneAttachment {
  const tbJson* node;
  const char* body;
  tbSceneNodes nodes;
} tbSceneAttachment;

typedef struct tbSceneNodeSpring {
  const tbJson* node;
  tbSceneIndices vertices;
  double stiffness, length;
} tbSceneNodeSpring;

typedef struct tbSceneDeformable { // a soft body, a cloth or a reduced body
  const tbJson* node;
  const char *name, *material;
  tbSceneMesh* mesh;
  tbScenePose pose;
  double scale[3], velocity[3], angular_velocity[3];
  tbSceneDamping damping;
  tbSceneFriction* friction;
  tbSceneList pins;    // tbScenePin
  tbSceneList attach;  // tbSceneAttachment
  tbSceneList springs; // tbSceneNodeSpring
  bool self_contact;
  int64_t category, mask;
  tbSceneLoad* load;
  tbSceneRepeat* repeat;
  // soft
  int model, mass; // tbElasticModel; 0: lumped, 1: consistent
  double young, poisson, density;
  // reduced
  int modes, basis; // tbReducedBasis
  // cloth
  double area_density, stretch, shear, bend, strain_limit, limit_stiffness, thickness, air_damping, warp[3];
  int bending; // tbBending
} tbSceneDeformable;

typedef struct tbSceneAnimatedFrame {
  const tbJson* node;
  double t;
  tbScenePoints vertices;
  const char* file;
} tbSceneAnimatedFrame;

typedef struct tbScenePointCache {
  const tbJson* node;
  const char* file;
  double start, fps;
} tbScenePointCache;

typedef struct tbSceneAnimated {
  const tbJson* node;
  const char *name, *material;
  tbSceneMesh* mesh;
  tbSceneList frames; // tbSceneAnimatedFrame
  tbScenePointCache* cache;
  double scale[3], thickness;
  tbScenePose pose;
  tbSceneMotion* kinematic;
  tbSceneFriction* friction;
  int64_t category, mask;
} tbSceneAnimated;

typedef struct tbSceneFile {
  const tbJson* node;
  int version, threads;
  const char* name;
  double gravity[3], dt, time;
  int64_t seed;
  tbSceneScheme scheme;
  tbSceneSolver solver;
  tbSceneContact contact;
  tbSceneList materials; // tbSceneMaterial
  tbSceneList pairs;     // tbScenePair
  tbSceneList bodies;    // tbSceneBody
  tbSceneList joints;    // tbSceneJoint
  tbSceneList ignore;    // tbSceneIgnore
  tbSceneList soft;      // tbSceneDeformable
  tbSceneList cloth;     // tbSceneDeformable
  tbSceneList reduced;   // tbSceneDeformable
  tbSceneList animated;  // tbSceneAnimated
} tbSceneFile;

#endif
