// SPDX-License-Identifier: Apache-2.0
// HDF5, as much of it as FCLIB needs: numbers in, numbers out, always through memory.
//
// A file is read from its bytes and written to bytes, so nothing half-written can stay behind, and a hostile
// file cannot make anyone look elsewhere: only hard links are followed, datasets kept in other files are
// refused, and no dataset may claim more than its file can hold, so nothing is allocated on the word of the
// file alone.
//
// Plain files are read by Tribo itself (h5_plain.h). The HDF5 library, where Tribo is built with it, reads
// the datasets beyond that (chunked or compressed, say) and does all writing. Its printing of errors is off
// while a tbH5 uses it.
#ifndef TB_IO_PROBLEM_H5_H
#define TB_IO_PROBLEM_H5_H

#include "base/memory.h"
#include "io/problem/h5_plain.h"

typedef struct tbH5 {
  tbContext* ctx;
  tbH5Plain plain;
  bool is_plain;               // the superblock is one we know
  struct tbH5Library* library; // null until it is needed
} tbH5;

// Reading. Paths are absolute. Close also what failed to open.
tbStatus tb_h5_open(tbContext* ctx, const char* bytes, size_t length, tbH5* h);
void tb_h5_close(tbH5* h);

tbStatus tb_h5_has(tbH5* h, const char* path, bool* has);
// The number of values in a dataset of rank 0 or 1; an absent one is an error.
tbStatus tb_h5_extent(tbH5* h, const char* path, size_t* count);
// The first `count` of them, which must be there. Integers must fit an int, doubles must be finite.
tbStatus tb_h5_ints(tbH5* h, const char* path, size_t count, int* out);
tbStatus tb_h5_doubles(tbH5* h, const char* path, size_t count, double* out);

// The library's part of reading: as above, and integers and doubles as they are.
typedef struct tbH5Library tbH5Library;
tbStatus tb_h5_library_open(tbContext* ctx, const uint8_t* bytes, size_t length, tbH5Library** out);
void tb_h5_library_close(tbContext* ctx, tbH5Library* library); // takes null
bool tb_h5_library_has(tbH5Library* library, const char* path);
tbStatus tb_h5_library_set(tbContext* ctx, tbH5Library* library, const char* path, tbH5Set* out);
tbStatus tb_h5_library_read(tbContext* ctx, tbH5Library* library, const char* path, size_t count,
                            int64_t* integers, double* reals); // one of the two is null

#ifdef TB_HAVE_HDF5

// Writing. Failures are remembered; finish reports them, gives the file's bytes (free with tb_free) and
// closes. The same calls give the same bytes.
#include <hdf5.h>

typedef struct tbH5Writer {
  tbContext* ctx;
  hid_t file;
  H5E_auto2_t print; // HDF5's error handler before us
  void* print_user;
  bool failed;
} tbH5Writer;

tbStatus tb_h5_create(tbContext* ctx, tbH5Writer* w);
void tb_h5_put_group(tbH5Writer* w, const char* path);
void tb_h5_put_ints(tbH5Writer* w, const char* path, size_t count, const int* values);
void tb_h5_put_doubles(tbH5Writer* w, const char* path, size_t count, const double* values);
void tb_h5_put_text(tbH5Writer* w, const char* path, const char* text);
tbStatus tb_h5_finish(tbH5Writer* w, char** bytes, size_t* length);
void tb_h5_abandon(tbH5Writer* w);

#endif
#endif
