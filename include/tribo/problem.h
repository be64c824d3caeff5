// SPDX-License-Identifier: Apache-2.0
// The contact problem: one step's frictional contact, frozen.
//
//   A v = A v_free + Jᵀ λ          dynamics, generalised velocities v (impulse form)
//   u   = J v + b + R λ            contact-space velocity
//   law(u_k, λ_k)                  for every contact k
//
// Eliminating v gives  u = W λ + q  with the Delassus operator  W = J A⁻¹ Jᵀ + R  and  q = J v_free + b.
// A problem holds either A and J, or W itself (as FCLIB's local files do; W may then be unsymmetric).
//
// Conventions. The normal points from body A to body B; u is the velocity of B relative to A in the frame
// [n t b]; λ acts + on B and − on A. SI units. Rows of a contact: normal, tangents t and b, torsion, rolling.
#ifndef TRIBO_PROBLEM_H
#define TRIBO_PROBLEM_H

#include "tribo/limits.h"
#include "tribo/base.h"

TB_API_BEGIN

// What a contact's impulse may do. The friction laws share one shape: λ_n ≥ 0 and λ_F ∈ λ_n·F for a convex
// set F around 0, u_n ≥ 0 ⟂ λ_n ≥ 0, and λ_F dissipates the most power that F allows. A friction tensor alone
// says by itself which way λ_F points: λ_F = −λ_n L u_F/‖u_F‖ while it slides.
typedef enum tbLaw {
  TB_LAW_BILATERAL, // any λ, u = 0: joints, bilateral constraints           rows 1…6   no parameters
  TB_LAW_NONNEG,    // 0 ≤ λ ⟂ u ≥ 0, row by row: frictionless, limits       rows 1…6   no parameters
  TB_LAW_BOX,       // lo ≤ λ ≤ hi, row by row: motors                       rows 1…6   lo…, hi…
  TB_LAW_COULOMB,   // F: disc (interval in 2-D) of radius μ                 rows 2, 3  μ
  TB_LAW_ELLIPTIC,  // F: ellipse with half axes μ_t, μ_b                    rows 3     μ_t, μ_b
  TB_LAW_CONTENSOU, // F: ellipsoid over (t, b, torsion)                     rows 4     μ_t, μ_b, μ_τ
  TB_LAW_ROLLING,   // F: disc μ × interval μ_τ × disc μ_r                   rows 4     μ, μ_τ
                    //                                                       rows 5     μ, μ_r  (n t b r s)
                    //                                                       rows 6     μ, μ_τ, μ_r
  TB_LAW_POLYHEDRAL,  // F: regular k-gon with corners at μ(cos, sin)(2πi/k)   rows 3     μ, k
  TB_LAW_DIRECTIONAL, // F: box [−μ_i⁻, μ_i⁺] per friction row: boxed friction rows 2…6   μ₁⁻, μ₁⁺, μ₂⁻, …
                      //    and texture friction
  TB_LAW_POLYGON, // F: hull of μ_i (cos, sin)(2πi/k): texture friction   rows 3     k, μ₀ … μ₁₅
                  //    k even, 4 … 16; the rest of the μ has no effect
  TB_LAW_TENSOR,  // F: L times the unit disc, L uᵀ·u > 0: friction tensors     rows 3     L, row-major
  TB_LAW_COUNT
} tbLaw;

const char* tb_law_name(tbLaw law);                  // "coulomb", …
const char* tb_law_summary(tbLaw law);               // one line for `tribo list laws`
bool tb_law_from_name(const char* name, tbLaw* out); // false: no such law
int tb_law_params(tbLaw law, int rows); // number of parameters; −1: the law does not take so many rows

// How the friction laws are read. A solver is made for some of these models; the judge can measure each.
typedef enum tbModel {
  TB_MODEL_CONE,         // the law as it stands: non-associated Coulomb friction (NCP)
  TB_MODEL_BOX,          // F replaced by its bounding box in the given tangents (BLCP)
  TB_MODEL_POLYHEDRAL,   // disc or ellipse replaced by a k-gon inscribed in it (LCP)
  TB_MODEL_CCP,          // associated: u_n lifted by sliding, the convex relaxation (CCP)
  TB_MODEL_FRICTIONLESS, // F = {0}
  TB_MODEL_COUNT
} tbModel;

const char* tb_model_name(tbModel model);
bool tb_model_from_name(const char* name, tbModel* out);

// One block of the metric A. Never assume that it is a mass matrix.
typedef enum tbMetricKind {
  TB_METRIC_PARTICLE, // m·I, up to three degrees of freedom: lumped nodes
  TB_METRIC_DENSE,    // dense SPD: rigid bodies (6×6), planar bodies (3×3), reduced bodies
  TB_METRIC_SPARSE,   // sparse SPD M + hB + h²K: finite-element solids, cloth
} tbMetricKind;

typedef struct tbMetricBlock {
  tbMetricKind kind;
  int dof;             // first degree of freedom
  int size;            // number of degrees of freedom
  const double* value; // particle: m (1). dense: A, row-major (size²). sparse: CSR values   kg, kg·m², …
  const int* ptr;      // sparse: CSR row starts, full symmetric pattern (size+1)
  const int* col;      // sparse: CSR columns within the block, increasing
  const double* chol;  // dense: lower Cholesky factor, row-major (size²); computed by tb_builder_finish
  const double* ainv; // dense, of more than 6 and at most 256: A⁻¹ (size²), to solve with; computed with chol
  int unit; // sparse: 3 where rows and columns come in whole triples, as finite elements make them; else 1
  const struct tbCholesky* factor; // sparse: factor of the block, computed by tb_builder_finish; null: too
                                   // large to factor, and solved by conjugate gradients
  const struct tbPacked*
      packed; // sparse of unit 3: its upper half packed for products, made by tb_builder_finish
  const struct tbSelectedInverse* inverse; // sparse: entries of A⁻¹ where the factor has some, made by
                                           // tb_builder_finish where contacts are many; else null
} tbMetricBlock;

// Read-only once built: plain arrays, nothing that points back to a scene.
typedef struct tbProblem {
  const char* name; // for reports; never null

  int ncontact, nrow; // contacts, and their rows in all
  int ndof, nblock;   // of the metric; 0 when W is given
  int ncol;           // column blocks of J

  // contacts
  const int* row_adr;   // first row of contact k                                  (ncontact+1)
  const uint8_t* law;   // tbLaw                                                   (ncontact)
  const int* param_adr; // first parameter of contact k                            (ncontact+1)
  const double* param;  // the laws' parameters                                    (param_adr[ncontact])
  const double* bias;   // b: gap, stabilisation, restitution, moving obstacle; q when W is given (nrow) m/s
  const double* compliance; // R ≥ 0, diagonal                                         (nrow)  m/(s·N·s)

  // metric and free motion
  const tbMetricBlock* block; // in order of their degrees of freedom                  (nblock)
  const int* dof_block;       // the block a degree of freedom belongs to              (ndof)
  const double* v_free;       // velocity after the step if there were no contact      (ndof)  m/s, rad/s

  // Jacobian: per contact a list of column blocks, each inside one metric block
  const int* jac_adr;        // first column block of contact k                        (ncontact+1)
  const int* jac_dof;        // first degree of freedom of a column block              (ncol)
  const int* jac_width;      // degrees of freedom it spans                            (ncol)
  const size_t* jac_val_adr; // first value of a column block                          (ncol+1)
  const double* jac;         // values, row-major rows×width

  // W, when it is given instead of A and J; CSR over rows, columns increasing. Else null.
  const int* W_ptr;    // (nrow+1)
  const int* W_col;    // (W_ptr[nrow])
  const double* W_val; // (W_ptr[nrow])

  struct tbProblemOwner* owner; // memory behind the arrays
} tbProblem;

void tb_problem_free(tbProblem* problem); // takes null

// Building by hand. Add the metric, then the contacts; `finish` checks everything, factors A and gives the
// problem, or a status with a message that names the bad index. A failed call poisons the builder: finish
// then reports the first failure, so calls may be chained unchecked. finish and abandon both free the
// builder.
typedef struct tbBuilder tbBuilder;

tbStatus tb_builder_create(tbContext* ctx, const char* name, tbBuilder** out);

// Each returns the block's first degree of freedom through `dof` (may be null). Arrays are copied.
tbStatus tb_builder_particle(tbBuilder* b, int size, double mass, const double* v_free, int* dof);
tbStatus tb_builder_dense(tbBuilder* b, int size, const double* A, const double* v_free, int* dof);
tbStatus tb_builder_rigid(tbBuilder* b, double mass, const double inertia[9], const double v_free[6],
                          int* dof);
tbStatus tb_builder_sparse(tbBuilder* b, int size, const int* ptr, const int* col, const double* val,
                           const double* v_free, int* dof);

// W given: one CSR matrix over all rows, columns increasing; instead of any metric block.
tbStatus tb_builder_explicit(tbBuilder* b, int rows, const int* ptr, const int* col, const double* val);

// A contact with its bias (rows; null: zeros) and compliance (rows; null: zeros), then its column blocks.
// The blocks may overlap: what they say of one degree of freedom adds up.
tbStatus tb_builder_contact(tbBuilder* b, tbLaw law, int rows, const double* param, const double* bias,
                            const double* compliance);
tbStatus tb_builder_jacobian(tbBuilder* b, int dof, int width, const double* values);

tbStatus tb_builder_finish(tbBuilder* b, tbProblem** out);
void tb_builder_abandon(tbBuilder* b); // takes null

// The judge. One number says how good λ is: the natural map of the law,
//
//   F_k = λ_k − P_K(λ_k − û_k),   û = u + (σ_F(−u_F), 0…),   E = ‖F‖₂,
//
// with σ_F the support function of the friction set (μ‖u_T‖ for Coulomb) and u recomputed from λ. Scaled both
// ways the literature does, which is relative to the largest impulse; and in m/s, contact by contact, with
// w_k the largest eigenvalue of W_kk. Where any quantity is not finite, all residuals are infinite.
typedef struct tbResidual {
  double fclib; // E / max(‖q‖, ‖λ‖, ‖u‖): Siconos' scaling; tbSolveOptions.tolerance applies to it
  double natural_map; // E / ‖q‖: Acary, Brémond and Huber's
  double model;       // as fclib, for the model asked for: a BLCP solver is not blamed for its model
  double velocity; // the largest ‖w_k λ_k − P_K(w_k λ_k − û_k)‖: what steps aim at            m/s
  double model_velocity;  // as velocity, for the model asked for                                      m/s
  double absolute;        // E
  double penetration;     // worst −u_n over unilateral rows                                  m/s
  double cone;            // worst distance of λ_k to its cone                                N·s
  double complementarity; // worst |λ_k · û_k|; for box laws, of the active bound             J
  double dissipation;     // worst shortfall from maximum dissipation, λ_n σ_F(−u_F) + λ_F·u_F  J
  double norm_q, norm_lambda, norm_u;
} tbResidual;

typedef struct tbJudge tbJudge; // a problem with the workspace to measure it

tbStatus tb_judge_create(tbContext* ctx, const tbProblem* problem, tbJudge** out);
void tb_judge_free(tbContext* ctx, tbJudge* judge); // takes null
// directions: corners for TB_MODEL_POLYHEDRAL (3…64), else unused. u (nrow) and v (ndof) may be null.
void tb_judge_measure(tbJudge* judge, const double* lambda, tbModel model, int directions, tbResidual* out,
                      double* u, double* v);
// What each contact has to do with that: ‖F_k‖ at the λ measured last, for the model asked for, in fclib's
// scaling. The squares add up to that of tbResidual.model, which for the cone is fclib.           (ncontact)
void tb_judge_contacts(const tbJudge* judge, double* part);

// The Delassus operator W, derived from a problem in the forms asked for. Diagonal blocks are always there.
typedef enum tbForm {
  TB_FORM_FREE = 1,   // matrix-free: products through J and A⁻¹
  TB_FORM_BLOCKS = 2, // block-sparse by contacts
  TB_FORM_DENSE = 4,  // dense, row-major
  TB_FORM_SWEEP = 8,  // whichever gives one contact's velocity at least cost; stands for one of the others
} tbForm;

const char* tb_form_name(tbForm form); // "free", …

// What stands in W for the inverse of a sparse metric block; particles and dense blocks are always inverted.
typedef enum tbInverse {
  TB_INVERSE_EXACT,    // W_A: the factor of A
  TB_INVERSE_LUMPED,   // W_M: row sums, which are the masses where A = M + hB + h²K moves rigidly for free
  TB_INVERSE_DIAGONAL, // W_D: the diagonal
  TB_INVERSE_JACOBI, // the same, raised to half the row's sum of moduli, so that Jacobi's iteration converges
  TB_INVERSE_COUNT
} tbInverse;

const char* tb_inverse_name(tbInverse inverse); // "exact", …
bool tb_inverse_from_name(const char* name, tbInverse* out);

typedef struct tbDelassus {
  const tbProblem* problem;
  unsigned forms;         // tbForm bits that are built
  tbInverse inverse;      // of sparse metric blocks
  bool symmetric;         // W is symmetric: to the bit when derived from A, to 1e-12 when given
  const double* q;        // J v_free + b                                               (nrow)
  const size_t* diag_adr; // first value of a diagonal block                           (ncontact+1)
  const double* diag;     // diagonal blocks, R included, row-major

  // TB_FORM_BLOCKS: block (k, col[i]) for ptr[k] ≤ i < ptr[k+1], columns increasing, R included
  const int* ptr;        // (ncontact+1)
  const int* col;        // (ptr[ncontact])
  const size_t* val_adr; // (ptr[ncontact]+1)
  const double* val;     // row-major rows_k × rows_col

  const double* dense; // TB_FORM_DENSE (nrow²)

  // TB_FORM_FREE, where A's blocks are small: A⁻¹Jᵀ in the layout of jac (rows×width, transposed like it);
  // null when a sparse block is in reach, whose inverse is dense unless a diagonal stands for it
  const double* ainv_jac;
  const double* lumped; // what stands for sparse blocks; null when that is their factor            (ndof)

  struct tbDelassusOwner* owner;
} tbDelassus;

// forms: tbForm bits; 0 gives q and the diagonal blocks alone.
tbStatus tb_delassus_create(tbContext* ctx, const tbProblem* problem, unsigned forms, tbDelassus** out);
tbStatus tb_delassus_create_with(tbContext* ctx, const tbProblem* problem, unsigned forms, tbInverse inverse,
                                 tbDelassus** out);
void tb_delassus_free(tbContext* ctx, tbDelassus* W); // takes null
size_t tb_delassus_workspace(const tbDelassus* W);    // doubles that apply needs
// y = W x, by the cheapest form that is built. Threads cut the work, never the result.
void tb_delassus_apply(const tbDelassus* W, tbThreads* threads, const double* x, double* y,
                       double* workspace);

// Structure. Contacts that share a metric block (or a nonzero of W) are neighbours.
tbStatus tb_problem_islands(tbContext* ctx, const tbProblem* problem, int* island, int* count);
// Greedy first fit in the given order: neighbours never share a colour.
tbStatus tb_problem_colours(tbContext* ctx, const tbProblem* problem, int* colour, int* count);
// How far a contact is from the ground: 0 where it holds one metric block against the world, and one more for
// every body in between (Guendelman, Bridson and Fedkiw 2003). Where W is given, distance in W's graph from
// the contacts that the free motion closes fastest. 0 throughout islands that nothing holds.
tbStatus tb_problem_layers(tbContext* ctx, const tbProblem* problem, int* layer, int* count);

// Problems with a known answer, for tests, benchmarks and the curious.
typedef struct tbManufacture {
  uint64_t seed;
  int contacts;
  int bodies;        // 0: about one per two contacts
  int dimension;     // 2 or 3
  double mass_ratio; // heaviest to lightest body, 1 … 1e12
  double mu_max;     // friction coefficients are drawn from [0, mu_max]
  double open, slip; // shares of open and of slipping contacts; the rest sticks
  bool redundant;    // repeat contacts at the same place, so that W is singular
  enum { TB_MAKE_RIGID, TB_MAKE_PARTICLES, TB_MAKE_SPARSE, TB_MAKE_EXPLICIT, TB_MAKE_UNSYMMETRIC } metric;
  bool all_laws;  // every law of maximal dissipation in turn, instead of Coulomb's alone
  bool polygons;  // hulls of eight directions instead of Coulomb's law; with all_laws: in turn, too. 3-D
  bool tensors;   // friction tensors instead of Coulomb's law; with all_laws: in turn, too. 3-D
  bool compliant; // R > 0 on some rows
} tbManufacture;

tbManufacture tb_default_manufacture(void);
// lambda (caller frees with the context's allocator through tb_manufacture_free) solves *out exactly.
tbStatus tb_problem_manufacture(tbContext* ctx, const tbManufacture* spec, tbProblem** out, double** lambda);
void tb_manufacture_free(tbContext* ctx, double* lambda);

// Structures of boxes at rest under gravity, as one step of 0.01 s with every gap zero: what papers compare
// solvers on.
typedef enum tbGenerateKind {
  TB_GENERATE_STACK,   // boxes on top of each other
  TB_GENERATE_WALL,    // bricks in running bond, `size` courses of `size` bricks
  TB_GENERATE_PYRAMID, // `size` boxes in a row, one fewer on top, up to one
  TB_GENERATE_ARCH,    // a half-circle of `size` stones between abutments
  TB_GENERATE_CARDS,   // a house of cards, `size` pairs in the lowest storey
  TB_GENERATE_PILE,    // `size` boxes of random plan dropped at random places
  TB_GENERATE_COUNT
} tbGenerateKind;

const char* tb_generate_name(tbGenerateKind kind);    // "stack", …
const char* tb_generate_summary(tbGenerateKind kind); // one line for `tribo list structures`
bool tb_generate_from_name(const char* name, tbGenerateKind* out);

typedef struct tbGenerate {
  tbGenerateKind kind;
  int size;          // boxes, stones, courses: see the kinds
  double friction;   // μ of every contact
  double mass_ratio; // weight of what lies on top (of the keystone in an arch) to that of the rest; in a pile
                     // densities are spread up to it
  uint64_t seed;     // of the pile
} tbGenerate;

tbGenerate tb_default_generate(tbGenerateKind kind); // all masses alike, and the kind's own size and friction
tbStatus tb_problem_generate(tbContext* ctx, const tbGenerate* spec, tbProblem** out);

TB_API_END
#endif
