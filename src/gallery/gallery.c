// SPDX-License-Identifier: Apache-2.0
// The gallery's table: one row and one function per scene.
#include "gallery/gallery.h"

#include "base/decimal.h"
#include "base/file.h"

#include <string.h>

#define WHOLE(name, summary, value, low, high) \
  {                                            \
    name, summary, value, low, high, true      \
  }
#define NUMBER(name, summary, value, low, high) \
  {                                             \
    name, summary, value, low, high, false      \
  }
#define FRICTION(value) NUMBER("friction", "of every contact", value, 0, 10)
#define YOUNG(value)    NUMBER("young", "Young's modulus, Pa", value, 1e3, 1e9)
#define SEED            WHOLE("seed", "of whatever is random", 1, 0, 1e9)

static const tbGalleryScene scenes[] = {
    {"stack",
     "boxes on top of each other",
     false,
     tb_gallery_stack,
     {WHOLE("count", "boxes", 10, 1, 10000),
      NUMBER("mass_ratio", "of the top box to the others", 1, 1e-6, 1e6), FRICTION(0.5)}},
    {"heavy-top",
     "a stack that bears a box a thousand times as heavy",
     false,
     tb_gallery_heavy_top,
     {WHOLE("count", "boxes", 10, 1, 10000),
      NUMBER("mass_ratio", "of the top box to the others", 1000, 1e-6, 1e6), FRICTION(0.5)}},
    {"pyramid",
     "a row of boxes, one fewer on top, up to one",
     false,
     tb_gallery_pyramid,
     {WHOLE("rows", "of boxes", 10, 1, 300), FRICTION(0.5)}},
    {"wall",
     "bricks in running bond",
     false,
     tb_gallery_wall,
     {WHOLE("courses", "of bricks", 8, 1, 300), WHOLE("bricks", "in a course", 8, 1, 300), FRICTION(0.5)}},
    {"kaplas",
     "a tower of thin planks, two and two crosswise",
     false,
     tb_gallery_kaplas,
     {WHOLE("levels", "of two planks", 30, 1, 2000), FRICTION(0.4)}},
    {"arch",
     "an arch of stones between two abutments",
     false,
     tb_gallery_arch,
     {WHOLE("stones", "between the abutments", 25, 2, 1000),
      NUMBER("thickness", "over the mean radius; below 0.1075 a half-circle falls", 0.2, 0.01, 1),
      NUMBER("embrace_deg", "the angle the arch spans", 180, 10, 180), FRICTION(0.6)}},
    {"cards",
     "a house of cards",
     false,
     tb_gallery_cards,
     {WHOLE("levels", "storeys", 3, 1, 60), NUMBER("lean_deg", "of the cards from upright", 20, 5, 45),
      NUMBER("thickness", "of a card 90 mm long, m", 0.001, 0.0001, 0.005), FRICTION(0.6)}},
    {"dominoes",
     "a winding row of dominoes, the first one pushed",
     false,
     tb_gallery_dominoes,
     {WHOLE("count", "dominoes", 40, 2, 5000), NUMBER("spacing", "over their height", 0.5, 0.2, 0.95),
      NUMBER("turn_deg", "of the row to either side", 60, 0, 80),
      NUMBER("push", "speed of the first one's middle, m/s", 0.15, 0, 10), FRICTION(0.4)}},
    {"cradle",
     "Newton's cradle: balls in a row on strings, some of them raised",
     false,
     tb_gallery_cradle,
     {WHOLE("balls", "in the row", 5, 1, 100), WHOLE("raised", "at its left end", 1, 0, 100),
      NUMBER("angle_deg", "they are raised by", 30, 0, 80), NUMBER("restitution", "between balls", 1, 0, 1)}},
    {"chain",
     "a chain of ball joints, a heavy ball at its end, let go sideways",
     false,
     tb_gallery_chain,
     {WHOLE("links", "of the chain", 20, 1, 2000),
      NUMBER("mass_ratio", "of the ball to a link", 50, 0.01, 1e6)}},
    {"chain-links",
     "a chain of links that hang in each other by contact alone",
     false,
     tb_gallery_chain_links,
     {WHOLE("links", "below the fixed one", 8, 1, 200),
      NUMBER("mass_ratio", "of the last link to the others", 10, 0.01, 1e6),
      NUMBER("push", "of the last link sideways, m/s", 1, 0, 20), FRICTION(0.3)}},
    {"capstan",
     "a rope over a drum: weights that friction keeps apart",
     false,
     tb_gallery_capstan,
     {WHOLE("links", "of the rope on the drum", 24, 2, 100),
      NUMBER("ratio", "of the weights; held below e^(πμ)", 2, 1, 1000), FRICTION(0.3)}},
    {"seesaw",
     "a plank on a hinge: a heavy box drops, a light one flies",
     false,
     tb_gallery_seesaw,
     {NUMBER("mass", "of the box that drops, kg; the plank has 10, the light box 2", 40, 0.01, 10000),
      NUMBER("drop", "its height above the plank, m", 0.5, 0, 10)}},
    {"door",
     "balls and a door on a motor",
     false,
     tb_gallery_door,
     {WHOLE("layers", "of twelve balls", 5, 1, 100), NUMBER("speed", "of the motor, rad/s", 1, -20, 20)}},
    {"gripper",
     "two fingers close, lift a box and hold it: servos and friction",
     false,
     tb_gallery_gripper,
     {NUMBER("mass", "of the box, kg", 2, 0.001, 1000),
      NUMBER("grip", "of each finger, N; held while 2 μ grip bears the weight", 40, 0.1, 1e5),
      FRICTION(0.6)}},
    {"grooved-gripper",
     "the same with grooved fingers: what they hold depends on how the grooves are turned",
     false,
     tb_gallery_grooved_gripper,
     {NUMBER("angle_deg", "of the fingers' grooves to those of the box, which are upright", 90, 0, 180),
      NUMBER("mass", "of the box, kg", 2, 0.001, 1000), NUMBER("grip", "of each finger, N", 30, 0.1, 1e5)}},
    {"tyres",
     "a trolley rolls along a grooved road that slopes sideways, and holds its line or slips down",
     false,
     tb_gallery_tyres,
     {NUMBER("angle_deg", "of the road's grooves to the axles, along which the treads run", 75, 0, 180)}},
    {"hopper",
     "bricks on the boards of a hopper, whose grooves let them go or hold them",
     false,
     tb_gallery_hopper,
     {NUMBER("angle_deg", "of the grooves to the way down", 0, 0, 180),
      WHOLE("rows", "of four bricks on each board", 4, 1, 8)}},
    {"arm",
     "an arm picks up a box, carries it around for a quarter of a minute and sets it down",
     false,
     tb_gallery_arm,
     {NUMBER("mass", "of the box, kg", 0.5, 0.001, 5), FRICTION(0.8)}},
    {"quadruped",
     "four legs on servos stand, crouch and stand up again",
     false,
     tb_gallery_quadruped,
     {NUMBER("load", "on its back, kg", 2, 0.01, 20), FRICTION(0.7)}},
    {"conveyor",
     "boxes carried over turning rollers",
     false,
     tb_gallery_conveyor,
     {WHOLE("rollers", "in a row", 14, 4, 200), WHOLE("boxes", "to carry", 3, 1, 50),
      NUMBER("speed", "of the rollers' surface, m/s", 0.5, -5, 5), FRICTION(0.6)}},
    {"gears",
     "three toothed wheels: a motor turns the first",
     true,
     tb_gallery_gears,
     {WHOLE("teeth", "of each wheel", 16, 8, 60), NUMBER("speed", "of the motor, rad/s", 2, -20, 20),
      FRICTION(0.1)}},
    {"incline",
     "block on an incline",
     false,
     tb_gallery_incline,
     {NUMBER("slope_deg", "of the incline", 26, 0, 80), FRICTION(0.5)}},
    {"incline-set",
     "blocks on one slope, each with a friction of its own",
     false,
     tb_gallery_incline_set,
     {WHOLE("blocks", "with friction 0.1, 0.2, …", 8, 1, 100),
      NUMBER("slope_deg", "of the plane", 22, 0, 80)}},
    {"painleve",
     "Painlevé's rod: it slides on its tip until friction seizes it",
     false,
     tb_gallery_painleve,
     {NUMBER("angle_deg", "from the ground", 55, 10, 85), NUMBER("speed", "of the tip, m/s", 4, 0, 100),
      NUMBER("friction", "of the tip; above 4/3 it can seize", 1.8, 0, 10)}},
    {"top",
     "a spinning top",
     false,
     tb_gallery_top,
     {NUMBER("spin", "about its axis, rad/s", 200, 0, 2000),
      NUMBER("tilt_deg", "of the axis from upright", 20, 0, 60), FRICTION(0.2)}},
    {"tippe-top",
     "a top that turns over onto its stem",
     false,
     tb_gallery_tippe_top,
     {NUMBER("spin", "about the vertical, rad/s", 300, 0, 2000),
      NUMBER("tilt_deg", "of the axis from upright", 15, 0, 90), FRICTION(0.3)}},
    {"billiards",
     "the break: a cue ball and fifteen others",
     false,
     tb_gallery_billiards,
     {NUMBER("speed", "of the cue ball, m/s", 8, 0, 30), NUMBER("restitution", "between balls", 0.95, 0, 1),
      NUMBER("aside", "of the cue ball from the middle, m", 0.003, -0.3, 0.3)}},
    {"pile-1000",
     "a thousand balls and boxes of five sizes dropped into a bin",
     false,
     tb_gallery_pile,
     {WHOLE("side", "its cube is the number of bodies", 10, 1, 60), FRICTION(0.5), SEED}},
    {"pile-8000",
     "eight thousand balls and boxes of five sizes dropped into a bin",
     false,
     tb_gallery_pile,
     {WHOLE("side", "its cube is the number of bodies", 20, 1, 60), FRICTION(0.5), SEED}},
    {"heap",
     "a thousand boxes fall into a bin, in real time",
     false,
     tb_gallery_heap,
     {WHOLE("side", "its cube is the number of boxes", 10, 1, 40), FRICTION(0.5), SEED}},
    {"junkyard",
     "every kind of convex shape, and crosses made of boxes, dropped into a bin",
     false,
     tb_gallery_junkyard,
     {WHOLE("layers", "of 16 bodies", 4, 1, 200), FRICTION(0.5), SEED}},
    {"jam",
     "gears and rings, none of them convex, dropped into a bin",
     true,
     tb_gallery_jam,
     {WHOLE("layers", "of 4 bodies", 4, 1, 100), WHOLE("teeth", "of a gear", 9, 3, 40), FRICTION(0.4), SEED}},
    {"funnel",
     "balls through a funnel",
     true,
     tb_gallery_funnel,
     {WHOLE("layers", "of 25 balls", 6, 1, 200), WHOLE("sectors", "of the funnel's mesh", 32, 3, 500),
      FRICTION(0.2)}},
    {"cantilever",
     "a soft bar held at one end",
     false,
     tb_gallery_cantilever,
     {NUMBER("length", "of a bar 0.1 m thick, m", 0.5, 0.1, 2), YOUNG(1e6),
      WHOLE("cells", "across; four times as many along", 4, 1, 20)}},
    {"springboard",
     "balls drop onto a board that bends by its modes of vibration: a reduced body",
     false,
     tb_gallery_springboard,
     {WHOLE("balls", "to drop", 3, 1, 20), NUMBER("mass", "of a ball, kg", 0.5, 0.01, 10),
      WHOLE("modes", "fields that the board deforms by", 20, 2, 60), YOUNG(2e7), FRICTION(0.5)}},
    {"press",
     "a soft ball pressed flat between two plates, by barriers that nothing crosses",
     false,
     tb_gallery_press,
     {NUMBER("share", "of its height that is left", 0.4, 0.1, 1), WHOLE("cells", "across the ball", 4, 2, 40),
      YOUNG(1e5), FRICTION(0.5)}},
    {"jelly",
     "a jelly cube pressed between two plates",
     false,
     tb_gallery_jelly,
     {YOUNG(2e4), NUMBER("poisson", "Poisson's ratio", 0.45, 0, 0.49),
      NUMBER("speed", "of the upper plate, m/s", 0.1, 0, 1), WHOLE("cells", "along an edge", 6, 1, 30),
      FRICTION(0.5)}},
    {"soft-incline",
     "a soft block on an incline",
     false,
     tb_gallery_soft_incline,
     {NUMBER("slope_deg", "of the incline", 20, 0, 80), YOUNG(1e5), FRICTION(0.5)}},
    {"soft-pyramid",
     "soft bricks under a plate that sinks and turns",
     false,
     tb_gallery_soft_pyramid,
     {WHOLE("rows", "of bricks, one fewer in each", 3, 1, 20),
      NUMBER("spin", "of the plate, rad/s", 0.5, -10, 10),
      NUMBER("speed", "of the plate downward, m/s", 0.03, 0, 1), YOUNG(2e5), FRICTION(0.6)}},
    {"soft-pile",
     "soft cubes dropped into a bin",
     false,
     tb_gallery_soft_pile,
     {WHOLE("layers", "of nine cubes", 3, 1, 30), WHOLE("cells", "along an edge", 2, 1, 10), YOUNG(1e5),
      FRICTION(0.4), SEED}},
    {"bunnies",
     "soft lumps, balls and rings, dropped into a bin",
     false,
     tb_gallery_bunnies,
     {WHOLE("layers", "of four lumps", 3, 1, 50), YOUNG(5e4), FRICTION(0.3), SEED}},
    {"rings",
     "rubber rings dropped over a peg",
     false,
     tb_gallery_rings,
     {WHOLE("rings", "one above the other", 5, 1, 50),
      NUMBER("aside", "of every other ring, m", 0.04, 0, 0.2), YOUNG(1e5), FRICTION(0.4)}},
    {"bearing",
     "a turning disc on nine soft balls in a ring-shaped channel",
     true,
     tb_gallery_bearing,
     {WHOLE("balls", "in the channel", 9, 3, 11), NUMBER("mass", "of the disc, kg", 5, 0.1, 100),
      NUMBER("spin", "of the disc at the start, rad/s", 5, -50, 50), YOUNG(2e5), FRICTION(0.6)}},
    {"armadillo",
     "a rubber ring pulled between turning rollers",
     false,
     tb_gallery_armadillo,
     {NUMBER("gap", "between the rollers; the ring is 0.07 m thick, m", 0.05, 0.02, 0.2),
      NUMBER("speed", "of the pull and of the rollers' surface, m/s", 0.4, 0, 2), YOUNG(1e5), FRICTION(0.4)}},
    {"rollers",
     "a soft block that pairs of rollers carry by friction alone",
     false,
     tb_gallery_rollers,
     {WHOLE("pairs", "of rollers", 3, 1, 20),
      NUMBER("gap", "between them; the block is 0.1 m high, m", 0.09, 0.05, 0.2),
      NUMBER("speed", "of their surface, m/s", 0.5, -2, 2), YOUNG(5e4), FRICTION(0.6)}},
    {"cloth-on-sphere",
     "a cloth dropped on a ball",
     false,
     tb_gallery_cloth_on_sphere,
     {WHOLE("cells", "along an edge of a metre", 24, 2, 300),
      NUMBER("stretch", "stiffness, N/m", 200, 1, 1e6), NUMBER("bend", "stiffness, N·m", 1e-4, 0, 1),
      FRICTION(0.3)}},
    {"hammock",
     "a ball in a cloth that is held at its corners",
     false,
     tb_gallery_hammock,
     {WHOLE("cells", "along the short edge", 10, 2, 200), NUMBER("mass", "of the ball, kg", 1, 0.01, 100),
      NUMBER("stretch", "stiffness, N/m", 2000, 1, 1e6), FRICTION(0.3)}},
    {"cloth-capstan",
     "a strip of cloth over a drum: ends that friction keeps apart",
     true,
     tb_gallery_cloth_capstan,
     {NUMBER("ratio", "of the hanging lengths, to a tenth; held below about e^(πμ)", 1.5, 1, 5),
      FRICTION(0.3)}},
    {"turning-ball",
     "sheets on a ball that turns: carried along, or slipping off, by projective dynamics",
     false,
     tb_gallery_turning_ball,
     {WHOLE("cells", "along an edge of a metre", 24, 2, 120), WHOLE("sheets", "of cloth", 1, 1, 3),
      WHOLE("iterations", "of a step", 20, 1, 1000), FRICTION(0.3)}},
    {"ribbon",
     "a ribbon that folds up on a slope, by projective dynamics",
     false,
     tb_gallery_ribbon,
     {WHOLE("cells", "across a tenth of a metre", 5, 1, 25), NUMBER("bend", "stiffness, N·m", 1e-4, 0, 1),
      WHOLE("iterations", "of a step", 20, 1, 1000), NUMBER("slope_friction", "of the slope", 0.7, 0, 10),
      FRICTION(0.3)}},
};

int tb_gallery_count(void) { return (int)(sizeof scenes / sizeof *scenes); }

const tbGalleryScene* tb_gallery_at(int index)
{
  return index >= 0 && index < tb_gallery_count() ? &scenes[index] : NULL;
}

const tbGalleryScene* tb_gallery_find(const char* name)
{
  for (int i = 0; i < tb_gallery_count(); i++)
    if (strcmp(scenes[i].name, name) == 0) return &scenes[i];
  return NULL;
}

static bool has(const tbGalleryScene* scene, int i)
{
  return i < TB_GALLERY_PARAMETERS && scene->parameter[i].name;
}

void tb_gallery_defaults(const tbGalleryScene* scene, double values[TB_GALLERY_PARAMETERS])
{
  for (int i = 0; i < TB_GALLERY_PARAMETERS; i++) values[i] = has(scene, i) ? scene->parameter[i].value : 0;
}

// The nearest number that the parameter takes.
static double nearest(const tbGalleryParameter* p, double value)
{
  if (p->whole) value = floor(value + 0.5);
  return value < p->low ? p->low : value > p->high ? p->high : value;
}

static tbStatus check_value(tbContext* ctx, const tbGalleryScene* scene, int i, double value)
{
  const tbGalleryParameter* p = &scene->parameter[i];
  if (value >= p->low && value <= p->high && (!p->whole || value == floor(value))) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: %s takes a %snumber from %g to %g, not %g; the nearest is %g",
                 scene->name, p->name, p->whole ? "whole " : "", p->low, p->high, value, nearest(p, value));
}

static tbStatus no_parameter(tbContext* ctx, const tbGalleryScene* scene, const char* name)
{
  char list[240] = "";
  tbNearest near = tb_nearest(name);
  for (int i = 0; has(scene, i); i++) {
    tb_nearest_offer(&near, scene->parameter[i].name);
    tb_list_append(list, sizeof list, scene->parameter[i].name);
  }
  if (near.name)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no parameter \"%s\"; did you mean \"%s\"?", scene->name,
                   name, near.name);
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no parameter \"%s\"; it has %s", scene->name, name, list);
}

tbStatus tb_gallery_set(tbContext* ctx, const tbGalleryScene* scene, double* values, const char* assignment)
{
  char name[64];
  const char *equals = strchr(assignment, '='), *end = assignment + strlen(assignment);
  size_t length = equals ? (size_t)(equals - assignment) : 0;
  if (!equals || length >= sizeof name)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "expected PARAMETER=NUMBER, found \"%.100s\"", assignment);
  memcpy(name, assignment, length);
  name[length] = 0;
  for (int i = 0; has(scene, i); i++) {
    if (strcmp(scene->parameter[i].name, name) != 0) continue;
    double value = 0;
    if (tb_read_double(equals + 1, end, &value) != end || !isfinite(value))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: %s takes a number, not \"%.100s\"", scene->name, name,
                     equals + 1);
    TB_TRY(check_value(ctx, scene, i, value));
    values[i] = value;
    return TB_OK;
  }
  return no_parameter(ctx, scene, name);
}

tbStatus tb_gallery_print(tbContext* ctx, const tbGalleryScene* scene, const double* values,
                          const char* folder, tbOut* out)
{
  double defaults[TB_GALLERY_PARAMETERS];
  tb_gallery_defaults(scene, defaults);
  if (!values) values = defaults;
  for (int i = 0; has(scene, i); i++) TB_TRY(check_value(ctx, scene, i, values[i]));
  tbPen pen = {.ctx = ctx, .scene = scene, .value = values, .folder = folder, .json = tb_json_writer(out, 2)};
  pen.json.flat = 2;
  tb_put_object(&pen.json, NULL);
  scene->write(&pen);
  if (pen.section) tb_put_end(&pen.json);
  tb_put_end(&pen.json);
  tbStatus status = tb_json_writer_finish(&pen.json);
  return pen.status != TB_OK ? pen.status : status;
}

// The folder of a path, to be freed; "." for a bare name.
static char* folder_of(tbContext* ctx, const char* path)
{
  const char* slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 1;
  char* folder = TB_NEW(ctx, char, length + 1);
  if (folder) memcpy(folder, slash ? path : ".", length);
  return folder;
}

tbStatus tb_gallery_save(tbContext* ctx, const tbGalleryScene* scene, const double* values, const char* path)
{
  char* folder = folder_of(ctx, path);
  if (!folder) return TB_ERROR_MEMORY;
  tbOut out = tb_out_memory(ctx);
  tbStatus status = tb_gallery_print(ctx, scene, values, folder, &out);
  if (status == TB_OK) status = tb_write_file(ctx, path, out.bytes, out.length);
  tb_out_free(&out);
  tb_free(ctx, folder);
  return status;
}

tbStatus tb_gallery_load(tbContext* ctx, const tbGalleryScene* scene, const double* values,
                         const char* folder, tbScene* out)
{
  tbOut text = tb_out_memory(ctx);
  tbStatus status = tb_gallery_print(ctx, scene, values, folder, &text);
  if (status == TB_OK) status = tb_scene_parse(ctx, scene->name, text.bytes, text.length, folder, out);
  tb_out_free(&text);
  return status;
}
