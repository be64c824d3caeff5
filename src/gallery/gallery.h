// SPDX-License-Identifier: Apache-2.0
// Behind the gallery (tribo/io.h): a pen that writes scene files, and what is written with it.
//
//   tb_pen_start(pen, 0.01, 2);                                        dt and time, s
//   tb_pen_material(pen, &(tbPenMaterial){"wood", 700, 0.5, 0});
//   tb_pen_body(pen, &(tbPenBody){.name = "block", .shape = tb_pen_box(1, 1, 1), .material = "wood"});
//   tb_pen_joint(pen, &(tbPenJoint){.type = "ball", .b = "block", .anchor = tb_vec3(0, 0, 1)});
//
// Things of one kind follow each other: materials, pairs, bodies, soft, cloth, joints. Errors are remembered,
// and reported when the scene is finished. Zeros of the structures below stand for what is not said.
#ifndef TB_GALLERY_GALLERY_H
#define TB_GALLERY_GALLERY_H

#include "base/json_write.h"
#include "tribo/gallery.h"

enum { TB_PEN_FILES = 4 };

typedef struct tbPen {
  tbContext* ctx;
  const tbGalleryScene* scene;
  const double* value; // of its parameters
  const char* folder;  // where meshes/ goes; null: meshes are not written
  tbStatus status;     // of the meshes
  tbJsonWriter json;
  const char* section; // the array or object that is open
  char name[64];
  char file[TB_PEN_FILES][80]; // of meshes made so far
  int files;
} tbPen;

typedef struct tbPenShape {
  const char* type;
  tbVec3 size;           // box
  double radius, length; // round ones
  tbVec3 normal;         // plane
  const tbVec3* vertex;  // convex
  int vertices;
  const char* file; // mesh
  tbVec3 position;
  tbQuat orientation;
} tbPenShape;

typedef struct tbPenBody {
  const char *name, *material;
  tbPenShape shape;
  const tbPenShape* shapes; // or several
  int shape_count;
  double mass, density;
  tbVec3 position, velocity, angular_velocity;
  tbQuat orientation;
  bool fixed, kinematic; // kinematic: with those velocities
  int count[3];          // copies
  tbVec3 spacing;
  double jitter;
} tbPenBody;

typedef struct tbPenMaterial {
  const char* name;
  double density, friction, restitution, rolling;
} tbPenMaterial;

typedef struct tbPenGrooves { // a material with matchsticks along `structure`
  const char* name;
  double density, mu, mu_t, mu_b;
  tbVec3 structure;
} tbPenGrooves;

typedef struct tbPenPair {
  const char *a, *b;
  double friction, restitution, rolling;
} tbPenPair;

typedef struct tbPenJoint {
  const char *type, *a, *b; // null: the world
  tbVec3 anchor, axis;
  double low, high; // limits; degrees or metres
  double speed, force;
  const char* name;
  double stiffness, damping, most; // of a servo; most: its force, 0: whatever it takes
  const double (*keys)[2];         // of its target: times and targets; none: 0
  int key_count;
  bool collide;
} tbPenJoint;

// A mesh by rule, or a file, of a soft body or a cloth.
typedef struct tbPenMesh {
  const char* kind; // the key of the scene format
  struct {
    const char* key;
    double value;
  } number[3];
  double size[3];
  int sizes, cells[3], cell_counts;
  const char* file;
} tbPenMesh;

// Nodes in a box that are held, or fixed to a body.
typedef struct tbPenPin {
  tbVec3 low, high;
  tbVec3 velocity, angular_velocity;
  const char* body; // null: a pin
} tbPenPin;

typedef struct tbPenSoft {
  const char *name, *material;
  tbPenMesh mesh;
  const char* model;                                                 // soft
  double young, poisson;                                             // soft, reduced
  int modes;                                                         // reduced
  const char* basis;                                                 // reduced
  double area_density, stretch, shear, bend, thickness, air_damping; // cloth
  double damping;
  tbVec3 warp; // cloth
  tbVec3 position, velocity;
  tbQuat orientation;
  const tbPenPin* pins;
  int pin_count;
  int count[3]; // copies
  tbVec3 spacing;
  double jitter;
} tbPenSoft;

double tb_pen_value(const tbPen* pen, const char* parameter);
int tb_pen_count(const tbPen* pen, const char* parameter);          // a whole one
const char* tb_pen_name(tbPen* pen, const char* format, int index); // good until the next

void tb_pen_start(tbPen* pen, double dt, double time);
void tb_pen_scheme(tbPen* pen, const char* name, const char* key, int value);
// pd with the parameter `iterations`; steps without crossings, which a solver finishes
void tb_pen_certified(tbPen* pen);
void tb_pen_barriers(tbPen* pen); // ipc, its steps ended with exact friction
void tb_pen_material(tbPen* pen, const tbPenMaterial* material);
void tb_pen_grooves(tbPen* pen, const tbPenGrooves* material);
void tb_pen_pair(tbPen* pen, const tbPenPair* pair);
void tb_pen_body(tbPen* pen, const tbPenBody* body);
void tb_pen_ground(tbPen* pen, const char* material); // the plane z = 0
void tb_pen_joint(tbPen* pen, const tbPenJoint* joint);

// pen_soft.c
void tb_pen_soft(tbPen* pen, const tbPenSoft* soft);
void tb_pen_cloth(tbPen* pen, const tbPenSoft* cloth);
void tb_pen_reduced(tbPen* pen, const tbPenSoft* reduced);
tbPenMesh tb_pen_soft_box(tbVec3 size, int nx, int ny, int nz);
tbPenMesh tb_pen_soft_sphere(double radius, int cells);
tbPenMesh tb_pen_soft_torus(double ring, double tube, int across, int around);
tbPenMesh tb_pen_grid(double width, double height, int across, int along);

// Parts of a body, for programs that write one.
void tb_pen_open(tbPen* pen, const char* section); // its array, or the object of materials
void tb_pen_put3(tbPen* pen, const char* key, tbVec3 v);
void tb_pen_put_nonzero(tbPen* pen, const char* key, double value);
void tb_pen_put_nonzero3(tbPen* pen, const char* key, tbVec3 v);
void tb_pen_put_pose(tbPen* pen, tbVec3 x, tbQuat q);
void tb_pen_put_repeat(tbPen* pen, const int count[3], tbVec3 spacing, double jitter); // unless count is 0

tbPenShape tb_pen_sphere(double radius);
tbPenShape tb_pen_box(double x, double y, double z);
tbPenShape tb_pen_capsule(double radius, double length);
tbPenShape tb_pen_cylinder(double radius, double length);
tbPenShape tb_pen_convex(const tbVec3* vertex, int vertices);
// Turned by an angle, rad, about an axis.
tbQuat tb_pen_about_x(double angle);
tbQuat tb_pen_about_y(double angle);
tbQuat tb_pen_about_z(double angle);
// A capsule from cap centre to cap centre.
tbPenShape tb_pen_rod(double radius, tbVec3 from, tbVec3 to);
tbQuat tb_pen_along(tbVec3 direction); // takes the z axis there

// A thick floor and four walls around [−half, half]², all one fixed body, for what is dropped.
void tb_pen_bin(tbPen* pen, const char* material, double half, double height);

// Meshes (mesh.c), written as meshes/NAME when the pen has a folder. The shape keeps the name.
//
// A wheel about the z axis between z = ±width/2, with teeth between two radii.
tbPenShape tb_pen_gear(tbPen* pen, const char* name, int teeth, double inner, double outer, double width);
// A closed polygon (radius, height) turned about the z axis; counter-clockwise with the radius to the right.
tbPenShape tb_pen_turned(tbPen* pen, const char* name, const double (*profile)[2], int corners, int sectors);
// A strip between y = ±width/2 along a line of points (x, z), of so many cells across.
tbPenMesh tb_pen_strip(tbPen* pen, const char* name, const double (*line)[2], int points, double width,
                       int across);

// stacks.c
void tb_gallery_stack(tbPen* pen);
void tb_gallery_heavy_top(tbPen* pen);
void tb_gallery_growing_stack(tbPen* pen);
void tb_gallery_pyramid(tbPen* pen);
void tb_gallery_wall(tbPen* pen);
void tb_gallery_kaplas(tbPen* pen);
// masonry.c
void tb_gallery_arch(tbPen* pen);
void tb_gallery_cards(tbPen* pen);
void tb_gallery_dominoes(tbPen* pen);
// chains.c
void tb_gallery_cradle(tbPen* pen);
void tb_gallery_chain(tbPen* pen);
void tb_gallery_chain_links(tbPen* pen);
void tb_gallery_wrecking_ball(tbPen* pen);
void tb_gallery_capstan(tbPen* pen);
// machines.c
void tb_gallery_seesaw(tbPen* pen);
void tb_gallery_door(tbPen* pen);
void tb_gallery_conveyor(tbPen* pen);
void tb_gallery_gears(tbPen* pen);
// robots.c
void tb_gallery_gripper(tbPen* pen);
void tb_gallery_tyres(tbPen* pen);
void tb_gallery_hopper(tbPen* pen);
void tb_gallery_grooved_gripper(tbPen* pen);
void tb_gallery_arm(tbPen* pen);
void tb_gallery_quadruped(tbPen* pen);
// motion.c
void tb_gallery_incline(tbPen* pen);
void tb_gallery_incline_set(tbPen* pen);
void tb_gallery_painleve(tbPen* pen);
void tb_gallery_top(tbPen* pen);
void tb_gallery_tippe_top(tbPen* pen);
void tb_gallery_billiards(tbPen* pen);
// heaps.c
void tb_gallery_pile(tbPen* pen);
void tb_gallery_heap(tbPen* pen);
void tb_gallery_junkyard(tbPen* pen);
void tb_gallery_jam(tbPen* pen);
void tb_gallery_funnel(tbPen* pen);
// soft.c
void tb_gallery_cantilever(tbPen* pen);
void tb_gallery_springboard(tbPen* pen);
void tb_gallery_press(tbPen* pen);
void tb_gallery_jelly(tbPen* pen);
void tb_gallery_soft_incline(tbPen* pen);
void tb_gallery_soft_pyramid(tbPen* pen);
void tb_gallery_soft_pile(tbPen* pen);
void tb_gallery_bunnies(tbPen* pen);
void tb_gallery_rings(tbPen* pen);
// rollers.c
void tb_gallery_bearing(tbPen* pen);
void tb_gallery_armadillo(tbPen* pen);
void tb_gallery_rollers(tbPen* pen);
// squeeze.c
void tb_gallery_mangle(tbPen* pen);
void tb_gallery_squeeze_out(tbPen* pen);
// cloth.c
void tb_gallery_cloth_on_sphere(tbPen* pen);
void tb_gallery_hammock(tbPen* pen);
void tb_gallery_trampoline(tbPen* pen);
void tb_gallery_cloth_capstan(tbPen* pen);
void tb_gallery_mat_twist(tbPen* pen);
void tb_gallery_turning_ball(tbPen* pen);
void tb_gallery_ribbon(tbPen* pen);

#endif
