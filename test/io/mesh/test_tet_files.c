// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "fem/body.h"
#include "io/mesh/tets_io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tbVec3 plain = {1, 1, 1};

static tbStatus load(tbContext* ctx, const char* name, tbVec3 scale, tbTetMesh** mesh)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/test/fuzz/corpus/tets/%s", TB_SOURCE_FOLDER, name);
  return tb_tet_mesh_load(ctx, path, scale, mesh);
}

// One cube of five tetrahedra, in every dress; each file also has a node that nothing uses, and surface
// triangles.
TEST(every_format_gives_the_same_cube)
{
  const char* files[] = {"cube_22_text.msh",   "cube_22_binary_little.msh", "cube_22_binary_big.msh",
                         "cube_41_text.msh",   "cube_41_binary_little.msh", "cube_41_binary_big.msh",
                         "cube_quadratic.msh", "cube_3_text.vtk",           "cube_3_binary.vtk",
                         "cube_42_text.vtk",   "cube_42_binary.vtk",        "cube_5_text.vtk",
                         "cube_5_binary.vtk"};
  const int tets[5][4] = {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 1, 4, 7}, {6, 4, 2, 7}, {1, 2, 4, 7}};
  tbContext ctx = tb_default_context();
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    tbTetMesh* m = NULL;
    CHECK_OK(&ctx, load(&ctx, files[k], plain, &m));
    if (!m) continue;
    CHECK(m->nnode == 8 && m->ntet == 5 && m->ntriangle == 12);
    CHECK_NEAR(m->total, 1, 1e-15);
    for (int i = 0; i < 8 && m->nnode == 8; i++)
      CHECK(tb_distance3(m->node[i], tb_vec3(i & 1, i >> 1 & 1, i >> 2)) == 0);
    CHECK(memcmp(m->tet, tets, sizeof tets) == 0);
    tb_tet_mesh_free(&ctx, m);
  }
}

TEST(scales_apply_and_mirrors_turn_the_elements)
{
  tbContext ctx = tb_default_context();
  tbTetMesh* m = NULL;
  CHECK_OK(&ctx, load(&ctx, "cube_22_text.msh", tb_vec3(-2, 1, 3), &m));
  REQUIRE(m);
  CHECK_NEAR(m->total, 6, 1e-14);
  tb_tet_mesh_free(&ctx, m);
  CHECK_OK(&ctx, load(&ctx, "all_inverted.vtk", plain, &m));
  REQUIRE(m);
  CHECK_NEAR(m->total, 1.0 / 6, 1e-15);
  tb_tet_mesh_free(&ctx, m);
  CHECK(load(&ctx, "cube_22_text.msh", tb_vec3(0, 1, 1), &m) == TB_ERROR_ARGUMENT && !m);
}

TEST(bad_tet_files_say_what_is_wrong)
{
  static const char* const cases[][2] = {
      {"cut_22.msh", "the file ends where"},
      {"huge_count.msh", "the number of elements is 8000000000"},
      {"missing_node.msh", "has node 14, which is not there"},
      {"hexahedra.msh", "solid but no tetrahedra"},
      {"same_tag.msh", "two nodes have the tag 3"},
      {"run_too_long.msh", "500 elements of the type 4, with 5 to come"},
      {"version_3.msh", "version 3"},
      {"cut_41.msh", "the file ends where"},
      {"huge_block.msh", "a block of 4611686018427387904 entries"},
      {"cut.vtk", "bytes to come"},
      {"hexahedra.vtk", "cell 2 is of type 12"},
      {"offsets_back.vtk", "offset of cell 1 is 30"},
      {"no_cells.vtk", "the file ends where \"CELLS\""},
      {"polydata.vtk", "expected \"UNSTRUCTURED_GRID\""},
      {"flat.vtk", "tetrahedron 0 is flat"},
      {"nan.msh", "expected a coordinate, found \"nan\""},
      {"other", "neither Gmsh"},
      {"empty", "neither Gmsh"},
  };
  tbContext ctx = tb_default_context();
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    tbTetMesh* m = NULL;
    CHECK(load(&ctx, cases[k][0], plain, &m) == TB_ERROR_INPUT && !m);
    if (!strstr(ctx.error.message, cases[k][1]))
      test_failed(__FILE__, __LINE__, "%s: \"%s\" does not say \"%s\"", cases[k][0], ctx.error.message,
                  cases[k][1]);
  }
}

// Cut anywhere, or with any byte changed, a file is read or refused; the sanitizers watch.
TEST(damaged_tet_files_are_survived)
{
  const char* files[] = {"cube_22_binary_little.msh", "cube_41_binary_big.msh", "cube_5_binary.vtk",
                         "cube_41_text.msh"};
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/test/fuzz/corpus/tets/%s", TB_SOURCE_FOLDER, files[k]);
    FILE* file = fopen(path, "rb");
    REQUIRE(file);
    static char bytes[4096];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t i = 0; i < 2 * size; i++) {
      size_t length = i < size ? i : size;
      char* copy = malloc(length ? length : 1);
      REQUIRE(copy);
      memcpy(copy, bytes, length);
      if (i >= size) copy[i - size] = (char)(copy[i - size] ^ (i % 3 == 0 ? 0x80 : i % 3 == 1 ? 0xff : 1));
      tbContext ctx = tb_default_context();
      tbTetMesh* m = NULL;
      tbStatus status = tb_tet_mesh_parse(&ctx, "damaged", copy, length, plain, &m);
      CHECK(status == TB_OK ? m != NULL : status == TB_ERROR_INPUT && !m);
      tb_tet_mesh_free(&ctx, m);
      free(copy);
    }
  }
}

TEST(tet_meshes_are_written_and_read_again)
{
  tbContext ctx = tb_default_context();
  tbTetMesh *m = NULL, *again = NULL;
  CHECK_OK(&ctx, tb_tet_torus(&ctx, 1, 0.3, 2, 7, &m));
  REQUIRE(m);
  char path[] = "/tmp/tribo_tets_XXXXXX";
  int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  close(descriptor);
  CHECK_OK(&ctx, tb_tet_mesh_save_vtk(&ctx, path, m));
  CHECK_OK(&ctx, tb_tet_mesh_load(&ctx, path, plain, &again));
  unlink(path);
  REQUIRE(again);
  CHECK(again->nnode == m->nnode && again->ntet == m->ntet);
  CHECK(memcmp(again->node, m->node, (size_t)m->nnode * sizeof *m->node) == 0);
  CHECK(memcmp(again->tet, m->tet, (size_t)m->ntet * sizeof *m->tet) == 0);
  tb_tet_mesh_free(&ctx, again);
  tb_tet_mesh_free(&ctx, m);
}

LONG_TEST(meshes_of_other_projects_load_and_carry_bodies)
{
  static const struct {
    const char* name;
    int nodes, tets, triangles;
  } files[] = {{"torus.msh", 200, 491, 400},
               {"sphere1K.msh", 1760, 6851, 2474},
               {"bunny.msh", 4670, 19379, 6266},
               {"Armadillo28K.vtk", 27951, 121190, 34592}};
  const char* shared = test_shared_folder();
  if (!shared) SKIP("no folder shared/ beside the checkout");
  tbContext ctx = tb_default_context();
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/meshes/%s", shared, files[k].name);
    if (access(path, R_OK) != 0) SKIP("no %s", path);
    tbTetMesh* m = NULL;
    CHECK_OK(&ctx, tb_tet_mesh_load(&ctx, path, plain, &m));
    REQUIRE(m);
    CHECK(m->nnode == files[k].nodes && m->ntet == files[k].tets && m->ntriangle == files[k].triangles);
    if (m->ntet < 20000) { // rest is rest, slivers and all
      tbSoftDef def = tb_soft_def();
      tbFemBody* body = NULL;
      CHECK_OK(&ctx, tb_fem_soft_create(&ctx, m, &def, (tbFemSprings){0}, &body));
      REQUIRE(body);
      double* f = TB_NEW(&ctx, double, 3 * (size_t)m->nnode);
      REQUIRE(f);
      double energy = tb_fem_evaluate(body, NULL, m->node, TB_TANGENT_POSITIVE, f), most = 0;
      for (int i = 0; i < 3 * m->nnode; i++) most = fmax(most, fabs(f[i]));
      CHECK(energy < 1e-16 * def.young * m->total && most < 1e-9 * def.young);
      tb_free(&ctx, f);
      tb_fem_free(&ctx, body);
    }
    tb_tet_mesh_free(&ctx, m);
  }
  char path[1024];
  snprintf(path, sizeof path, "%s/meshes/mat40x40.obj", shared);
  tbMesh* sheet = NULL;
  tbFemBody* cloth = NULL;
  tbClothDef def = tb_cloth_def();
  CHECK_OK(&ctx, tb_mesh_load(&ctx, path, plain, &sheet));
  REQUIRE(sheet);
  CHECK_OK(&ctx, tb_fem_cloth_create(&ctx, sheet, &def, (tbFemSprings){0}, &cloth));
  REQUIRE(cloth);
  CHECK(tb_fem_energy(cloth, cloth->rest) < 1e-20);
  tb_fem_free(&ctx, cloth);
  tb_mesh_free(&ctx, sheet);
}
