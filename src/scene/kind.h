// SPDX-License-Identifier: Apache-2.0
// What a world asks of a kind of body. A kind is one row: its own files under src/kind/ and a line in the
// table there (src/kind/table.c). Nothing else asks what a body is made of; how it moves, freely or as
// prescribed, is tbBody.motion.
#ifndef TB_SCENE_KIND_H
#define TB_SCENE_KIND_H

#include "scene/world.h"

struct tbBodyStep;
struct tbBuilder;
struct tbCodec;
struct tbContactSide;
struct tbGrip;
struct tbMovingSurface;
struct tbNodePotential;
struct tbPdStep;
struct tbPlace;
struct tbProblem;
struct tbStepReport;
struct tbStepView;
struct tbUnconstrained;

// A body that is made of nodes, to look at.
typedef struct tbNodes {
  int count;
  const tbVec3 *x, *v; // (count)
  int ntriangle;
  const int (*triangle)[3]; // its surface, counter-clockwise seen from outside      (ntriangle)
  int nelement, corners;    // of an element: 3, triangles, or 4, tetrahedra
  const int* element;       // (corners · nelement)
} tbNodes;

// The first of what a step changes (tbKind.changes): forces that were applied for it, and impulses of it;
// state follows.
enum { TB_CHANGES_FORCE, TB_CHANGES_IMPULSE };

struct tbKind {
  const char* name;
  bool named_by_motion; // in files a body of this kind is called "dynamic", "fixed" or "kinematic"
  // It moves with a frame, tbBody.x and q, in which joints and nodes of other bodies are fixed, and shapes
  // unless it has a surface of its own.
  bool framed;
  bool sheet;          // its surface has two sides and no inside
  tbBodyMotion motion; // of all bodies of this kind, unless they are named by it

  // The state of a body. What is null does nothing.
  int (*dofs)(const tbBody* body);               // degrees of freedom of one that is dynamic
  void (*release)(tbContext* ctx, tbBody* body); // what tbBody.own points to
  void (*place)(tbWorld* world, int body, const tbBodyState* state);
  tbEnergy (*energy)(const tbWorld* world, const tbBody* body);  // of one that is dynamic
  tbVec3 (*angular_momentum)(const tbBody* body);                // about the origin, of one that is dynamic
  uint64_t (*hash)(uint64_t hash, const tbBody* body);           // of its state beside x, q, v, w
  void (*code)(struct tbCodec* codec, tbWorld* world, int body); // the same as bytes; reading makes it
  void (*pull)(tbWorld* world, int body, const struct tbGrip* grip, double dt); // for the next step
  tbNodes (*nodes)(const tbBody* body);
  void (*set_nodes)(tbWorld* world, int body, const tbVec3* x, const tbVec3* v);
  // Impulses of the last step on nodes that are attached, from which schemes start; null: it has none.
  tbVec3* (*pulls)(tbBody* body, int* count);
  // Nodes that are held from now on, let go, and pushed in the next step (tribo/change.h); null: it has none
  // that could be. Arguments have been checked.
  tbStatus (*pin)(tbContext* ctx, tbWorld* world, int body, const tbPinDef* pin);
  void (*unpin)(tbContext* ctx, tbWorld* world, int body, const int* nodes, int count);
  void (*push)(tbBody* body, const tbVec3* forces);
  // Makes of a body that was copied one with forces on its nodes of its own; all else stays shared.
  tbStatus (*own_forces)(tbArena* arena, tbBody* body);
  double* (*modes)(const tbBody* body, int* count); // coordinates of its deformation; null: it has none
  const double* (*mode_rates)(const tbBody* body);  // and their velocities
  void (*set_modes)(tbWorld* world, int body, const double* q, const double* qd); // qd null: at rest
  tbMotion* (*motion_of)(tbBody* body, int k); // the k-th it has beside tbBody.key; null: no more
  // Another body goes: what is attached to it is let go, and places behind it, this body's too, move up.
  void (*lose)(tbContext* ctx, tbWorld* world, int body, int gone);
  bool (*doubt)(const tbBody* body, char* what, size_t room); // what is doubtful about it; false: nothing

  // Its motion over a step if nothing touches it (kind/step.h): of a frame; or degrees of freedom that are
  // solved for, with memory for that from the arena and what is kept from step to step, then the values.
  void (*unconstrained)(const tbWorld* world, const tbBody* body, double dt, struct tbUnconstrained* out);
  tbStatus (*begin)(tbContext* ctx, tbArena* arena, tbBodyFactor* kept, const tbBody* body,
                    struct tbBodyStep* out);
  tbStatus (*prepare)(tbContext* ctx, const tbWorld* world, const tbBody* body, double dt, double tolerance,
                      struct tbBodyStep* step);
  // The same in projective form (pd/body.h): both at once, for `out` to be iterated with. solved: a solver is
  // to answer problems with its block, which lends its factor to them.
  tbStatus (*project)(tbContext* ctx, tbArena* arena, tbBodyFactor* kept, const tbWorld* world,
                      const tbBody* body, double dt, bool solved, struct tbBodyStep* step,
                      struct tbPdStep* out);

  // What a step changes of it beside tbBody, array by array; null: no more. For steps of several substeps.
  double* (*changes)(const tbBody* body, int k, int* count);

  // The same as a potential of its nodes (kind/step.h), for a scheme to minimise; and the matrix at nodes x
  // that are reached with velocities v, with free velocities for which the equations of the step without
  // contacts leave `miss` at v.
  tbStatus (*potential)(tbArena* arena, const tbBodyFactor* kept, const tbWorld* world, const tbBody* body,
                        double dt, struct tbNodePotential* out);
  // exact: with elasticity's own derivative, which may be TB_ERROR_NUMERIC; else with a positive part of it.
  tbStatus (*linearise)(tbContext* ctx, const tbBody* body, double dt, const tbVec3* x, const tbVec3* v,
                        const tbVec3* miss, bool exact, struct tbBodyStep* step);

  // The same as point masses, and its elements as rows with compliance, linear about the nodes that
  // velocities V lead to (null: where they are); and these rows in a problem, with a warm start for each.
  tbStatus (*split)(tbContext* ctx, tbArena* arena, const tbWorld* world, const tbBody* body, double dt,
                    const tbVec3* V, struct tbBodyStep* out);
  tbStatus (*elements)(tbContext* ctx, const struct tbStepView* view, int body, struct tbBuilder* builder,
                       tbArray* guess);

  // In a problem: its block of the metric and free velocities; the columns of a contact; of rows on a frame's
  // v and ω; and v and ω of what was found.
  void (*metric)(const struct tbStepView* view, int body, struct tbBuilder* builder, int* dof);
  void (*contact)(const struct tbStepView* view, int body, const struct tbContactSide* side, int dof,
                  struct tbBuilder* builder);
  void (*frame_rows)(int rows, const double* jac, int dof, struct tbBuilder* builder);
  void (*frame_velocity)(const double* velocity, tbVec3* v, tbVec3* w);

  // Joints on a body that deforms sit in its material; null: none do. The point of it that is closest to one
  // of the world; the frame of the material there, with how it moves and turns unless v is null; and the
  // columns of rows on v and ω of the body's frame, about its centre of mass, at that point.
  void (*material_point)(const tbBody* body, tbVec3 x, tbMaterialPoint* out);
  tbTransform (*material_frame)(const tbBody* body, const tbMaterialPoint* point, tbVec3* v, tbVec3* w);
  void (*material_rows)(const tbBody* body, const tbMaterialPoint* point, int rows, const double* jac,
                        int dof, struct tbBuilder* builder);

  // Bodies it is attached to: the k-th (−1: the world), false: no more. Their rows, with a warm start for
  // each, and what impulses were found: returns how many contacts of the problem, from `first` on, were its
  // own.
  bool (*attached)(const tbBody* body, int k, int* other);
  tbStatus (*attach)(tbContext* ctx, const struct tbStepView* view, int body, struct tbBuilder* builder,
                     tbArray* guess);
  int (*detach)(const tbWorld* world, tbBody* body, const struct tbProblem* problem, const double* lambda,
                int first);

  // To the end of the step, `body` being the world's or a copy of its frame; and what is to be said of one
  // that went only a part of it.
  void (*advance)(const struct tbStepView* view, int index, tbBody* body);
  void (*note)(const struct tbStepView* view, int index, struct tbStepReport* report);

  // A surface of its own (null: its shapes are its surface): where it starts; where its vertices are expected
  // before anything is solved, and where they end; and whether an impulse on some of them can move it.
  tbStatus (*surface)(tbArena* arena, const tbBody* body, struct tbMovingSurface* out);
  void (*expect)(const struct tbStepView* view, int body, tbVec3* end);
  void (*move_surface)(const struct tbStepView* view, int body, tbVec3* end);
  bool (*moves_at)(const tbBody* body, const int* vertex, int count);
  // A direction of the material, given in the frame of its mesh, where it is now at a point of the surface;
  // null: it turns with the body's frame.
  tbVec3 (*direction)(const tbBody* body, const int* vertex, const double* weight, int count,
                      tbVec3 direction);
  // Where a point of its surface was at rest, in that frame; with `direction`.
  tbVec3 (*at_rest)(const tbBody* body, const int* vertex, const double* weight, int count);
  // How fast it goes, in the world; with `direction`.
  tbVec3 (*speed_at)(const tbBody* body, const int* vertex, const double* weight, int count);
};

// The change of velocity, over a step, of a point at p with velocity u that is held at a target (grip.c).
#define TB_GRIP_FREQUENCY 15 // rad/s
tbVec3 tb_grip_kick(tbVec3 p, tbVec3 u, tbVec3 target, double dt);

// The nodes of a body that has some.
static inline tbNodes tb_nodes_of(const tbBody* body)
{
  return body->kind->nodes ? body->kind->nodes(body) : (tbNodes){0};
}

// The first body with a surface of its own; −1: there is none.
int tb_first_deforming(const tbWorld* world);

#endif
