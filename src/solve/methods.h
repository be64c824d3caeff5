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

size_t tb_pgs_sm_scratch(const tbDelassus* W, const tbSolveOptions* o);
tbStatus tb_pgs_sm_prepare(tbContext* ctx, struct tbRun* run);
void tb_pgs_sm_release(tbContext* ctx, struct tbRun* run);
void tb_pgs_sm(struct tbRun* run, double* lambda);

size_t tb_admm_scratch(const tbDelassus* W, const tbSolveOptions* o);
tbStatus tb_admm_prepare(tbContext* ctx, struct tbRun* run);
void tb_admm_release(tbContext* ctx, struct tbRun* run);
void tb_admm(struct tbRun* run, double* lambda);

size_t tb_apgd_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_apgd(struct tbRun* run, double* lambda);

size_t tb_prox_scratch(const tbDelassus* W, const tbSolveOptions* o);
void tb_prox_gs(struct tbRun* run, double* lambda);
void tb_prox_jacobi(struct tbRun* run, double* lambda);

#endif
