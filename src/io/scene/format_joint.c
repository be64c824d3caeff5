// SPDX-License-Identifier: Apache-2.0
// The table of the scene format, continued: joints, in the order of tbJointType, and what drives them.
#include "io/scene/table.h"
#include "tribo/scene.h"

// clang-format off
#define KEY_TIME {"t", TB_KEY_NUMBER, AT(JointKey, t), ANY, .required = true, .text = "time, s; increasing"}

static const tbKey motor_key_keys[] = {
    KEY_TIME,
    {"speed", TB_KEY_NUMBER, AT(JointKey, value), ANY, .required = true, .text = "rad/s or m/s"},
};

static const tbRecord motor_key_record = {
    "motor_key", "A speed at a time.",
    RECORD(JointKey, NULL, motor_key_keys)};

static const tbKey motor_keys[] = {
    {"speed", TB_KEY_NUMBER, AT(Motor, speed), ANY, .text = "rad/s or m/s; needed where there are no keys"},
    {"force", TB_KEY_NUMBER, AT(Motor, force), NONNEGATIVE, .required = true, .text = "at most; N·m or N"},
    {"keys", TB_KEY_RECORDS, AT(Motor, keys), .record = &motor_key_record,
     .text = "instead of the speed: speeds at times, on straight lines between them, constant before and after"},
};

static const tbRecord motor_record = {
    "motor", "Drives a joint towards a speed.",
    RECORD(Motor, NULL, motor_keys)};

static const tbKey effort_key_keys[] = {
    KEY_TIME,
    {"force", TB_KEY_NUMBER, AT(JointKey, value), ANY, .required = true, .text = "N·m or N"},
};

static const tbRecord effort_key_record = {
    "effort_key", "An effort at a time.",
    RECORD(JointKey, NULL, effort_key_keys)};

static const tbKey effort_keys[] = {
    {"force", TB_KEY_NUMBER, AT(Effort, force), ANY, .text = "on b, and back on a; N·m or N; needed where there are no keys"},
    {"keys", TB_KEY_RECORDS, AT(Effort, keys), .record = &effort_key_record,
     .text = "instead of it: efforts at times, on straight lines between them, constant before and after"},
};

static const tbRecord effort_record = {
    "effort", "A torque about the axis of a hinge, or a force along that of a slider.",
    RECORD(Effort, NULL, effort_keys)};

static const tbKey servo_key_keys[] = {
    KEY_TIME,
    {"target", TB_KEY_NUMBER, AT(JointKey, value), ANY, .required = true, .text = "from the start, rad or m"},
};

static const tbRecord servo_key_record = {
    "servo_key", "A target at a time.",
    RECORD(JointKey, NULL, servo_key_keys)};

static void init_servo(void* out) { ((tbSceneServo*)out)->force = INFINITY; }

static const tbKey servo_keys[] = {
    {"target", TB_KEY_NUMBER, AT(Servo, target), ANY, .shown = true, .text = "angle or travel from the start, rad or m"},
    {"stiffness", TB_KEY_NUMBER, AT(Servo, stiffness), NONNEGATIVE, .shown = true, .text = "N·m/rad or N/m"},
    {"damping", TB_KEY_NUMBER, AT(Servo, damping), NONNEGATIVE, .shown = true,
     .text = "N·m·s/rad or N·s/m; not both zero"},
    {"keys", TB_KEY_RECORDS, AT(Servo, keys), .record = &servo_key_record,
     .text = "instead of the target: targets at times, on straight lines between them, at rest before and after"},
    {"force", TB_KEY_NUMBER, AT(Servo, force), NONNEGATIVE, .text = "at most, N·m or N; absent: whatever it takes"},
};

static const tbRecord servo_record = {
    "servo", "Holds a joint at an angle or travel: force = stiffness (target − coordinate) + damping (rate of the target − speed).",
    RECORD(Servo, init_servo, servo_keys)};

static const tbKey joint_keys[] = {
    {"type", TB_KEY_TAG, AT(Joint, type), .required = true, .text = "which of these"},
    {"name", TB_KEY_STRING, AT(Joint, name), .text = "unique among joints; for control and CSV files"},
    {"a", TB_KEY_STRING, AT(Joint, a), .text = "a rigid or a reduced body; \"world\" or absent: the world"},
    {"b", TB_KEY_STRING, AT(Joint, b), .text = "a rigid or a reduced body; \"world\" or absent: the world"},
    {"compliance", TB_KEY_NUMBER, AT(Joint, compliance), NONNEGATIVE, .shown = true,
     .text = "0: rigid; m/N, rad/(N·m)"},
    {"damping", TB_KEY_NUMBER, AT(Joint, damping), NONNEGATIVE, .shown = true,
     .text = "with compliance: of the spring, N·s/m"},
    {"collide", TB_KEY_BOOL, AT(Joint, collide), .shown = true, .text = "let the two bodies collide"},
};

#define ANCHOR(need, what) {"anchor", TB_KEY_NUMBERS, AT(Joint, anchor), ANY, 3, 3, .required = need, .text = what}
#define AXIS \
  {"axis", TB_KEY_NUMBERS, AT(Joint, axis), ANY, 3, 3, .required = true, .text = "world, at the start; not 0"}
#define LIMITS(range, what) {"limits", TB_KEY_NUMBERS, AT(Joint, limits), range, 2, 2, .text = what}
#define MOTOR {"motor", TB_KEY_RECORD, AT(Joint, motor), .record = &motor_record, .text = "drives it"}
#define SERVO \
  {"servo", TB_KEY_RECORD, AT(Joint, servo), .record = &servo_record, .text = "or holds it; not with a motor"}
#define EFFORT {"effort", TB_KEY_RECORD, AT(Joint, effort), .record = &effort_record, .text = "pushes it; beside a motor or servo, too"}
#define FRICTION {"friction", TB_KEY_NUMBER, AT(Joint, friction), NONNEGATIVE, .shown = true, \
  .text = "dry: resists with at most so much, N·m or N; beside a motor or servo, too"}
#define ARMATURE {"armature", TB_KEY_NUMBER, AT(Joint, armature), NONNEGATIVE, .shown = true, \
  .text = "inertia that turns or travels with the joint: of a rotor, times its gear's ratio squared; kg·m² or kg"}
#define MIDDLE "world, at the start, m; absent: the origin of b, or of a where b is the world"

static const tbKey ball_keys[] = {ANCHOR(true, "world, at the start, m")};
static const tbKey hinge_keys[] = {
    ANCHOR(true, "world, at the start, m"), AXIS,
    LIMITS(ANY, "lowest and highest angle from the start, rad"),
    {"limits_deg", TB_KEY_NUMBERS, AT(Joint, limits_deg), ANY, 2, 2, .text = "the same in degrees"},
    MOTOR, SERVO, EFFORT, FRICTION, ARMATURE};
static const tbKey slider_keys[] = {ANCHOR(false, MIDDLE), AXIS,
                                    LIMITS(ANY, "lowest and highest travel from the start, m"), MOTOR, SERVO, EFFORT,
                                    FRICTION, ARMATURE};
static const tbKey weld_keys[] = {ANCHOR(false, MIDDLE)};
static const tbKey distance_keys[] = {
    ANCHOR(true, "on a; world, at the start, m"),
    {"anchor_b", TB_KEY_NUMBERS, AT(Joint, anchor_b), ANY, 3, 3,
     .text = "on b; absent: its centre of mass"},
    LIMITS(NONNEGATIVE, "shortest and longest distance, m; absent: as at the start")};

static const tbRecord joint_variants[] = {
    VARIANT("ball", "The anchors stay together.", ball_keys),
    VARIANT("hinge", "Turns about an axis.", hinge_keys),
    VARIANT("slider", "Slides along an axis without turning.", slider_keys),
    VARIANT("weld", "Nothing moves.", weld_keys),
    VARIANT("distance", "The anchors keep their distance.", distance_keys),
};
_Static_assert(COUNT(joint_variants) == TB_JOINT_COUNT, "one variant per tbJointType");

const tbRecord tb_joint_record = {
    "joint", "Joins two bodies, or a body and the world.",
    RECORD(Joint, NULL, joint_keys), VARIANTS(joint_variants)};
// clang-format on
