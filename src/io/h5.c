#ifdef TB_HAVE_HDF5

#include "io/h5.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- the file in memory ----

// HDF5 takes two open files of one name for the same file, so each gets a name no other has meanwhile.
enum { UNIQUE_NAME = 40 };
static const char* unique_name(const tbH5* h, char name[UNIQUE_NAME])
{
  snprintf(name, UNIQUE_NAME, "tribo-%p", (const void*)h);
  return name;
}

static void quiet(tbH5* h)
{
  H5Eget_auto2(H5E_DEFAULT, &h->print, &h->print_user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

tbStatus tb_h5_open(tbContext* ctx, const char* bytes, size_t length, tbH5* h)
{
  *h = (tbH5){.ctx = ctx, .length = length, .file = -1};
  quiet(h);
  char unique[UNIQUE_NAME];
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0 && H5Pset_fapl_core(access, 65536, false) >= 0 &&
      H5Pset_file_image(access, (void*)bytes, length) >= 0)
    h->file = H5Fopen(unique_name(h, unique), H5F_ACC_RDONLY, access);
  H5Pclose(access);
  if (h->file >= 0) return TB_OK;
  return tb_fail(ctx, TB_ERROR_INPUT, "damaged HDF5 file: it does not open");
}

void tb_h5_close(tbH5* h)
{
  if (h->file >= 0) H5Fclose(h->file);
  h->file = -1;
  H5Eset_auto2(H5E_DEFAULT, h->print, h->print_user);
}

// ---- reading ----

#define FAIL(h, ...) tb_fail((h)->ctx, TB_ERROR_INPUT, __VA_ARGS__)

enum { LONGEST_PATH = 128 };

// Does every step of the path exist, by hard links alone? *odd: a step is a link of another kind.
static bool follows(tbH5* h, const char* path, bool* odd)
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

bool tb_h5_has(tbH5* h, const char* path)
{
  bool odd = false;
  return follows(h, path, &odd) || odd; // a strange link is there, and refused when read
}

typedef struct {
  hid_t set, type, space, creation;
  H5T_class_t class;
  size_t count;
} Dataset;

static void close_dataset(Dataset* d)
{
  if (d->creation >= 0) H5Pclose(d->creation);
  if (d->space >= 0) H5Sclose(d->space);
  if (d->type >= 0) H5Tclose(d->type);
  if (d->set >= 0) H5Dclose(d->set);
}

// Deflate, the filter with the highest ratio, packs at most 1032 bytes into one.
static bool is_larger_than_file(const tbH5* h, bool packed, hsize_t count, size_t item)
{
  hsize_t most = (hsize_t)h->length * (packed ? 1032 : 1);
  return item && count > most / item;
}

static tbStatus check_storage(tbH5* h, const char* path, Dataset* d)
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

static tbStatus check_dataset(tbH5* h, const char* path, Dataset* d)
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
  if (rank > 1) return FAIL(h, "%s has rank %d; expected a plain list of numbers", path, rank);
  if (extent > SIZE_MAX) return FAIL(h, "%s has too many values", path);
  d->count = (size_t)extent;
  return check_storage(h, path, d);
}

static tbStatus open_dataset(tbH5* h, const char* path, Dataset* d)
{
  *d = (Dataset){-1, -1, -1, -1, H5T_NO_CLASS, 0};
  tbStatus status = check_dataset(h, path, d);
  if (status != TB_OK) close_dataset(d);
  return status;
}

tbStatus tb_h5_extent(tbH5* h, const char* path, size_t* count)
{
  Dataset d;
  TB_TRY(open_dataset(h, path, &d));
  *count = d.count;
  close_dataset(&d);
  return TB_OK;
}

// The first `count` values as `memory` type.
static tbStatus read_values(tbH5* h, const char* path, Dataset* d, size_t count, hid_t memory, void* out)
{
  if (d->count < count) return FAIL(h, "%s has %zu values, expected %zu", path, d->count, count);
  if (count == 0) return TB_OK;
  hsize_t start = 0, size = count;
  hid_t room = H5Screate_simple(1, &size, NULL);
  bool read = room >= 0;
  if (read && H5Sget_simple_extent_type(d->space) == H5S_SIMPLE)
    read = H5Sselect_hyperslab(d->space, H5S_SELECT_SET, &start, NULL, &size, NULL) >= 0;
  read = read && H5Dread(d->set, memory, room, d->space, H5P_DEFAULT, out) >= 0;
  if (room >= 0) H5Sclose(room);
  return read ? TB_OK : FAIL(h, "%s cannot be read: the file is damaged or cut short", path);
}

static tbStatus read_ints(tbH5* h, const char* path, Dataset* d, size_t count, int* out)
{
  if (d->class != H5T_INTEGER) return FAIL(h, "%s does not hold integers", path);
  // Through 64 bits: HDF5 would silently clamp what does not fit an int.
  if (d->count < count) return read_values(h, path, d, count, H5T_NATIVE_LLONG, NULL);
  long long* wide = TB_NEW(h->ctx, long long, count);
  if (!wide) return TB_ERROR_MEMORY;
  tbStatus status = read_values(h, path, d, count, H5T_NATIVE_LLONG, wide);
  for (size_t i = 0; status == TB_OK && i < count; i++) {
    if (wide[i] < INT_MIN || wide[i] > INT_MAX)
      status = FAIL(h, "%s[%zu] = %lld is out of range", path, i, wide[i]);
    else
      out[i] = (int)wide[i];
  }
  tb_free(h->ctx, wide);
  return status;
}

tbStatus tb_h5_ints(tbH5* h, const char* path, size_t count, int* out)
{
  Dataset d;
  TB_TRY(open_dataset(h, path, &d));
  tbStatus status = read_ints(h, path, &d, count, out);
  close_dataset(&d);
  return status;
}

static tbStatus read_doubles(tbH5* h, const char* path, Dataset* d, size_t count, double* out)
{
  if (d->class != H5T_FLOAT && d->class != H5T_INTEGER) return FAIL(h, "%s does not hold numbers", path);
  TB_TRY(read_values(h, path, d, count, H5T_NATIVE_DOUBLE, out));
  for (size_t i = 0; i < count; i++)
    if (!isfinite(out[i])) return FAIL(h, "%s[%zu] is %g; it must be finite", path, i, out[i]);
  return TB_OK;
}

tbStatus tb_h5_doubles(tbH5* h, const char* path, size_t count, double* out)
{
  Dataset d;
  TB_TRY(open_dataset(h, path, &d));
  tbStatus status = read_doubles(h, path, &d, count, out);
  close_dataset(&d);
  return status;
}

// ---- writing ----

tbStatus tb_h5_create(tbContext* ctx, tbH5* h)
{
  *h = (tbH5){.ctx = ctx, .file = -1};
  quiet(h);
  char unique[UNIQUE_NAME];
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0 && H5Pset_fapl_core(access, 1 << 20, false) >= 0)
    h->file = H5Fcreate(unique_name(h, unique), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  if (h->file >= 0) return TB_OK;
  tb_h5_close(h);
  return tb_fail(ctx, TB_ERROR_MEMORY, "HDF5 cannot make a file in memory");
}

void tb_h5_put_group(tbH5* h, const char* path)
{
  hid_t group = H5Gcreate2(h->file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (group < 0)
    h->failed = true;
  else
    H5Gclose(group);
}

static void put_values(tbH5* h, const char* path, hid_t stored, hid_t space, hid_t memory, const void* values)
{
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE), set = -1;
  if (creation >= 0 && H5Pset_obj_track_times(creation, false) >= 0) // no clock in the file
    set = H5Dcreate2(h->file, path, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (set < 0 || H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) h->failed = true;
  if (set >= 0) H5Dclose(set);
  if (creation >= 0) H5Pclose(creation);
  if (space >= 0) H5Sclose(space);
}

void tb_h5_put_ints(tbH5* h, const char* path, size_t count, const int* values)
{
  hsize_t extent = count;
  put_values(h, path, H5T_STD_I32LE, H5Screate_simple(1, &extent, NULL), H5T_NATIVE_INT, values);
}

void tb_h5_put_doubles(tbH5* h, const char* path, size_t count, const double* values)
{
  hsize_t extent = count;
  put_values(h, path, H5T_IEEE_F64LE, H5Screate_simple(1, &extent, NULL), H5T_NATIVE_DOUBLE, values);
}

void tb_h5_put_text(tbH5* h, const char* path, const char* text)
{
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0 || H5Tset_size(type, strlen(text) + 1) < 0) h->failed = true;
  put_values(h, path, type, H5Screate(H5S_SCALAR), type, text);
  if (type >= 0) H5Tclose(type);
}

static tbStatus take_image(tbH5* h, char** bytes, size_t* length)
{
  if (h->failed || H5Fflush(h->file, H5F_SCOPE_GLOBAL) < 0)
    return tb_fail(h->ctx, TB_ERROR_MEMORY, "HDF5 ran out of memory");
  ssize_t size = H5Fget_file_image(h->file, NULL, 0);
  char* image = size > 0 ? TB_NEW(h->ctx, char, (size_t)size) : NULL;
  if (size > 0 && !image) return TB_ERROR_MEMORY;
  if (size <= 0 || H5Fget_file_image(h->file, image, (size_t)size) != size) {
    tb_free(h->ctx, image);
    return tb_fail(h->ctx, TB_ERROR_IO, "HDF5 gives no image of the file");
  }
  *bytes = image;
  *length = (size_t)size;
  return TB_OK;
}

tbStatus tb_h5_finish(tbH5* h, char** bytes, size_t* length)
{
  tbStatus status = take_image(h, bytes, length);
  tb_h5_close(h);
  return status;
}

#else
typedef int tb_built_without_hdf5;
#endif
