// HDF5, as much of it as FCLIB needs: numbers in, numbers out, always through memory.
//
// A file is read from its bytes and written to bytes, so HDF5 never opens a file itself: nothing half-written
// can stay behind, and a hostile file cannot make it look elsewhere. Only hard links are followed; datasets
// kept in other files are refused; and no dataset may claim more than its file can hold, so nothing is
// allocated on the word of the file alone. HDF5's printing of errors is off between open and close.
#ifndef TB_IO_H5_H
#define TB_IO_H5_H

#ifdef TB_HAVE_HDF5

#include "base/memory.h"

#include <hdf5.h>

typedef struct tbH5 {
  tbContext* ctx;
  size_t length; // of the file when reading
  hid_t file;
  H5E_auto2_t print; // HDF5's error handler before us
  void* print_user;
  bool failed; // writing: something went wrong
} tbH5;

// Reading. Paths are absolute. Close also what failed to open.
tbStatus tb_h5_open(tbContext* ctx, const char* bytes, size_t length, tbH5* h);
void tb_h5_close(tbH5* h);

bool tb_h5_has(tbH5* h, const char* path);
// The number of values in a dataset of rank 0 or 1; an absent one is an error.
tbStatus tb_h5_extent(tbH5* h, const char* path, size_t* count);
// The first `count` of them, which must be there. Integers must fit an int, doubles must be finite.
tbStatus tb_h5_ints(tbH5* h, const char* path, size_t count, int* out);
tbStatus tb_h5_doubles(tbH5* h, const char* path, size_t count, double* out);

// Writing. Failures are remembered; finish reports them, gives the file's bytes (free with tb_free) and
// closes. The same calls give the same bytes.
tbStatus tb_h5_create(tbContext* ctx, tbH5* h);
void tb_h5_put_group(tbH5* h, const char* path);
void tb_h5_put_ints(tbH5* h, const char* path, size_t count, const int* values);
void tb_h5_put_doubles(tbH5* h, const char* path, size_t count, const double* values);
void tb_h5_put_text(tbH5* h, const char* path, const char* text);
tbStatus tb_h5_finish(tbH5* h, char** bytes, size_t* length);

#endif
#endif
