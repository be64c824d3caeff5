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

#endif
