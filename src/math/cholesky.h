#ifndef TB_MATH_CHOLESKY_H
#define TB_MATH_CHOLESKY_H
#include "tribo/base.h"
typedef struct tbCholesky tbCholesky;
tbStatus tb_cholesky_analyze(tbContext* ctx, int n, const int* ptr, const int* idx, const void* options,
                             tbCholesky** out);
tbStatus tb_cholesky_factor(tbContext* ctx, tbCholesky* factor, const double* values);
size_t tb_cholesky_workspace(const tbCholesky* factor, int nrhs);
void tb_cholesky_solve(const tbCholesky* factor, int nrhs, const double* b, double* x, double* workspace);
void tb_cholesky_free(tbContext* ctx, tbCholesky* factor);
#endif
