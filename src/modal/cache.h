// SPDX-License-Identifier: Apache-2.0
// Bases kept in files. A large mesh takes seconds to find its modes; the next run reads them.
//
//   offset  bytes
//   0       8      89 T B M O D E S
//   8       …      version, key, numbers (base/codec.h)
//   −8      8      FNV-1a of everything before
//
// The key is made of all that the fields follow from: nodes, tetrahedra, pins, matter, how many and which
// fields. It is in the name, so that bodies of one mesh do not overwrite each other's. What is damaged, or of
// another key or version, is as if it were not there: the basis is made, and the file replaced.
#ifndef TB_MODAL_CACHE_H
#define TB_MODAL_CACHE_H

#include "modal/basis.h"

// As tb_modal_basis_create, with the file STEM.KEY.modes. A file that cannot be written is no failure.
tbStatus tb_modal_basis_cached(tbContext* ctx, tbFemBody* fem, int modes, bool derivatives, bool stvk,
                               const char* stem, tbModalBasis** out);

uint64_t tb_modal_key(const tbFemBody* fem, int modes, bool derivatives, bool stvk);

#endif
