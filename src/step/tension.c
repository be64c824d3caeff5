// The rows of a joint turn with its bodies, and a taut joint pulls a body back into line as a spring would:
// a force f at an arm r has the stiffness f r against turning. Rows are those of the start of the step, so
// this spring is explicit, and a light link that holds a heavy load flutters and tears once h² f r exceeds a
// few times its inertia. As much inertia is added to the body as keeps h² Σ f r ≤ I, with the forces of the
// last step (Andrews, Teichmann and Kövecses 2017 damp geometric stiffness in the same way):
//
//   (I + G) ω⁺ = I ω_free + G ω + torques of the problem,    G = max(0, h² Σ f r − I)
//
// A body at rest feels nothing of G, so static loads are exact, and so is every motion that the step is short
// enough to follow, where G is zero.
#include "step/tension.h"

static double pull_of(const tbJoint* j) // impulse between the anchors in the last step
{
  const double* p = j->impulse;
  switch (j->def.type) {
  case TB_JOINT_DISTANCE: return fabs(p[0]) + fabs(p[1]);
  case TB_JOINT_SLIDER: return sqrt(p[0] * p[0] + p[1] * p[1]);
  default: return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  }
}

void tb_tension_inertia(const tbWorld* w, double dt, double* out)
{
  for (size_t i = 0; i < w->body.count; i++) out[i] = 0;
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    double pull = dt * pull_of(j);
    if (j->def.a.index >= 0) out[j->def.a.index] += pull * tb_norm3(j->anchor_a);
    if (j->def.b.index >= 0) out[j->def.b.index] += pull * tb_norm3(j->anchor_b);
  }
  for (size_t i = 0; i < w->body.count; i++) {
    tbMat3 I = tb_bodies(w)[i].inertia;
    out[i] = fmax(0, out[i] - fmax(I.m[0][0], fmax(I.m[1][1], I.m[2][2])));
  }
}

tbVec3 tb_tension_free(const tbBody* b, const tbFree* f, double added)
{
  tbMat3 R = tb_quat_mat3(f->at.q), I = tb_mat3_mul(R, tb_mat3_mult(b->inertia, R)), heavy = I;
  for (int i = 0; i < 3; i++) heavy.m[i][i] += added;
  tbVec3 change = tb_mat3_mulv(I, tb_sub3(f->w, b->w));
  return tb_add3(b->w, tb_mat3_mulv(tb_mat3_inverse(heavy), change));
}
