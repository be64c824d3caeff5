// SPDX-License-Identifier: Apache-2.0
// Finding and reading datasets in an HDF5 file without the HDF5 library.
//
// That library is not safe against damaged files: some make it read where it must not. What FCLIB's writers
// produce is a small part of the format, and that part is read here from the file's bytes, with every address
// checked: superblocks 0 to 3, object headers 1 and 2, groups with a symbol table or with links in their
// header, datasets in one piece. TB_H5_UNKNOWN marks what is beyond: chunks and filters, large groups of the
// newest kind, shared types.
//
// Reference: HDF5 File Format Specification, version 3.0 (The HDF Group).
#ifndef TB_IO_PROBLEM_H5_PLAIN_H
#define TB_IO_PROBLEM_H5_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tbH5Found {
  TB_H5_FOUND,
  TB_H5_ABSENT,
  TB_H5_LINK,    // a soft or external link stands there
  TB_H5_OUTSIDE, // its values are kept outside the file
  TB_H5_DAMAGED,
  TB_H5_UNKNOWN,
} tbH5Found;

typedef struct tbH5Plain {
  const uint8_t* bytes;
  size_t length;
  uint64_t base; // what addresses count from
  uint64_t root; // object header of the root group
} tbH5Plain;

typedef enum tbH5Class { TB_H5_INTEGER, TB_H5_FLOAT, TB_H5_OTHER } tbH5Class;

typedef struct tbH5Set {
  tbH5Class class;
  size_t item; // bytes of one value: 1, 2, 4, 8 (integer), 4, 8 (float)
  bool big_endian, is_signed;
  int rank;
  size_t count;          // of values, where the rank is 0 or 1
  const uint8_t* values; // count·item bytes inside the file
} tbH5Set;

tbH5Found tb_h5_plain_open(const uint8_t* bytes, size_t length, tbH5Plain* out);
// The object header at the end of an absolute path.
tbH5Found tb_h5_plain_find(const tbH5Plain* file, const char* path, uint64_t* header);
tbH5Found tb_h5_plain_set(const tbH5Plain* file, uint64_t header, tbH5Set* out);

int64_t tb_h5_plain_int(const tbH5Set* set, size_t i); // INT64_MAX for what does not fit
double tb_h5_plain_double(const tbH5Set* set, size_t i);

#endif
