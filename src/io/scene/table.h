// SPDX-License-Identifier: Apache-2.0
// What the files of the format's table share: how rows are written, and records that several others use.
#ifndef TB_IO_SCENE_TABLE_H
#define TB_IO_SCENE_TABLE_H

#include "io/scene/format.h"

// clang-format off
#define AT(record, member)       offsetof(tbScene##record, member)
#define COUNT(array)             ((int)(sizeof(array) / sizeof *(array)))
#define RECORD(record, make, list) \
  .size = sizeof(tbScene##record), .init = make, .keys = list, .key_count = COUNT(list)
#define VARIANTS(list)           .variants = list, .variant_count = COUNT(list)
#define VARIANT(tag, what, list) {.name = tag, .text = what, .keys = list, .key_count = COUNT(list)}
#define NAMED_VARIANT(tag, what, list) \
  {.name = tag, .text = what, .keys = list, .key_count = COUNT(list), .by_tag = true}
#define RESERVED(tag)            {.name = tag}
#define ANY                      {-INFINITY, INFINITY, false}
#define POSITIVE                 {0, INFINITY, true}
#define BITS                     {0, 4294967295.0, false}
#define TB_CATEGORY_TEXT "bits: what it is, for the masks of others"
#define TB_MASK_TEXT     "bits: two bodies touch where each has a category that the other's mask has"
#define NONNEGATIVE              {0, INFINITY, false}
#define UNIT                     {0, 1, false}
#define COEFFICIENT              {0, 1e6, false}

// Rows that several records have.
#define POSE_KEYS(record, what)                                                                               \
  {"position", TB_KEY_NUMBERS, AT(record, pose.position), ANY, 3, 3, .shown = true, .text = what ", m"},       \
  {"orientation", TB_KEY_NUMBERS, AT(record, pose.orientation), ANY, 4, 4, .shown = true,                      \
   .text = "quaternion [w, x, y, z], of any length but 0"},                                                    \
  {"orientation_euler", TB_KEY_NUMBERS, AT(record, pose.euler), ANY, 3, 3,                                     \
   .text = "instead: turned about the fixed axes x, then y, then z, rad"},                                     \
  {"orientation_euler_deg", TB_KEY_NUMBERS, AT(record, pose.euler_deg), ANY, 3, 3, .text = "the same in degrees"}

// at: the tbSceneMotion in the record, with its dot.
#define MOTION_KEYS(of, at)                                                                               \
  {"velocity", TB_KEY_NUMBERS, AT(of, at velocity), ANY, 3, 3, .shown = true, .text = "constant, m/s"},    \
  {"angular_velocity", TB_KEY_NUMBERS, AT(of, at angular_velocity), ANY, 3, 3, .shown = true,              \
   .text = "constant, world axes, rad/s"},                                                                     \
  {"keys", TB_KEY_RECORDS, AT(of, at keys), .record = &tb_motion_key_record,                               \
   .text = "instead: poses at times; constant velocities between them, at rest before and after"}
// clang-format on

extern const tbRecord tb_friction_record, tb_motion_key_record, tb_motion_record, tb_repeat_record,
    tb_load_record;
extern const tbRecord tb_joint_record;                                    // format_joint.c
extern const tbRecord tb_soft_record, tb_cloth_record, tb_reduced_record; // format_soft.c
extern const tbRecord tb_sheet_record;                                    // the same
extern const tbRecord tb_animated_record;                                 // format_animated.c

#endif
