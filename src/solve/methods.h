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
void tb_admm_release(tbContext* ctx, struct tbRun* run);
void tb_admm(struct tbRun* run, double* lambda);

size_t tb_newton_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_newton_ac(struct tbRun* run, double* lambda);
void tb_newton_fb(struct tbRun* run, double* lambda);
void tb_newton_min(struct tbRun* run, double* lambda);

size_t tb_prox_newton_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_prox_newton(struct tbRun* run, double* lambda);

tbStatus tb_newton_prepare(tbContext* ctx, struct tbRun* run);
void tb_newton_release(tbContext* ctx, struct tbRun* run);

#endif
