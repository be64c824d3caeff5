// Positions follow the velocities that are published, but for what the report names.
//
//   moreau                                   x⁺ = x + h/2 (v + v⁺)
//   the others, in contact or in joints      x⁺ = x + h v⁺
//   the others, in flight                    x⁺ = x + h v⁺ − h² a/2
//   the others, struck at the moment t       x⁺ = x_t + r v⁺, in flight − r² a/2, with r = h − t and x_t = x
//   + t v,
//                                            in flight + t² a/2
//   nodes of deformable bodies               x⁺ = x + h v⁺
#include "step/soft_worlds.h"
#include "step/tumbles.h"

typedef struct {
  tbVec3 x, v, x1, v1, a; // before and after, and the acceleration of flight
  double h;
} Path;

// How far x⁺ is from where it should be, when struck at t. flew, flies: before and after that.
static tbVec3 struck_miss(const Path* p, double t, bool flew, bool flies)
{
  double r = p->h - t;
  tbVec3 x = tb_madd3(tb_madd3(p->x, t, p->v), r, p->v1);
  if (flew) x = tb_madd3(x, 0.5 * t * t, p->a);
  if (flies) x = tb_madd3(x, -0.5 * r * r, p->a);
  return tb_sub3(p->x1, x);
}

// The same at the moment that suits best: three equations for the one number that is not published.
static double best_struck_miss(const Path* p, bool flew, bool flies)
{
  double t = 0;
  for (int k = 0; k < 30; k++) {
    tbVec3 miss = struck_miss(p, t, flew, flies), slope = tb_sub3(p->v, p->v1);
    if (flew) slope = tb_madd3(slope, t, p->a);
    if (flies) slope = tb_madd3(slope, p->h - t, p->a);
    double size = tb_dot3(slope, slope);
    if (size > 0) t = fmin(fmax(t + tb_dot3(miss, slope) / size, 0), p->h);
  }
  return tb_norm3(struck_miss(p, t, flew, flies));
}

static double path_miss(const Path* p, const char* scheme, bool pushed, bool bounces)
{
  if (scheme[0] == 'm') return tb_distance3(p->x1, tb_madd3(p->x, 0.5 * p->h, tb_add3(p->v, p->v1)));
  double miss = tb_norm3(struck_miss(p, 0, false, !pushed));
  for (int k = 0; bounces && k < 4; k++) miss = fmin(miss, best_struck_miss(p, k & 1, k & 2));
  return miss;
}

static bool is_pushed(const tbWorld* w, int body)
{
  if (is_held(w, body)) return true;
  for (int i = 0; i < tb_world_contact_count(w); i++) {
    tbContactView c = tb_world_contact(w, i);
    if ((c.a.index == body || c.b.index == body) && tb_norm3(contact_impulse(&c)) > 0) return true;
  }
  for (size_t i = 0; i < w->joint.count; i++)
    if (tb_joints(w)[i].def.a.index == body || tb_joints(w)[i].def.b.index == body) return true;
  return false;
}

// Bodies that are not where their velocities take them: no more of them, and no farther off, than is
// reported.
static void check_paths(const Stage* s, const Before* before, bool elastic, const char* what)
{
  const tbWorld* w = s->world;
  const tbStepChanges* c = &s->report.changes;
  int astray = 0;
  for (int i = 0; i < before->count; i++) {
    const tbBody *b = &before->body[i], *now = &tb_bodies(w)[i];
    if (b->deformable >= 0) continue;
    bool pushed = is_pushed(w, i) || b->kind != TB_BODY_DYNAMIC;
    Path p = {b->x, b->v, now->x, now->v, w->gravity, s->step.dt};
    if (b->kind != TB_BODY_DYNAMIC) p.v = p.v1;
    double miss = path_miss(&p, s->step.scheme, pushed, elastic && pushed);
    double rounding = 1e-12 * (tb_norm3(p.x1) + 1);
    astray += miss > rounding + c->projected;
    if (!(miss <= rounding + c->projected + c->short_of))
      test_failed(__FILE__, __LINE__, "%s, %s: body %d is %g m from where %g m/s take it; reported %g and %g",
                  what, s->step.scheme, i, miss, tb_norm3(p.v1), c->short_of, c->projected);
  }
  if (astray > c->stopped)
    test_failed(__FILE__, __LINE__, "%s, %s: %d bodies astray, %d reported", what, s->step.scheme, astray,
                c->stopped);
}

TEST(rigid_bodies_are_where_their_velocities_take_them)
{
  double projected = 0;
  for (int k = 0; k < tb_scheme_count(); k++)
    for (int seed = 0; seed < 12; seed++) {
      Stage s = tumble(seed, tb_scheme_at(k)->name);
      if (seed % 3 == 0)
        stage_join(&s, tb_default_joint_def(TB_JOINT_BALL), (tbBodyId){3}, (tbBodyId){4}, tb_vec3(0, 0, 0.4));
      for (int i = 0; i < 25; i++) {
        Before before = tumble_before(s.world);
        stage_run(&s, 1);
        check_paths(&s, &before, seed % 2, "tumble");
        if (s.step.stabilization == TB_STABILIZE_PROJECTION)
          projected = fmax(projected, s.report.changes.projected);
        else CHECK(s.report.changes.projected == 0 && s.report.changes.turned == 0);
      }
      stage_close(&s);
    }

  CHECK(projected > 1e-4 && projected < 0.5);
}

// A solver that is stopped on its way leaves velocities that carry bodies into each other: there they go.
TEST(bodies_go_where_unconverged_velocities_take_them)
{
  int missed = 0;
  for (int seed = 0; seed < 6; seed++) {
    Stage s = stage_open(0.5, 0);
    s.step.scheme = seed % 2 ? "implicit" : "semi-implicit";
    s.step.solver.solver = "bgs", s.step.solver.max_iterations = 2, s.step.dt = 1.0 / 60;
    stage_floor(&s, 0, 0);
    for (int i = 0; i < 6; i++) // a stack of light boxes under a heavy one
      stage_add(&s, tb_shape_box(tb_vec3(0.25, 0.25, 0.25)), i == 5 ? 1000 : 1,
                tb_vec3(0.01 * seed * (i % 2), 0, 0.125 + 0.25 * i), tb_quat_identity());
    for (int i = 0; i < 120; i++) {
      Before before = tumble_before(s.world);
      stage_run(&s, 1);
      check_paths(&s, &before, false, "stack");
    }
    missed += s.unconverged;
    stage_close(&s);
  }
  CHECK(missed > 100);
}

TEST(nodes_are_where_their_velocities_take_them)
{
  for (uint64_t seed = 10; seed <= 15; seed++) {
    Stage s = {.ctx = tb_default_context()};
    CHECK_OK(&s.ctx, soft_storm(&s.ctx, seed, &s.world, &s.step));
    for (int i = 0; i < 10; i++) {
      Before before = tumble_before(s.world);
      const tbDeformable* d = tb_deformables(s.world);
      tbVec3 old = d->x[d->fem->nnode - 1];
      stage_run(&s, 1);
      tbVec3 rule = tb_madd3(old, s.step.dt, d->v[d->fem->nnode - 1]);
      CHECK_NEAR(tb_distance3(d->x[d->fem->nnode - 1], rule), 0, 1e-15);
      check_paths(&s, &before, true, "storm");
    }
    tb_world_free(&s.ctx, s.world);
  }
}
