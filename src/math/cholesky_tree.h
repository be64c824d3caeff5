// SPDX-License-Identifier: Apache-2.0
// The elimination tree of a symmetric pattern and the column counts of its factor, found without the factor.
#ifndef TB_MATH_CHOLESKY_TREE_H
#define TB_MATH_CHOLESKY_TREE_H

// A symmetric pattern: both triangles; the diagonal does not matter.
typedef struct {
  int n;
  const int *ptr, *idx;
} tbPattern;

typedef struct {
  int* parent; // column whose pivot is the first row below the diagonal, or −1   (n)
  int* count;  // entries of the column of L, diagonal included                   (n)
} tbEliminationTree;

// The tree of elimination in the order perm, where inverse[perm[k]] = k. Rewrites both so that children come
// before parents and subtrees stay together, which changes nothing about L but the numbering. work: 4 n ints.
void tb_elimination_tree(const tbPattern* A, int* perm, int* inverse, tbEliminationTree* tree, int* work);

#endif
