// SPDX-License-Identifier: Apache-2.0
#include "io/problem/h5.h"

#ifdef TB_HAVE_HDF5

#include <stdio.h>
#include <string.h>

// ---- files in memory ----

// HDF5 takes two open files of one name for the same file, so each gets a name no other has meanwhile.
enum { UNIQUE_NAME = 40 };
static const char* unique_name(const void* owner, char name[UNIQUE_NAME])
{
  snprintf(name, UNIQUE_NAME, "tribo-%p", owner);
  return name;
}

static void quiet(H5E_auto2_t* print, void** print_user)
{
  H5Eget_auto2(H5E_DEFAULT, print, print_user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

// ---- reading ----

struct tbH5Library {
  tbContext* ctx;
  size_t length; // of the file
  hid_t file;
  H5E_auto2_t print; // HDF5's error handler before us
  void* print_user;
};

tbStatus tb_h5_library_open(tbContext* ctx, const uint8_t* bytes, size_t length, tbH5Library** out)
{
  tbH5Library* h = TB_NEW(ctx, tbH5Library, 1);
  if (!h) return TB_ERROR_MEMORY;
  *h = (tbH5Library){.ctx = ctx, .length = length, .file = -1};
  quiet(&h->print, &h->print_user);
  char unique[UNIQUE_NAME];
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0 && H5Pset_fapl_core(access, 65536, false) >= 0 &&
      H5Pset_file_image(access, (void*)bytes, length) >= 0)
    h->file = H5Fopen(unique_name(h, unique), H5F_ACC_RDONLY, access);
  H5Pclose(access);
  *out = h;
  return h->file >= 0 ? TB_OK : tb_fail(ctx, TB_ERROR_INPUT, "a damaged HDF5 file: it does not open");
}

void tb_h5_library_close(tbContext* ctx, tbH5Library* h)
{
  if (!h) return;
  if (h->file >= 0) H5Fclose(h->file);
  H5Eset_auto2(H5E_DEFAULT, h->print, h->print_user);
  tb_free(ctx, h);
}

#define FAIL(h, ...) tb_fail((h)->ctx, TB_ERROR_INPUT, __VA_ARGS__)

enum { LONGEST_PATH = 128 };

// Does every step of the path exist, by hard links alone? *odd: a step is a link of another kind.
static bool follows(tbH5Library* h, const char* path, bool* odd)
{
  char part[LONGEST_PATH];
  for (size_t i = 1; i < LONGEST_PATH; i++) {
    if (path[i] != '/' && path[i] != 0) continue;
    memcpy(part, path, i);
    part[i] = 0;
    H5L_info_t info;
    if (H5Lexists(h->file, part, H5P_DEFAULT) <= 0) return false;
    if (H5Lget_info(h->file, part, &info, H5P_DEFAULT) < 0) return false;
    if (info.type != H5L_TYPE_HARD) {
      *odd = true;
      return false;
    }
    if (path[i] == 0) return true;
  }
  return false;
}

bool tb_h5_library_has(tbH5Library* h, const char* path)
{
  bool odd = false;
  return follows(h, path, &odd) || odd; // a strange link is there, and refused when read
}

typedef struct {
  hid_t set, type, space, creation;
  H5T_class_t class;
  size_t count;
  int rank;
} Dataset;

static void close_dataset(Dataset* d)
{
  if (d->creation >= 0) H5Pclose(d->creation);
  if (d->space >= 0) H5Sclose(d->space);
  if (d->type >= 0) H5Tclose(d->type);
  if (d->set >= 0) H5Dclose(d->set);
}

// Deflate, the filter with the highest ratio, packs at most 1032 bytes into one.
static bool is_larger_than_file(const tbH5Library* h, bool packed, hsize_t count, size_t item)
{
  hsize_t most = (hsize_t)h->length * (packed ? 1032 : 1);
  return item && count > most / item;
}

static tbStatus check_storage(tbH5Library* h, const char* path, Dataset* d)
{
  H5D_layout_t layout = H5Pget_layout(d->creation);
  bool chunked = layout == H5D_CHUNKED;
  if ((!chunked && layout != H5D_CONTIGUOUS && layout != H5D_COMPACT) ||
      H5Pget_external_count(d->creation) != 0)
    return FAIL(h, "%s keeps its values outside the file", path);
  hsize_t chunk = 0;
  if (chunked && H5Pget_chunk(d->creation, 1, &chunk) != 1) return FAIL(h, "%s is damaged", path);
  size_t item = H5Tget_size(d->type);
  if (is_larger_than_file(h, chunked, d->count, item) || is_larger_than_file(h, chunked, chunk, item))
    return FAIL(h, "%s claims %zu values, more than the file can hold", path,
                chunk > d->count ? (size_t)chunk : d->count);
  return TB_OK;
}

static tbStatus check_dataset(tbH5Library* h, const char* path, Dataset* d)
{
  bool odd = false;
  if (!follows(h, path, &odd)) {
    if (odd) return FAIL(h, "%s is a soft or external link; only values in the file itself are read", path);
    return FAIL(h, "%s is missing", path);
  }
  d->set = H5Dopen2(h->file, path, H5P_DEFAULT);
  if (d->set < 0) return FAIL(h, "%s is not a dataset, or is damaged", path);
  d->type = H5Dget_type(d->set);
  d->space = H5Dget_space(d->set);
  d->creation = H5Dget_create_plist(d->set);
  if (d->type < 0 || d->space < 0 || d->creation < 0) return FAIL(h, "%s is damaged", path);
  d->class = H5Tget_class(d->type);

  H5S_class_t shape = H5Sget_simple_extent_type(d->space);
  int rank = H5Sget_simple_extent_ndims(d->space);
  hsize_t extent = shape == H5S_SCALAR;
  if (shape == H5S_SIMPLE && rank == 1 && H5Sget_simple_extent_dims(d->space, &extent, NULL) != 1)
    return FAIL(h, "%s is damaged", path);
  if (extent > SIZE_MAX) return FAIL(h, "%s has too many values", path);
  d->count = (size_t)extent;
  d->rank = rank;
  return rank > 1 ? TB_OK : check_storage(h, path, d);
}

static tbStatus open_dataset(tbH5Library* h, const char* path, Dataset* d)
{
  *d = (Dataset){-1, -1, -1, -1, H5T_NO_CLASS, 0, 0};
  tbStatus status = check_dataset(h, path, d);
  if (status != TB_OK) close_dataset(d);
  return status;
}

tbStatus tb_h5_library_set(tbContext* ctx, tbH5Library* h, const char* path, tbH5Set* out)
{
  Dataset d;
  h->ctx = ctx;
  TB_TRY(open_dataset(h, path, &d));
  *out = (tbH5Set){.rank = d.rank, .count = d.count};
  out->class = d.class == H5T_INTEGER ? TB_H5_INTEGER : d.class == H5T_FLOAT ? TB_H5_FLOAT : TB_H5_OTHER;
  close_dataset(&d);
  return TB_OK;
}

tbStatus tb_h5_library_read(tbContext* ctx, tbH5Library* h, const char* path, size_t count, int64_t* integers,
                            double* reals)
{
  Dataset d;
  h->ctx = ctx;
  TB_TRY(open_dataset(h, path, &d));
  hsize_t start = 0, size = count;
  hid_t room = H5Screate_simple(1, &size, NULL), memory = integers ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
  bool read = room >= 0 && count <= d.count;
  if (read && H5Sget_simple_extent_type(d.space) == H5S_SIMPLE)
    read = H5Sselect_hyperslab(d.space, H5S_SELECT_SET, &start, NULL, &size, NULL) >= 0;
  read = read &&
         H5Dread(d.set, memory, room, d.space, H5P_DEFAULT, integers ? (void*)integers : (void*)reals) >= 0;
  if (room >= 0) H5Sclose(room);
  close_dataset(&d);
  return read ? TB_OK : FAIL(h, "%s cannot be read: the file is damaged or cut short", path);
}

// ---- writing ----

void tb_h5_abandon(tbH5Writer* w)
{
  if (w->file >= 0) H5Fclose(w->file);
  w->file = -1;
  H5Eset_auto2(H5E_DEFAULT, w->print, w->print_user);
}

tbStatus tb_h5_create(tbContext* ctx, tbH5Writer* w)
{
  *w = (tbH5Writer){.ctx = ctx, .file = -1};
  quiet(&w->print, &w->print_user);
  char unique[UNIQUE_NAME];
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0 && H5Pset_fapl_core(access, 1 << 20, false) >= 0)
    w->file = H5Fcreate(unique_name(w, unique), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  if (w->file >= 0) return TB_OK;
  tb_h5_abandon(w);
  return tb_fail(ctx, TB_ERROR_MEMORY, "HDF5 cannot make a file in memory");
}

void tb_h5_put_group(tbH5Writer* w, const char* path)
{
  hid_t group = H5Gcreate2(w->file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (group < 0) w->failed = true;
  else H5Gclose(group);
}

static void put_values(tbH5Writer* w, const char* path, hid_t stored, hid_t space, hid_t memory,
                       const void* values)
{
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE), set = -1;
  if (creation >= 0 && H5Pset_obj_track_times(creation, false) >= 0) // no clock in the file
    set = H5Dcreate2(w->file, path, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (set < 0 || H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) w->failed = true;
  if (set >= 0) H5Dclose(set);
  if (creation >= 0) H5Pclose(creation);
  if (space >= 0) H5Sclose(space);
}

void tb_h5_put_ints(tbH5Writer* w, const char* path, size_t count, const int* values)
{
  hsize_t extent = count;
  put_values(w, path, H5T_STD_I32LE, H5Screate_simple(1, &extent, NULL), H5T_NATIVE_INT, values);
}

void tb_h5_put_doubles(tbH5Writer* w, const char* path, size_t count, const double* values)
{
  hsize_t extent = count;
  put_values(w, path, H5T_IEEE_F64LE, H5Screate_simple(1, &extent, NULL), H5T_NATIVE_DOUBLE, values);
}

void tb_h5_put_text(tbH5Writer* w, const char* path, const char* text)
{
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0 || H5Tset_size(type, strlen(text) + 1) < 0) w->failed = true;
  put_values(w, path, type, H5Screate(H5S_SCALAR), type, text);
  if (type >= 0) H5Tclose(type);
}

static tbStatus take_image(tbH5Writer* w, char** bytes, size_t* length)
{
  if (w->failed || H5Fflush(w->file, H5F_SCOPE_GLOBAL) < 0)
    return tb_fail(w->ctx, TB_ERROR_MEMORY, "HDF5 ran out of memory");
  ssize_t size = H5Fget_file_image(w->file, NULL, 0);
  char* image = size > 0 ? TB_NEW(w->ctx, char, (size_t)size) : NULL;
  if (size > 0 && !image) return TB_ERROR_MEMORY;
  if (size <= 0 || H5Fget_file_image(w->file, image, (size_t)size) != size) {
    tb_free(w->ctx, image);
    return tb_fail(w->ctx, TB_ERROR_IO, "HDF5 gives no image of the file");
  }
  *bytes = image;
  *length = (size_t)size;
  return TB_OK;
}

tbStatus tb_h5_finish(tbH5Writer* w, char** bytes, size_t* length)
{
  tbStatus status = take_image(w, bytes, length);
  tb_h5_abandon(w);
  return status;
}

#else

tbStatus tb_h5_library_open(tbContext* ctx, const uint8_t* bytes, size_t length, tbH5Library** out)
{
  (void)bytes, (void)length;
  *out = NULL;
  return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                 "this kind of HDF5 file needs the HDF5 library, which Tribo was built without (Debian: "
                 "install libhdf5-dev and build again)");
}

void tb_h5_library_close(tbContext* ctx, tbH5Library* library) { (void)ctx, (void)library; }

bool tb_h5_library_has(tbH5Library* library, const char* path)
{
  (void)library, (void)path;
  return false;
}

tbStatus tb_h5_library_set(tbContext* ctx, tbH5Library* library, const char* path, tbH5Set* out)
{
  (void)ctx, (void)library, (void)path, (void)out;
  return TB_ERROR_UNSUPPORTED;
}

tbStatus tb_h5_library_read(tbContext* ctx, tbH5Library* library, const char* path, size_t count,
                            int64_t* integers, double* reals)
{
  (void)ctx, (void)library, (void)path, (void)count, (void)integers, (void)reals;
  return TB_ERROR_UNSUPPORTED;
}

#endif
