// SPDX-License-Identifier: Apache-2.0
// Loads of bodies, as scene files have them.
#include "io/scene/table.h"

// clang-format off

static const tbKey load_key_keys[] = {
    {"t", TB_KEY_NUMBER, AT(LoadKey, t), ANY, .required = true, .text = "time, s; increasing"},
    {"force", TB_KEY_NUMBERS, AT(LoadKey, force), ANY, 3, 3, .shown = true, .text = "on the centre of mass, world axes, N"},
    {"torque", TB_KEY_NUMBERS, AT(LoadKey, torque), ANY, 3, 3, .shown = true, .text = "world axes, N·m"},
};

static const tbRecord load_key_record = {
    "load_key", "A load at a time.",
    RECORD(LoadKey, NULL, load_key_keys)};

static const tbKey load_keys[] = {
    {"force", TB_KEY_NUMBERS, AT(Load, force), ANY, 3, 3, .shown = true, .text = "on the centre of mass, world axes, N; of what deforms: shared out as its mass is"},
    {"torque", TB_KEY_NUMBERS, AT(Load, torque), ANY, 3, 3, .shown = true, .text = "world axes, N·m; not on what deforms"},
    {"keys", TB_KEY_RECORDS, AT(Load, keys), .record = &load_key_record,
     .text = "instead of them: loads at times, on straight lines between them, constant before and after"},
};

const tbRecord tb_load_record = {
    "load", "A force that acts on a body throughout.",
    RECORD(Load, NULL, load_keys)};
