// SPDX-License-Identifier: Apache-2.0
// Bases in files: read when they are whole and of this mesh, made anew when not.
#include "base/file.h"
#include "io/io_test.h"
#include "modal/cache.h"

#include <inttypes.h>
#include <string.h>

static tbFemBody* block(tbContext* ctx, double young)
{
  tbTetMesh* mesh;
  tbFemBody* fem;
  tbSoftDef def = tb_soft_def();
  def.model = TB_ELASTIC_STVK, def.young = young;
  CHECK_OK(ctx, tb_tet_box(ctx, tb_vec3(1, 0.6, 0.4), (int[3]){3, 2, 2}, 5, &mesh));
  CHECK_OK(ctx, tb_fem_soft_create(ctx, mesh, &def, (tbFemSprings){0}, &fem));
  tb_tet_mesh_free(ctx, mesh);
  return fem;
}

static bool always(void* user)
{
  (void)user;
  return true;
}

static void check_same(const tbModalBasis* a, const tbModalBasis* b)
{
  REQUIRE(a->nmode == b->nmode && a->nnode == b->nnode);
  REQUIRE(!a->polynomial == !b->polynomial && !a->cubature == !b->cubature);
  CHECK(tb_modal_basis_same(a, b));
  if (!a->cubature) return;
  CHECK(a->cubature->miss == b->cubature->miss);
  for (int i = 0; i < a->cubature->count; i++) CHECK(a->cubature->element[i] == b->cubature->element[i]);
}

// Of few fields, with the polynomial, and of many, with cubature.
static void keep_and_damage(int modes)
{
  tbContext ctx = tb_default_context();
  const char* stem = io_temp("basis.msh");
  char path[512];
  tbFemBody* fem = block(&ctx, 1e6);
  snprintf(path, sizeof path, "%s.%016" PRIx64 ".modes", stem, tb_modal_key(fem, modes, true, true));
  tbModalBasis *first, *again;
  CHECK_OK(&ctx, tb_modal_basis_cached(&ctx, fem, modes, true, true, stem, &first));
  char *bytes, *now;
  size_t length, size;
  REQUIRE(tb_read_file(&ctx, path, 1 << 24, &bytes, &length) == TB_OK);
  tbContext hurried = ctx; // finding modes would be interrupted: what comes was read
  hurried.interrupt = (tbInterrupt){.asked = always};
  CHECK(tb_modal_basis_create(&hurried, fem, modes, true, true, &again) == TB_ERROR_CANCELLED);
  CHECK_OK(&hurried, tb_modal_basis_cached(&hurried, fem, modes, true, true, stem, &again));
  check_same(first, again);
  tb_modal_basis_free(&ctx, again);
  for (int damage = 0; damage < 5; damage++) {
    char* bad = TB_NEW(&ctx, char, length + 8);
    size_t left = damage == 0 ? length / 2 : damage == 1 ? 0 : damage == 2 ? length + 8 : length;
    memcpy(bad, bytes, length);
    if (damage == 3) bad[length / 3] ^= 1;
    if (damage == 4) bad[3] = 'x';
    CHECK_OK(&ctx, tb_write_file(&ctx, path, bad, left));
    CHECK_OK(&ctx, tb_modal_basis_cached(&ctx, fem, modes, true, true, stem, &again));
    check_same(first, again);
    tb_modal_basis_free(&ctx, again);
    REQUIRE(tb_read_file(&ctx, path, 1 << 24, &now, &size) == TB_OK); // and it is whole again
    CHECK(size == length && memcmp(now, bytes, length) == 0);
    tb_free(&ctx, now), tb_free(&ctx, bad);
  }
  remove(path);
  tb_free(&ctx, bytes);
  tb_modal_basis_free(&ctx, first);
  tb_fem_free(&ctx, fem);
}

TEST(a_kept_basis_is_read_and_a_damaged_one_made_anew)
{
  keep_and_damage(6);
  keep_and_damage(60);
}

TEST(the_key_of_a_basis_is_made_of_all_it_follows_from)
{
  tbContext ctx = tb_default_context();
  tbFemBody *fem = block(&ctx, 1e6), *stiff = block(&ctx, 2e6);
  uint64_t key = tb_modal_key(fem, 6, true, true);
  CHECK(tb_modal_key(fem, 6, true, true) == key);
  CHECK(tb_modal_key(fem, 7, true, true) != key && tb_modal_key(fem, 6, false, true) != key);
  CHECK(tb_modal_key(stiff, 6, true, true) != key);
  fem->pinned[2] = true;
  CHECK(tb_modal_key(fem, 6, true, true) != key);
  fem->pinned[2] = false, fem->rest[1].x += 1e-9;
  CHECK(tb_modal_key(fem, 6, true, true) != key);
  tb_fem_free(&ctx, fem);
  tb_fem_free(&ctx, stiff);
}

TEST(a_basis_that_cannot_be_kept_is_made_all_the_same)
{
  tbContext ctx = tb_default_context();
  tbFemBody* fem = block(&ctx, 1e6);
  tbModalBasis* b;
  CHECK_OK(&ctx, tb_modal_basis_cached(&ctx, fem, 4, false, false, "/nowhere/at/all", &b));
  CHECK(b && b->nmode == 4);
  tb_modal_basis_free(&ctx, b);
  tb_fem_free(&ctx, fem);
}
