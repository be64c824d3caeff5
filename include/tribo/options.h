// SPDX-License-Identifier: Apache-2.0
// Options by name: one table, from which scene files, their schema and documentation, checkpoints, `tribo run
// --set`, `tribo list options` and the page's controls are made. An option is written once, in its row.
//
//   tbStepOptions options = tb_default_step_options();
//   tb_option_set(&ctx, &options, "solver.order", "layers");
//
// A key is the path in a scene file. A value that is out of range, or of the wrong type, is refused with
// TB_ERROR_ARGUMENT and one line that says what is allowed; the options are then as they were.
#ifndef TRIBO_OPTIONS_H
#define TRIBO_OPTIONS_H

#include "tribo/base.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tbOptionType { //   the member
  TB_OPTION_NUMBER,         //   double
  TB_OPTION_INT,            //   int
  TB_OPTION_SEED,           //   uint64_t
  TB_OPTION_BOOL,           //   bool
  TB_OPTION_CHOICE,         //   an enum: the index of a name
  TB_OPTION_NAME,           //   const char*: a name of a table
} tbOptionType;

typedef struct tbOption {
  const char* key;    // "solver.order"
  const char* member; // of the structure: "order"
  tbOptionType type;
  size_t at;                        // of the member
  double low, high;                 // numbers: both allowed; ±∞: no bound
  bool above;                       // low itself is not allowed
  double value;                     // default of numbers, booleans and choices
  const char* name;                 // default of names
  double scale;                     // what a key's number is multiplied by to become the member; 0: 1
  bool chosen;                      // without a value it is chosen from other things, as its text says
  const char* unit;                 // of the key; null: none
  const char* (*choice)(int index); // names of a choice, or of a table; null past the last
  const char* text;                 // one line
} tbOption;

#ifdef __cplusplus
}
#endif
#endif
