// SPDX-License-Identifier: Apache-2.0
// Any bytes are refused with a message that names the file, or give a mesh that, written as VTK and read
// again, is written the same. Running out of memory anywhere is reported as such and leaks nothing.
#include "fuzz.h"
#include "io/mesh/tets_io.h"

#include <string.h>

static const tbVec3 plain = {1, 1, 1};

static tbStatus read_tets(tbContext* ctx, const char* bytes, size_t size, tbTetMesh** mesh)
{
  tbStatus status = tb_tet_mesh_parse(ctx, "fuzz", bytes, size, plain, mesh);
  CHECK((status == TB_OK) == (*mesh != NULL));
  CHECK(status == TB_OK || status == TB_ERROR_MEMORY || strncmp(ctx->error.message, "fuzz:", 5) == 0);
  return status;
}

static tbStatus read_and_print(tbContext* ctx, void* user, const uint8_t* bytes, size_t size)
{
  (void)user;
  tbTetMesh *mesh = NULL, *again = NULL;
  tbOut first = tb_out_memory(ctx), second = tb_out_memory(ctx);
  tbStatus status = read_tets(ctx, (const char*)bytes, size, &mesh);
  if (status == TB_OK) {
    status = tb_tet_mesh_print_vtk(&first, mesh);
    if (status == TB_OK) status = read_tets(ctx, first.bytes, first.length, &again);
    if (status == TB_OK) status = tb_tet_mesh_print_vtk(&second, again);
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    if (status == TB_OK)
      CHECK(first.length == second.length && memcmp(first.bytes, second.bytes, first.length) == 0);
  }
  tb_tet_mesh_free(ctx, mesh);
  tb_tet_mesh_free(ctx, again);
  tb_out_free(&first);
  tb_out_free(&second);
  return status;
}

FUZZ(tets)
{
  tbStatus status = fuzz_starve(read_and_print, NULL, bytes, size);
  CHECK(status == TB_OK || status == TB_ERROR_INPUT);
}
