// SPDX-License-Identifier: Apache-2.0
// The methods' entry points, for the table.
#ifndef TB_SOLVE_METHODS_H
#define TB_SOLVE_METHODS_H

#include "tribo/solver.h"

size_t tb_jacobi_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_jacobi(struct tbRun* run, double* lambda);

size_t tb_pgs_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_pgs(struct tbRun* run, double* lambda);
void tb_psor(struct tbRun* run, double* lambda);
void tb_spgs(struct tbRun* run, double* lambda);

size_t tb_bgs_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_bgs(struct tbRun* run, double* lambda);

size_t tb_nncg_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_nncg(struct tbRun* run, double* lambda);

size_t tb_admm_scratch(const tbDelassus* W, const tbSolveOptions* o);
tbStatus tb_admm_prepare(tbContext* ctx, struct tbRun* run);
tbStatus tb_admm_renew(tbContext* ctx, struct tbRun* run);
void tb_admm_release(tbContext* ctx, struct tbRun* run);
void tb_admm(struct tbRun* run, double* lambda);

size_t tb_ipm_scratch(const tbDelassus* W, const tbSolveOptions* o);
tbStatus tb_ipm_prepare(tbContext* ctx, struct tbRun* run);
tbStatus tb_ipm_renew(tbContext* ctx, struct tbRun* run);
void tb_ipm_release(tbContext* ctx, struct tbRun* run);
void tb_ipm(struct tbRun* run, double* lambda);
size_t tb_newton_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_newton_ac(struct tbRun* run, double* lambda);
void tb_newton_fb(struct tbRun* run, double* lambda);
void tb_newton_min(struct tbRun* run, double* lambda);
void tb_newton_surface(struct tbRun* run, double* lambda);

size_t tb_prox_newton_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_prox_newton(struct tbRun* run, double* lambda);

tbStatus tb_newton_form(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, tbForm* out);
tbStatus tb_prox_newton_form(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, tbForm* out);
bool tb_newton_by_velocity(const tbProblem* p, const tbSolveOptions* o);
// Dense metric blocks of more than a rigid body's size: reduced bodies. Contacts on them are nearly
// redundant, and a judgement, which solves with each block, costs as much as a step of Newton.
bool tb_has_wide_blocks(const tbProblem* p);
tbStatus tb_newton_prepare(tbContext* ctx, struct tbRun* run);
tbStatus tb_prox_newton_prepare(tbContext* ctx, struct tbRun* run);
tbStatus tb_newton_renew(tbContext* ctx, struct tbRun* run);
void tb_newton_release(tbContext* ctx, struct tbRun* run);
enum { TB_DENSE_ROWS = 3000 }; // what the pivoting methods take
// A scratch size that says: the problem is too large for this method.
#define TB_SCRATCH_TOO_LARGE SIZE_MAX

size_t tb_lemke_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_lemke(struct tbRun* run, double* lambda);

size_t tb_blcp_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_bpp(struct tbRun* run, double* lambda);
size_t tb_dantzig_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_dantzig(struct tbRun* run, double* lambda);
void tb_murty(struct tbRun* run, double* lambda);
size_t tb_apgd_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_apgd(struct tbRun* run, double* lambda);

size_t tb_prox_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_prox_gs(struct tbRun* run, double* lambda);
void tb_prox_jacobi(struct tbRun* run, double* lambda);

size_t tb_pgs_sm_scratch(const tbDelassus* W, const tbSolveOptions* o);
tbStatus tb_pgs_sm_prepare(tbContext* ctx, struct tbRun* run);
tbStatus tb_pgs_sm_renew(tbContext* ctx, struct tbRun* run);
void tb_pgs_sm_release(tbContext* ctx, struct tbRun* run);
void tb_pgs_sm(struct tbRun* run, double* lambda);

size_t tb_cr_scratch(const tbDelassus* W, const tbSolveOptions* o);
tbStatus tb_cr_form(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, tbForm* out);
tbStatus tb_cr_prepare(tbContext* ctx, struct tbRun* run);
tbStatus tb_cr_renew(tbContext* ctx, struct tbRun* run);
void tb_cr_release(tbContext* ctx, struct tbRun* run);
void tb_cr(struct tbRun* run, double* lambda);

size_t tb_ica_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_ica(struct tbRun* run, double* lambda);

tbStatus tb_auto(tbContext* ctx, struct tbRun* run, double* lambda);

size_t tb_staggered_scratch(const tbDelassus* W, const tbSolveOptions* o);
tbStatus tb_staggered_form(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, tbForm* out);
tbStatus tb_staggered_prepare(tbContext* ctx, struct tbRun* run);
void tb_staggered_release(tbContext* ctx, struct tbRun* run);
void tb_staggered(struct tbRun* run, double* lambda);
size_t tb_staggered_cr_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_staggered_cr(struct tbRun* run, double* lambda);

#endif
