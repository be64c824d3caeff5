// SPDX-License-Identifier: Apache-2.0
// Products with the upper half of a symmetric matrix of 3×3 blocks.
//
// A matrix of finite elements is read once per product and never fits a cache: what a product costs is the
// bytes it reads. Half of them say all, and packed one after the other they are read twice as fast:
//
//   for every block (i, j) of the upper half:   y_i += A_ij x_j,   y_j += A_ijᵀ x_i
//
// The second sum writes to rows that others own. So nodes are cut into pieces, the same for any number of
// threads: a piece adds into room of its own, which has a slot for each of its nodes and for every later node
// that it touches (spread); then the rows of a piece are summed over the pieces that touch them, in order
// (collect). What x has there is first copied into as many slots beside them: what a piece reads and writes
// lies close together, however nodes are numbered.
//
// Iterations that look at what is left now and then with the numbers as they are can do in between with
// numbers rounded to floats: again half of the bytes.
//
// Cost      nine multiplications and 38 bytes per block of the full matrix, half of what its rows would take;
//           the slots of shared nodes are few where nodes are numbered along the body, and no more than all.
#ifndef TB_MATH_PACKED_H
#define TB_MATH_PACKED_H

#include "base/memory.h"

enum { TB_PACKED_PIECE = 4096 }; // nodes

typedef struct tbPackedPattern {
  int nodes, pieces;
  int* first; // blocks of node i: first[i] … first[i+1]−1, (i, i) before the others      (nodes+1)
  int* col;   // node                                                                     (first[nodes])
  int* slot;  // where its piece adds what the block gives to that node                   (first[nodes])
  // Nodes beyond the end of a piece that it touches: outer[outer_adr[p]] …, ascending; its own nodes take the
  // slots before them. Those that lie in piece q ≥ p begin at part[p · (pieces + 1) + q].
  int *outer_adr, *outer, *part;
  size_t* room_adr; // where the slots of a piece begin, in doubles; then those of x      (pieces+1)
} tbPackedPattern;

typedef struct tbPacked {
  const tbPackedPattern* pattern;
  const double* value;   // of the blocks, nine each, row-major; and three more that are finite
  const float* rounded;  // the same; null: there are none
  const double* inverse; // of the blocks (i, i), six each (problem/metric.h); null: they are not at hand
} tbPacked;

// From rows and columns that come in triples; arrays live in the arena.
tbStatus tb_packed_pattern(tbArena* arena, int size, const int* ptr, const int* col, tbPackedPattern* out);
static inline size_t tb_packed_values(const tbPackedPattern* h) { return 9 * (size_t)h->first[h->nodes] + 3; }
static inline size_t tb_packed_room(const tbPackedPattern* h) { return h->room_adr[h->pieces]; } // doubles

// The upper half of CSR values.
void tb_packed_pack(const tbPackedPattern* pattern, tbThreads* threads, const int* ptr, const double* csr,
                    double* value);

void tb_packed_round(const tbPackedPattern* pattern, tbThreads* threads, const double* value, float* rounded);

// y = A x in two passes over the pieces, which are independent within each: all of the first before the
// second. Where there is one piece alone, tb_packed_multiply does both. rough: with the rounded values, where
// there are any.
void tb_packed_spread(const tbPacked* packed, bool rough, int piece, const double* x, double* room);
void tb_packed_collect(const tbPacked* packed, int piece, const double* room, double* y);
void tb_packed_multiply(const tbPacked* packed, bool rough, tbThreads* threads, const double* x, double* y,
                        double* room);

static inline int tb_packed_begin(int piece) { return piece * TB_PACKED_PIECE; }
static inline int tb_packed_end(const tbPackedPattern* h, int piece) // nodes of a piece
{
  return piece + 1 < h->pieces ? (piece + 1) * TB_PACKED_PIECE : h->nodes;
}

#endif
