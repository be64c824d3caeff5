// SPDX-License-Identifier: Apache-2.0
// Which functions of src/math are compiled once per vector width (base/kernels.h).
#include "base/kernels.h"
#include "math/cholesky_dense.h"
#include "math/cholesky_stream.h"
#include "math/dense_rows.h"
#include "math/ldu.h"
#include "math/lu_dense.h"
#include "math/lu_factor.h"
#include "math/packed.h"
#include "math/svd3.h"

// cholesky_dense.c
TB_KERNEL(size_t, tb_dense_pack_size, (int front, int cols), (front, cols))
TB_KERNEL(int, tb_dense_factor,
          (tbThreads * threads, tbInterrupt interrupt, int front, int cols, double* panel, int lead,
           double* inverse_diagonal, double* pack),
          (threads, interrupt, front, cols, panel, lead, inverse_diagonal, pack))
TB_KERNEL(void, tb_dense_schur,
          (tbThreads * threads, tbInterrupt interrupt, int front, int cols, const double* panel, int lead,
           double* U, double* pack),
          (threads, interrupt, front, cols, panel, lead, U, pack))

// cholesky_numeric.c
TB_KERNEL(int, tb_cholesky_numeric,
          (tbThreads * threads, tbInterrupt interrupt, tbCholesky* f, const double* values),
          (threads, interrupt, f, values))

// cholesky_panels.c
TB_KERNEL(void, tb_cholesky_down,
          (const tbCholesky* f, int width, tbCholeskyRun run, double* y, double* sums, bool sparse),
          (f, width, run, y, sums, sparse))
TB_KERNEL(void, tb_cholesky_up, (const tbCholesky* f, int width, tbCholeskyRun run, double* y),
          (f, width, run, y))

// cholesky_stream.c
TB_KERNEL(size_t, tb_cholesky_stream_size, (int cols, int rows), (cols, rows))
TB_KERNEL(void, tb_cholesky_stream_fill, (const tbCholesky* factor, int s, double* out), (factor, s, out))
TB_KERNEL(void, tb_cholesky_stream_down,
          (const tbCholesky* factor, const tbCholeskyStream* stream, tbCholeskyRun run, double* y),
          (factor, stream, run, y))
TB_KERNEL(void, tb_cholesky_stream_up,
          (const tbCholesky* factor, const tbCholeskyStream* stream, tbCholeskyRun run, double* y),
          (factor, stream, run, y))

// dense_rows.c
TB_KERNEL(void, tb_dense_solve_rows, (int n, int rows, const double* L, double* x), (n, rows, L, x))
TB_KERNEL(void, tb_dense_multiply_rows, (int n, int rows, const double* S, double* x), (n, rows, S, x))
TB_KERNEL(void, tb_dense_invert, (int n, const double* L, double* inverse), (n, L, inverse))

// lu_dense.c
TB_KERNEL(void, tb_dense_multiply_subtract,
          (tbThreads * threads, int m, int n, int k, const double* A, int lda, const double* B, int ldb,
           double* C, int ldc),
          (threads, m, n, k, A, lda, B, ldb, C, ldc))
TB_KERNEL(int, tb_dense_eliminate,
          (tbThreads * threads, tbInterrupt interrupt, int front, int pivots, double* F, int lead, int* swap,
           double tiny),
          (threads, interrupt, front, pivots, F, lead, swap, tiny))

// lu_sparse.c
TB_KERNEL(tbStatus, tb_lu_analyze,
          (tbContext * ctx, int nodes, const int* row_adr, const int* ptr, const int* idx, double max_bytes,
           tbLu** out),
          (ctx, nodes, row_adr, ptr, idx, max_bytes, out))
TB_KERNEL(void, tb_lu_free, (tbContext * ctx, tbLu* lu), (ctx, lu))
TB_KERNEL(tbLuStats, tb_lu_stats, (const tbLu* lu), (lu))
TB_KERNEL(int, tb_lu_factor,
          (tbLu * lu, tbThreads* threads, const size_t* val_adr, const double* val, const uint8_t* active,
           double tiny),
          (lu, threads, val_adr, val, active, tiny))
TB_KERNEL(void, tb_lu_solve, (tbLu * lu, double* x), (lu, x))

// ldu.c
TB_KERNEL(double, tb_dot, (int n, const double* a, const double* b), (n, a, b))
TB_KERNEL(void, tb_ldu_layout, (tbLdu * f, tbScratch* s, int capacity, bool symmetric),
          (f, s, capacity, symmetric))
TB_KERNEL(double, tb_ldu_append, (tbLdu * f, double* column, double* row, double diagonal, double smallest),
          (f, column, row, diagonal, smallest))
TB_KERNEL(void, tb_ldu_remove, (tbLdu * f, int k), (f, k))
TB_KERNEL(void, tb_ldu_solve, (const tbLdu* f, double* b), (f, b))

// packed.c
TB_KERNEL(tbStatus, tb_packed_pattern,
          (tbArena * arena, int size, const int* ptr, const int* col, tbPackedPattern* out),
          (arena, size, ptr, col, out))
TB_KERNEL(void, tb_packed_pack,
          (const tbPackedPattern* h, tbThreads* threads, const int* ptr, const double* csr, double* value),
          (h, threads, ptr, csr, value))
TB_KERNEL(void, tb_packed_round,
          (const tbPackedPattern* h, tbThreads* threads, const double* value, float* rounded),
          (h, threads, value, rounded))
TB_KERNEL(void, tb_packed_spread,
          (const tbPacked* packed, bool rough, int piece, const double* x, double* room),
          (packed, rough, piece, x, room))
TB_KERNEL(void, tb_packed_collect, (const tbPacked* packed, int piece, const double* room, double* y),
          (packed, piece, room, y))
TB_KERNEL(void, tb_packed_multiply,
          (const tbPacked* packed, bool rough, tbThreads* threads, const double* x, double* y, double* room),
          (packed, rough, threads, x, y, room))

// svd3.c
TB_KERNEL(tbSvd3, tb_svd3, (tbMat3 A), (A))
TB_KERNEL(void, tb_svd3_many, (int count, const tbMat3* A, tbSvd3* out), (count, A, out))
