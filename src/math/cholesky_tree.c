// SPDX-License-Identifier: Apache-2.0
// The elimination tree and the column counts of L, without L.
//
// parent(j) is the row of the first entry below the diagonal in column j of L. Liu's algorithm (1986) finds
// it in one pass over A with compressed paths. Gilbert, Ng and Peyton (1994) count the columns: row i of L is
// nonzero exactly on the row subtree of i, which A's row i spans, so column j counts the subtrees it lies in.
// Walking the columns in postorder, j is a leaf of row subtree i when its own subtree starts after every
// earlier leaf's; each leaf adds one to its column, and one is taken from the least common ancestor of
// neighbouring leaves, where the paths to the root join.
//
// Cost      nearly linear in the entries of A; no recursion, so a tree may be a path of any length.
#include "math/cholesky_tree.h"

#include <stddef.h>
#include <string.h>

static void find_parents(const tbPattern* A, const int* perm, const int* inverse, int* parent, int* ancestor)
{
  for (int j = 0; j < A->n; j++) {
    parent[j] = ancestor[j] = -1;
    for (int p = A->ptr[perm[j]]; p < A->ptr[perm[j] + 1]; p++)
      for (int i = inverse[A->idx[p]], next; i != -1 && i < j; i = next) {
        next = ancestor[i];
        ancestor[i] = j;
        if (next == -1) parent[i] = j;
      }
  }
}

// post[k] = the node visited k-th; children in ascending order.
static void find_postorder(int n, const int* parent, int* post, int* child, int* sibling)
{
  memset(child, -1, (size_t)n * sizeof *child);
  for (int j = n - 1; j >= 0; j--)
    if (parent[j] != -1) {
      sibling[j] = child[parent[j]];
      child[parent[j]] = j;
    }
  int done = 0;
  for (int root = 0; root < n; root++) {
    if (parent[root] != -1) continue;
    for (int j = root;;) {
      while (child[j] != -1) { // go down to a leaf; a node is left when its last child is
        int down = child[j];
        child[j] = sibling[down];
        j = down;
      }
      post[done++] = j;
      if (j == root) break;
      j = parent[j];
    }
  }
}

static int find_set(int* ancestor, int j)
{
  int root = j;
  while (ancestor[root] != root) root = ancestor[root];
  while (j != root) {
    int up = ancestor[j];
    ancestor[j] = root;
    j = up;
  }
  return root;
}

// The columns are postordered. first[j]: first column of j's subtree; last_first[i]: that of the latest leaf
// of row subtree i, and leaf[i] that leaf.
static void count_columns(const tbPattern* A, const int* perm, const int* inverse, const int* parent,
                          int* count, int* work)
{
  int n = A->n, *first = work, *last_first = work + n, *leaf = work + 2 * (size_t)n,
      *ancestor = work + 3 * (size_t)n;
  for (int j = 0; j < n; j++) first[j] = last_first[j] = leaf[j] = -1, ancestor[j] = j;
  for (int j = 0; j < n; j++) {
    count[j] = first[j] == -1; // a leaf of the tree starts its own row subtree
    if (first[j] == -1) first[j] = j;
    if (parent[j] != -1 && first[parent[j]] == -1) first[parent[j]] = first[j];
  }
  for (int j = 0; j < n; j++) {
    if (parent[j] != -1) count[parent[j]]--;
    for (int p = A->ptr[perm[j]]; p < A->ptr[perm[j] + 1]; p++) {
      int i = inverse[A->idx[p]];
      if (i <= j || first[j] <= last_first[i]) continue;
      count[j]++;
      if (leaf[i] != -1) count[find_set(ancestor, leaf[i])]--;
      leaf[i] = j;
      last_first[i] = first[j];
    }
    if (parent[j] != -1) ancestor[j] = parent[j];
  }
  for (int j = 0; j < n; j++)
    if (parent[j] != -1) count[parent[j]] += count[j];
}

void tb_elimination_tree(const tbPattern* A, int* perm, int* inverse, tbEliminationTree* tree, int* work)
{
  int n = A->n, *post = work, *child = work + n, *sibling = work + 2 * (size_t)n,
      *place = work + 3 * (size_t)n;
  find_parents(A, perm, inverse, tree->parent, work);
  find_postorder(n, tree->parent, post, child, sibling);

  // Renumber by the postorder: child and sibling are spent and hold the new arrays.
  int *new_perm = child, *new_parent = sibling;
  for (int k = 0; k < n; k++) place[post[k]] = k;
  for (int k = 0; k < n; k++) {
    new_perm[k] = perm[post[k]];
    int up = tree->parent[post[k]];
    new_parent[k] = up == -1 ? -1 : place[up];
  }
  memcpy(perm, new_perm, (size_t)n * sizeof *perm);
  memcpy(tree->parent, new_parent, (size_t)n * sizeof *perm);
  for (int k = 0; k < n; k++) inverse[perm[k]] = k;
  count_columns(A, perm, inverse, tree->parent, tree->count, work);
}
