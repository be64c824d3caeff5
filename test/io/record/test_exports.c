// SPDX-License-Identifier: Apache-2.0
// VTK, USD and point caches: read back by readers as strict as their formats, and held against the run.
#include "io/record/growing.h"
#include "io/recorded.h"
#include "kind/deformables.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 6 };

// VTK: an array of the appended data, after its length was held against the number of its values.
typedef struct {
  char* bytes;
  const char* data; // behind the underscore
  size_t length;
  long points, cells;
} Vtu;

static long attribute(const char* text, const char* name)
{
  char key[64];
  snprintf(key, sizeof key, " %s=\"", name);
  const char* at = strstr(text, key);
  return at ? strtol(at + strlen(key), NULL, 10) : -1;
}

static bool vtu_open(const char* path, Vtu* v)
{
  v->bytes = recorded_read(path, &v->length);
  const char* mark = v->bytes ? strstr(v->bytes, "<AppendedData encoding=\"raw\">\n_") : NULL;
  CHECK(mark != NULL);
  if (!mark) return false;
  v->data = strchr(mark, '_') + 1;
  v->points = attribute(strstr(v->bytes, "<Piece"), "NumberOfPoints");
  v->cells = attribute(strstr(v->bytes, "<Piece"), "NumberOfCells");
  CHECK(strcmp(v->bytes + v->length - 28, "\n</AppendedData>\n</VTKFile>\n") == 0);
  return true;
}

static const char* vtu_array(const Vtu* v, const char* name, const char* type, long bytes)
{
  char key[96];
  snprintf(key, sizeof key, "<DataArray type=\"%s\" Name=\"%s\"", type, name);
  const char* tag = strstr(v->bytes, key);
  if (!tag) {
    test_failed(__FILE__, __LINE__, "no array %s of %s", name, type);
    return NULL;
  }
  const char* at = v->data + attribute(tag, "offset");
  uint64_t length;
  memcpy(&length, at, 8);
  CHECK((bytes < 0 || (long)length == bytes) && at + 8 + length <= v->bytes + v->length);
  return at + 8;
}

static tbVec3 vec3(const char* array, long i)
{
  double p[3];
  memcpy(p, array + 24 * i, sizeof p);
  return tb_load3(p);
}

static int i32(const char* array, long i)
{
  int value;
  memcpy(&value, array + 4 * i, 4);
  return value;
}

static void check_vtk_bodies(const Vtu* v, const tbWorld* w)
{
  const char* x = vtu_array(v, "position", "Float64", 24 * v->points);
  const char* velocity = vtu_array(v, "velocity", "Float64", 24 * v->points);
  const char* body = vtu_array(v, "body", "Int32", 4 * v->points);
  const char* corner = vtu_array(v, "connectivity", "Int32", -1);
  const char* end = vtu_array(v, "offsets", "Int32", 4 * v->cells);
  const char* type = vtu_array(v, "types", "UInt8", v->cells);
  int nodes = 0, tets = 0, ball = 0, first = 0;
  for (long i = 0; i < v->points; i++) {
    int b = i32(body, i);
    tbBodyState s = tb_body_state(w, tb_world_body_at(w, b));
    if (b == 2) { // the ball: on its surface, and moving with it
      tbVec3 arm = tb_sub3(vec3(x, i), s.position);
      CHECK_NEAR(tb_norm3(arm), 0.5, 1e-12);
      CHECK_NEAR(tb_distance3(vec3(velocity, i), tb_add3(s.velocity, tb_cross3(s.angular_velocity, arm))), 0,
                 1e-11);
      ball++;
    }
    if (b == 7) { // the solid: every node, to the bit
      CHECK(tb_distance3(vec3(x, i), tb_body_nodes(w, tb_world_body_at(w, 7))[nodes]) == 0);
      CHECK(tb_distance3(vec3(velocity, i), tb_body_node_velocities(w, tb_world_body_at(w, 7))[nodes]) == 0);
      nodes++;
    }
  }
  CHECK(ball > 50 && nodes == 64);
  for (long c = 0; c < v->cells; c++) {
    CHECK(i32(end, c) - first == (type[c] == 10 ? 4 : 3) && (type[c] == 10 || type[c] == 5));
    for (int k = first; k < i32(end, c); k++) {
      CHECK(i32(corner, k) >= 0 && i32(corner, k) < v->points);
      CHECK(i32(body, i32(corner, k)) == i32(body, i32(corner, first))); // no cell across bodies
    }
    if (type[c] == 10) {
      tbVec3 o = vec3(x, i32(corner, first));
      tbVec3 e[3];
      for (int k = 0; k < 3; k++) e[k] = tb_sub3(vec3(x, i32(corner, first + k + 1)), o);
      CHECK(tb_dot3(tb_cross3(e[0], e[1]), e[2]) > 0); // VTK's order
      tets++;
    }
    first = i32(end, c);
  }
  CHECK(tets == deformable_at(w, 0)->fem->nelement[0]);
}

static void check_vtk_contacts(const Vtu* v, const tbWorld* w, double dt)
{
  CHECK(v->points == tb_world_contact_count(w) && v->cells == v->points && v->points > 0);
  const char* x = vtu_array(v, "position", "Float64", 24 * v->points);
  const char* force = vtu_array(v, "force", "Float64", 24 * v->points);
  const char* state = vtu_array(v, "state", "Int32", 4 * v->points);
  const char *a = vtu_array(v, "a", "Int32", 4 * v->points), *b = vtu_array(v, "b", "Int32", 4 * v->points);
  for (long i = 0; i < v->points; i++) {
    tbContactView c = tb_world_contact(w, (int)i);
    CHECK(tb_distance3(vec3(x, i), c.position) == 0 && i32(state, i) == (int)c.state);
    CHECK(i32(a, i) == c.a.index && i32(b, i) == c.b.index);
    CHECK_NEAR(tb_dot3(vec3(force, i), c.normal), c.impulse[0] / dt, 1e-9 * (1 + c.impulse[0] / dt));
    CHECK_NEAR(tb_dot3(vec3(force, i), c.tangent), c.impulse[1] / dt, 1e-9 * (1 + c.impulse[0] / dt));
  }
}

TEST(vtk_files_hold_the_bodies_and_the_contacts)
{
  Recorded r = recorded_begin();
  Vtu v = {0};
  CHECK_OK(&r.ctx, recorded_run(&r, "vtk", recorded_path(&r, "vtk"), STEPS, 0, NULL, NULL));
  if (vtu_open(recorded_path(&r, "vtk/bodies-000006.vtu"), &v)) check_vtk_bodies(&v, r.scene.world);
  free(v.bytes);
  if (vtu_open(recorded_path(&r, "vtk/contacts-000006.vtu"), &v))
    check_vtk_contacts(&v, r.scene.world, r.scene.step.dt);
  free(v.bytes);
  size_t length;
  char* pvd = recorded_read(recorded_path(&r, "vtk/contacts.pvd"), &length);
  CHECK(pvd && strstr(pvd, "<DataSet timestep=\"0\" part=\"0\" file=\"contacts-000000.vtu\"/>"));
  CHECK(pvd &&
        strstr(pvd, "<DataSet timestep=\"0.03\" part=\"0\" file=\"contacts-000006.vtu\"/>\n</Collection>"));
  free(pvd);
  recorded_end(&r);
}

// USD.

static const char* prim(const char* text, const char* name) { return text ? strstr(text, name) : NULL; }

// The numbers of "(a, b, c)".
static int tuple(const char* at, double* out, int most)
{
  int count = 0;
  for (at = at ? strchr(at, '(') : NULL; at && *at != ')' && count < most; count++) {
    char* end;
    out[count] = strtod(at + 1, &end);
    if (end == at + 1) return -1;
    at = end;
  }
  return count;
}

TEST(usd_samples_the_motion)
{
  Recorded r = recorded_begin();
  size_t length;
  CHECK_OK(&r.ctx, recorded_run(&r, "usd", recorded_path(&r, "run.usda"), STEPS, 66.7, NULL, NULL));
  char* text = recorded_read(recorded_path(&r, "run.usda"), &length);
  CHECK(text && strncmp(text, "#usda 1.0\n(", 11) == 0 && strstr(text, "upAxis = \"Z\""));
  CHECK(prim(text, "endTimeCode = 2\n") && prim(text, "def Xform \"b_all_2\"") &&
        prim(text, "= \"b\\\"all\"\n"));
  CHECK(prim(text, "def Mesh \"a_sheet_8\"") && prim(text, "def Capsule \"shape_0\"") &&
        prim(text, "def Cube"));

  double x[3];
  const char* box = prim(prim(text, "def Xform \"box\""), "xformOp:translate.timeSamples = {");
  tbVec3 at = tb_body_state(r.scene.world, tb_world_body_at(r.scene.world, 1)).position;
  CHECK(tuple(prim(box, "\n2: "), x, 3) == 3 && (float)x[0] == (float)at.x && (float)x[2] == (float)at.z);
  const char* sheet = prim(prim(text, "def Mesh \"a_sheet_8\""), "points.timeSamples = {");
  at = tb_body_nodes(r.scene.world, tb_world_body_at(r.scene.world, 8))[0];
  CHECK(tuple(prim(sheet, "\n2: "), x, 3) == 3 && (float)x[0] == (float)at.x && (float)x[2] == (float)at.z);

  double low[3], high[3];
  const char* extent = prim(prim(text, "def Mesh \"a_sheet_8\""), "extent.timeSamples = {");
  const char* last = prim(extent, "\n2: ");
  CHECK(last && last[4] == '[' && tuple(last, low, 3) == 3 && tuple(prim(last, "), "), high, 3) == 3);
  for (int k = 0; k < 3; k++)
    CHECK((float)low[k] <= (float)(&at.x)[k] && (float)(&at.x)[k] <= (float)high[k]);

  int depth = 0; // of braces; names and strings of this scene hold none
  for (const char* c = text; c && *c; c++) {
    depth += (*c == '{') - (*c == '}');
    CHECK(depth >= 0);
  }
  CHECK(depth == 0);
  const char* marker = prim(text, "def Xform \"marker\"");
  const char* next = prim(marker + 1, "timeSamples");
  CHECK(!next || next > prim(marker, "def Sphere")); // it rests: no samples of its own
  free(text);
  recorded_end(&r);
}

// USD knows y up and z up alone: a world that falls along x is turned about y, so that it falls along −z.
TEST(usd_says_which_way_is_up)
{
  static const char* const gravity[] = {"-9, 0, 0", "0, -9, 0", "0, 0, -9"};
  for (int up = 0; up < 3; up++) {
    char scene[200];
    snprintf(scene, sizeof scene, "{\"tribo\": 1, \"gravity\": [%s], \"bodies\": [{\"shape\": %s}]}",
             gravity[up], "{\"type\": \"sphere\", \"radius\": 0.1}");
    Recorded r = recorded_begin_with(scene);
    size_t length;
    CHECK_OK(&r.ctx, recorded_run(&r, "usd", recorded_path(&r, "run.usda"), 1, 0, NULL, NULL));
    char* text = recorded_read(recorded_path(&r, "run.usda"), &length);
    CHECK(prim(text, up == 1 ? "upAxis = \"Y\"" : "upAxis = \"Z\""));
    const char *world = prim(text, "def Xform \"World\"\n{\n"), *turned = prim(world, "quatf xformOp:orient");
    const char* first = prim(world + 1, "def ");
    double q[4];
    CHECK(first && (turned && turned < first) == (up == 0));
    if (up == 0 && turned && tuple(turned, q, 4) == 4) {
      tbVec3 down = tb_quat_rotate(tb_quat(q[0], q[1], q[2], q[3]), tb_vec3(-1, 0, 0));
      CHECK_NEAR(down.z, -1, 1e-6);
    }
    free(text);
    recorded_end(&r);
  }
}

// Names of prims are letters, digits and '_', no digit first, and no two are the same.
TEST(usd_names_are_identifiers_of_their_own)
{
  static const char* const name[] = {"0ball", "9ball", "a",   "z",   "A", "Z",
                                     "b0",    "b9",    "a/b", "a:b", "@", "\303\251"};
  static const char* const want[] = {"_0ball_0", "_9ball_1", "a",     "z",     "A",    "Z",
                                     "b0",       "b9",       "a_b_8", "a_b_9", "__10", "___11"};
  enum { COUNT = sizeof name / sizeof *name };
  char scene[4000] = "{\"tribo\": 1, \"bodies\": [";
  for (int i = 0; i < COUNT; i++) {
    size_t used = strlen(scene);
    snprintf(
        scene + used, sizeof scene - used,
        "%s{\"name\": \"%s\", \"position\": [%d, 0, 0], \"shape\": {\"type\": \"sphere\", \"radius\": 0.1}}",
        i ? ", " : "", name[i], i);
  }
  strcat(scene, "]}");
  Recorded r = recorded_begin_with(scene);
  size_t length;
  CHECK_OK(&r.ctx, recorded_run(&r, "usd", recorded_path(&r, "run.usda"), 1, 0, NULL, NULL));
  char* text = recorded_read(recorded_path(&r, "run.usda"), &length);
  for (int i = 0; i < COUNT; i++) {
    char line[64];
    snprintf(line, sizeof line, "def Xform \"%s\"", want[i]);
    if (!prim(text, line)) test_failed(__FILE__, __LINE__, "body %s is not %s", name[i], line);
  }
  free(text);
  recorded_end(&r);
}

TEST(floats_are_written_with_the_digits_they_need)
{
  tbContext ctx = tb_default_context();
  tbRandom random = test_random(5);
  const float given[] = {0, 1, -2.5f, 0.1f, 1e-30f, 3.4028235e38f, 16777216, 1.1754944e-38f};
  const char* const texts[] = {
      "0", "1", "-2.5", "0.1", "1e-30", "3.4028235e+38", "16777216", "1.1754944e-38"};
  for (int i = 0; i < 2000; i++) {
    uint32_t bits = (uint32_t)test_bits(&random);
    float value, back;
    memcpy(&value, &bits, 4);
    if (i < 8) value = given[i];
    if (!(value - value == 0)) continue;
    tbOut out = tb_out_memory(&ctx);
    tb_out_float(&out, value);
    CHECK_OK(&ctx, tb_out_finish(&out));
    back = strtof(out.bytes, NULL);
    CHECK(memcmp(&back, &value, 4) == 0);
    if (i < 8) CHECK(strcmp(out.bytes, texts[i]) == 0);
    tb_out_free(&out);
  }
}

// Point caches.

static void see_node(void* user, const tbWorld* w, int frame)
{
  if (frame <= STEPS) ((tbVec3*)user)[frame] = tb_body_nodes(w, tb_world_body_at(w, 8))[3];
}

TEST(point_caches_hold_every_node_of_every_step)
{
  Recorded r = recorded_begin();
  tbVec3 seen[STEPS + 1];
  size_t length;
  CHECK_OK(&r.ctx, recorded_run(&r, "pc2", r.folder, STEPS, 0, see_node, seen));
  char* cache = recorded_read(recorded_path(&r, "nodes.pc2"), &length);
  const long points = 64 + 24;
  CHECK(cache && length == 32 + 12 * (size_t)points * (STEPS + 1) &&
        memcmp(cache, "POINTCACHE2\0\1\0\0", 16) == 0);
  for (int f = 0; cache && f <= STEPS; f++) {
    float p[3];
    memcpy(p, cache + 32 + 12 * (points * f + 64 + 3), sizeof p);
    CHECK(p[0] == (float)seen[f].x && p[1] == (float)seen[f].y && p[2] == (float)seen[f].z);
  }
  CHECK(cache && i32(cache, 4) == points && i32(cache, 7) == STEPS + 1);
  free(cache);
  char* script = recorded_read(recorded_path(&r, "nodes.py"), &length);
  CHECK(script && strstr(script, "FRAMES_PER_SECOND = 200\n") && strstr(script, "FIRST_FRAME = 0\n"));
  free(script);
  recorded_end(&r);
}
