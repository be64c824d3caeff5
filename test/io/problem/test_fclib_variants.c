// SPDX-License-Identifier: Apache-2.0
// The same problem as different HDF5 writers would store it.
#include "io/io_test.h"

#ifdef TB_HAVE_HDF5

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char* what;
  bool latest;       // the newest format instead of the oldest
  bool packed;       // chunked and compressed
  bool compact;      // inside the object header
  bool shared_type;  // a named datatype
  int user_block;    // bytes before the file proper
  int crowd;         // other objects in the root group
  int integer, real; // 0: little-endian int32 and double, else the types below
} Variant;

static hid_t integer_type(int choice)
{
  return choice == 1   ? H5T_STD_I64BE
         : choice == 2 ? H5T_STD_U16LE
         : choice == 3 ? H5T_STD_I8BE
                       : H5T_STD_I32LE;
}

static hid_t real_type(int choice)
{
  return choice == 1   ? H5T_IEEE_F64BE
         : choice == 2 ? H5T_IEEE_F32LE
         : choice == 3 ? H5T_STD_I32BE
                       : H5T_IEEE_F64LE;
}

static void put(hid_t file, const Variant* v, const char* path, bool integers, int count,
                const double* values)
{
  hsize_t size = (hsize_t)count, chunk = 2;
  hid_t space = count == 1 && v->compact ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
  hid_t type = H5Tcopy(integers ? integer_type(v->integer) : real_type(v->real));
  char name[64];
  snprintf(name, sizeof name, "/type%s", strrchr(path, '/') + 1);
  if (v->shared_type) H5Tcommit2(file, name, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Pset_create_intermediate_group(links, 1);
  if (v->packed && count > 1) H5Pset_chunk(plist, 1, &chunk), H5Pset_deflate(plist, 6);
  if (v->compact) H5Pset_layout(plist, H5D_COMPACT);
  hid_t set = H5Dcreate2(file, path, type, space, links, plist, H5P_DEFAULT);
  CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(set), H5Tclose(type), H5Pclose(plist), H5Pclose(links), H5Sclose(space);
}

// One contact in 3-D, W in compressed rows. All numbers are small and whole, so that every type holds them.
static void write_variant(const char* path, const Variant* v)
{
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
  if (v->latest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  if (v->user_block) H5Pset_userblock(creation, (hsize_t)v->user_block);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
  for (int i = 0; i < v->crowd; i++) {
    char name[32];
    snprintf(name, sizeof name, "/other%d", (i * 7919) % v->crowd);
    H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  put(file, v, "/fclib_local/spacedim", true, 1, (double[]){3});
  put(file, v, "/fclib_local/W/m", true, 1, (double[]){3});
  put(file, v, "/fclib_local/W/n", true, 1, (double[]){3});
  Variant signed_nz = *v;
  if (v->integer == 2) signed_nz.integer = 0;
  put(file, &signed_nz, "/fclib_local/W/nz", true, 1, (double[]){-2});
  put(file, v, "/fclib_local/W/nzmax", true, 1, (double[]){5});
  put(file, v, "/fclib_local/W/p", true, 4, (double[]){0, 2, 3, 5});
  put(file, v, "/fclib_local/W/i", true, 5, (double[]){0, 2, 1, 0, 2});
  put(file, v, "/fclib_local/W/x", false, 5, (double[]){4, 1, 3, 1, 5});
  put(file, v, "/fclib_local/vectors/q", false, 3, (double[]){-7, 2, 1});
  put(file, v, "/fclib_local/vectors/mu", false, 1, (double[]){1});
  H5Fclose(file);
  H5Pclose(access), H5Pclose(creation);
}

TEST(fclib_files_of_many_writers_say_the_same)
{
  static const Variant variants[] = {
      {.what = "oldest"},
      {.what = "latest", .latest = true},
      {.what = "packed", .packed = true},
      {.what = "latest, packed", .latest = true, .packed = true},
      {.what = "compact", .compact = true},
      {.what = "latest, compact", .latest = true, .compact = true},
      {.what = "shared types", .shared_type = true},
      {.what = "user block", .user_block = 1024},
      {.what = "latest, user block", .latest = true, .user_block = 512},
      {.what = "crowd", .crowd = 1000},
      {.what = "latest, crowd", .latest = true, .crowd = 1000},
      {.what = "big endian", .integer = 1, .real = 1},
      {.what = "small types", .integer = 2, .real = 2},
      {.what = "integers", .integer = 3, .real = 3},
  };
  tbProblem* first = NULL;
  tbContext ctx = tb_default_context();
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
    tbProblem* p = NULL;
    const char* difference = "";
    write_variant(io_temp("variant.hdf5"), &variants[i]);
    if (tb_problem_load(&ctx, io_temp("variant.hdf5"), &p, NULL) != TB_OK)
      test_failed(__FILE__, __LINE__, "%s: %s", variants[i].what, ctx.error.message);
    if (!first) first = p;
    REQUIRE(first);
    if (p && !io_same(first, p, &difference))
      test_failed(__FILE__, __LINE__, "%s: %s", variants[i].what, difference);
    if (p != first) tb_problem_free(p);
  }
  CHECK(first->W_val[4] == 5 && first->W_col[1] == 2 && first->bias[0] == -7 && first->param[0] == 1);
  tb_problem_free(first);
}

#endif
