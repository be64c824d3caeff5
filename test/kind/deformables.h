// SPDX-License-Identifier: Apache-2.0
// Deformable bodies by their number among themselves.
#ifndef TEST_KIND_DEFORMABLES_H
#define TEST_KIND_DEFORMABLES_H

#include "kind/deformable.h"

static inline tbDeformable* deformable_at(const tbWorld* w, int number) // null: there are fewer
{
  for (size_t i = 0; i < w->body.count; i++) {
    tbDeformable* d = tb_deformable(&tb_bodies(w)[i]);
    if (d && number-- == 0) return d;
  }
  return NULL;
}

#endif
