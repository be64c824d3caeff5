// SPDX-License-Identifier: Apache-2.0
// VTK's XML files, for ParaView: what bodies do and what contacts do, a file of each per frame, and two
// collections (PVD) that give them their times.
//
//   bodies-000123.vtu     triangles of rigid bodies and of cloth, tetrahedra of solids; velocity; body, of
//   cells too contacts-000123.vtu   a point per contact; normal, force on b, slip, gap, state, bodies a and b
//   bodies.pvd  contacts.pvd
//
// Numbers are in double precision, behind the XML as they are ("appended, raw"), each array after its length.
// VTK Users' Guide, ch. "VTK File Formats". Positions are those of the world: rigid bodies are moved here.
//
// Limits   2³¹ points a frame. Files of an earlier, longer run in the same folder stay; the collections do
// not
//          name them.
#include "io/record/record.h"

#include "scene/kind.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERTEX = 1, TRIANGLE = 5, TETRAHEDRON = 10 }; // VTK's cell types

typedef struct {
  tbDrawing drawing;
  char* folder;
  char* path; // room for a file in it
  size_t room;
  bool made; // the folder
  tbGrowing bodies, contacts;
  int64_t frames;                  // whose files are there
  uint64_t points, cells, corners; // of the bodies, in every frame
} Vtk;

static const char* in_folder(const Vtk* v, const char* name)
{
  snprintf(v->path, v->room, "%s/%s", v->folder, name);
  return v->path;
}

static const char* frame_path(const Vtk* v, const char* what, int64_t frame)
{
  snprintf(v->path, v->room, "%s/%s-%06lld.vtu", v->folder, what, (long long)frame);
  return v->path;
}

static tbStatus count(tbContext* ctx, Vtk* v, const tbWorld* w)
{
  const tbDrawing* d = &v->drawing;
  for (size_t s = 0; s < d->shape.count; s++) {
    const tbDrawMesh* m = &tb_draw_meshes(d)[tb_draw_shapes(d)[s].mesh];
    v->points += (uint64_t)m->nvertex, v->cells += (uint64_t)m->ntriangle;
    v->corners += 3 * (uint64_t)m->ntriangle;
  }
  for (int i = 0; i < d->nbody; i++) {
    tbNodes n = tb_nodes_of(&tb_bodies(w)[i]);
    v->points += (uint64_t)n.count, v->cells += (uint64_t)n.nelement;
    v->corners += (uint64_t)n.corners * (uint64_t)n.nelement;
  }
  if (v->points <= INT32_MAX && v->corners <= INT32_MAX) return TB_OK;
  return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "too many triangles for a VTK file");
}

// XML. Each array takes the next bytes behind it.

static void put_array(tbOut* out, const char* type, const char* name, int components, uint64_t bytes,
                      uint64_t* at)
{
  char text[256];
  snprintf(
      text, sizeof text,
      "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
      type, name, components, (unsigned long long)*at);
  tb_out_text(out, text);
  *at += 8 + bytes;
}

static void put_head(tbOut* out, double time, uint64_t points, uint64_t cells, uint64_t corners, uint64_t* at)
{
  char text[160];
  tb_out_text(out, "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                   "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n<FieldData>\n"
                   "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">");
  tb_out_double(out, time);
  snprintf(text, sizeof text,
           "</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"%llu\" NumberOfCells=\"%llu\">\n",
           (unsigned long long)points, (unsigned long long)cells);
  tb_out_text(out, text);
  tb_out_text(out, "<Points>\n");
  put_array(out, "Float64", "position", 3, 24 * points, at);
  tb_out_text(out, "</Points>\n<Cells>\n");
  put_array(out, "Int32", "connectivity", 1, 4 * corners, at);
  put_array(out, "Int32", "offsets", 1, 4 * cells, at);
  put_array(out, "UInt8", "types", 1, cells, at);
  tb_out_text(out, "</Cells>\n");
}

static void put_numbers_follow(tbOut* out)
{
  tb_out_text(out, "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
}

static void put_foot(tbOut* out) { tb_out_text(out, "\n</AppendedData>\n</VTKFile>\n"); }

static void put_vec3(tbOut* out, tbVec3 p)
{
  tb_out_f64(out, p.x);
  tb_out_f64(out, p.y);
  tb_out_f64(out, p.z);
}

// Bodies: every array is a walk over the same points or cells, shapes first, then nodes.

static void put_rigid_points(tbOut* out, const Vtk* v, const tbWorld* w, bool velocities)
{
  const tbDrawing* d = &v->drawing;
  for (int b = 0; b < d->nbody; b++) {
    tbBodyState s = tb_body_state(w, tb_world_body_at(w, b));
    tbTransform T = {s.orientation, s.position};
    for (int i = d->body_shape[b]; i < d->body_shape[b + 1]; i++) {
      const tbDrawShape* shape = &tb_draw_shapes(d)[i];
      const tbDrawMesh* m = &tb_draw_meshes(d)[shape->mesh];
      for (int k = 0; k < m->nvertex; k++) {
        tbVec3 p = tb_transform_point(T, tb_draw_point(shape, m->vertex[k]));
        tbVec3 arm = tb_sub3(p, s.position);
        put_vec3(out, velocities ? tb_add3(s.velocity, tb_cross3(s.angular_velocity, arm)) : p);
      }
    }
  }
}

static void put_points(tbOut* out, const Vtk* v, const tbWorld* w, bool velocities)
{
  tb_out_u64(out, 24 * v->points);
  put_rigid_points(out, v, w, velocities);
  for (size_t i = 0; i < w->body.count; i++) {
    tbNodes nodes = tb_nodes_of(&tb_bodies(w)[i]);
    for (int n = 0; n < nodes.count; n++) put_vec3(out, velocities ? nodes.v[n] : nodes.x[n]);
  }
}

// The body of every point, or of every cell.
static void put_body_numbers(tbOut* out, const Vtk* v, const tbWorld* w, bool cells)
{
  const tbDrawing* d = &v->drawing;
  tb_out_u64(out, 4 * (cells ? v->cells : v->points));
  for (int b = 0; b < d->nbody; b++)
    for (int i = d->body_shape[b]; i < d->body_shape[b + 1]; i++) {
      const tbDrawMesh* m = &tb_draw_meshes(d)[tb_draw_shapes(d)[i].mesh];
      for (int k = cells ? m->ntriangle : m->nvertex; k > 0; k--) tb_out_u32(out, (uint32_t)b);
    }
  for (int b = 0; b < d->nbody; b++) {
    tbNodes nodes = tb_nodes_of(&tb_bodies(w)[b]);
    for (int n = cells ? nodes.nelement : nodes.count; n > 0; n--) tb_out_u32(out, (uint32_t)b);
  }
}

static void put_connectivity(tbOut* out, const Vtk* v, const tbWorld* w)
{
  const tbDrawing* d = &v->drawing;
  uint32_t first = 0;
  tb_out_u64(out, 4 * v->corners);
  for (size_t i = 0; i < d->shape.count; i++) {
    const tbDrawMesh* m = &tb_draw_meshes(d)[tb_draw_shapes(d)[i].mesh];
    for (int t = 0; t < m->ntriangle; t++)
      for (int k = 0; k < 3; k++) tb_out_u32(out, first + (uint32_t)m->triangle[t][k]);
    first += (uint32_t)m->nvertex;
  }
  for (int b = 0; b < d->nbody; b++) {
    tbNodes nodes = tb_nodes_of(&tb_bodies(w)[b]);
    for (size_t k = 0; k < (size_t)nodes.corners * (size_t)nodes.nelement; k++)
      tb_out_u32(out, first + (uint32_t)nodes.element[k]);
    first += (uint32_t)nodes.count;
  }
}

// Where each of so many cells ends, or of what type it is.
static void put_cells_of(tbOut* out, uint64_t count, int corners, bool types, uint32_t* end)
{
  for (; count > 0; count--) {
    *end += (uint32_t)corners;
    if (types) tb_out_bytes(out, (char[1]){corners == 4 ? TETRAHEDRON : TRIANGLE}, 1);
    else tb_out_u32(out, *end);
  }
}

static void put_cells(tbOut* out, const Vtk* v, const tbWorld* w, bool types)
{
  const tbDrawing* d = &v->drawing;
  uint64_t triangles = 0;
  uint32_t end = 0;
  for (size_t s = 0; s < d->shape.count; s++)
    triangles += (uint64_t)tb_draw_meshes(d)[tb_draw_shapes(d)[s].mesh].ntriangle;
  tb_out_u64(out, types ? v->cells : 4 * v->cells);
  put_cells_of(out, triangles, 3, types, &end);
  for (int b = 0; b < d->nbody; b++) {
    tbNodes nodes = tb_nodes_of(&tb_bodies(w)[b]);
    put_cells_of(out, (uint64_t)nodes.nelement, nodes.corners, types, &end);
  }
}

static void put_bodies(tbOut* out, const Vtk* v, const tbFrame* f)
{
  uint64_t at = 0;
  put_head(out, f->time, v->points, v->cells, v->corners, &at);
  tb_out_text(out, "<PointData Vectors=\"velocity\">\n");
  put_array(out, "Float64", "velocity", 3, 24 * v->points, &at);
  put_array(out, "Int32", "body", 1, 4 * v->points, &at);
  tb_out_text(out, "</PointData>\n<CellData>\n");
  put_array(out, "Int32", "body", 1, 4 * v->cells, &at);
  tb_out_text(out, "</CellData>\n");
  put_numbers_follow(out);
  put_points(out, v, f->world, false);
  put_connectivity(out, v, f->world);
  put_cells(out, v, f->world, false);
  put_cells(out, v, f->world, true);
  put_points(out, v, f->world, true);
  put_body_numbers(out, v, f->world, false);
  put_body_numbers(out, v, f->world, true);
  put_foot(out);
}

// Contacts.

enum { NORMAL, FORCE, SLIP, GAP, STATE, BODY_A, BODY_B, CONTACT_ARRAYS };
static const struct {
  const char *type, *name;
  int components;
  unsigned bytes;
} contact_arrays[CONTACT_ARRAYS] = {{"Float64", "normal", 3, 24}, {"Float64", "force", 3, 24},
                                    {"Float64", "slip", 3, 24},   {"Float64", "gap", 1, 8},
                                    {"Int32", "state", 1, 4},     {"Int32", "a", 1, 4},
                                    {"Int32", "b", 1, 4}};

static tbVec3 tangential(const tbContactView* c, const double rows[6])
{
  tbVec3 t = tb_scale3(rows[1], c->tangent);
  return c->rows > 2 ? tb_madd3(t, rows[2], tb_cross3(c->normal, c->tangent)) : t;
}

static void put_contact(tbOut* out, const tbWorld* w, const tbContactView* c, int array, double dt)
{
  switch (array) {
  case NORMAL: put_vec3(out, c->normal); break;
  case FORCE:
    put_vec3(out, tb_scale3(1 / dt, tb_madd3(tangential(c, c->impulse), c->impulse[0], c->normal)));
    break;
  case SLIP: put_vec3(out, tangential(c, c->velocity)); break;
  case GAP: tb_out_f64(out, c->gap); break;
  case STATE: tb_out_u32(out, (uint32_t)c->state); break;
  default: tb_out_u32(out, (uint32_t)tb_body_place(w, array == BODY_A ? c->a : c->b));
  }
}

static void put_contacts(tbOut* out, const tbFrame* f)
{
  uint64_t at = 0, count = (uint64_t)tb_world_contact_count(f->world);
  put_head(out, f->time, count, count, count, &at);
  tb_out_text(out, "<PointData Vectors=\"force\">\n");
  for (int a = 0; a < CONTACT_ARRAYS; a++) {
    if (f->replayed && a == SLIP) continue;
    put_array(out, contact_arrays[a].type, contact_arrays[a].name, contact_arrays[a].components,
              contact_arrays[a].bytes * count, &at);
  }
  tb_out_text(out, "</PointData>\n");
  put_numbers_follow(out);
  tb_out_u64(out, 24 * count);
  for (uint64_t i = 0; i < count; i++) put_vec3(out, tb_world_contact(f->world, (int)i).position);
  tb_out_u64(out, 4 * count);
  for (uint64_t i = 0; i < count; i++) tb_out_u32(out, (uint32_t)i);
  tb_out_u64(out, 4 * count);
  for (uint64_t i = 0; i < count; i++) tb_out_u32(out, (uint32_t)i + 1);
  tb_out_u64(out, count);
  for (uint64_t i = 0; i < count; i++) tb_out_bytes(out, (char[1]){VERTEX}, 1);
  for (int a = 0; a < CONTACT_ARRAYS; a++) {
    if (f->replayed && a == SLIP) continue;
    tb_out_u64(out, contact_arrays[a].bytes * count);
    for (uint64_t i = 0; i < count; i++) {
      tbContactView c = tb_world_contact(f->world, (int)i);
      put_contact(out, f->world, &c, a, f->dt);
    }
  }
  put_foot(out);
}

// Files.

static void put_entry(tbOut* out, const char* what, int64_t frame, double time)
{
  char text[96];
  tb_out_text(out, "<DataSet timestep=\"");
  tb_out_double(out, time);
  snprintf(text, sizeof text, "\" part=\"0\" file=\"%s-%06lld.vtu\"/>\n", what, (long long)frame);
  tb_out_text(out, text);
}

static tbStatus put_file(tbContext* ctx, const Vtk* v, const char* what, const tbFrame* f, bool contacts)
{
  tbGrowing file;
  TB_TRY(tb_growing_open(ctx, frame_path(v, what, f->index), &file));
  if (contacts) put_contacts(&file.out, f);
  else put_bodies(&file.out, v, f);
  return tb_growing_end(ctx, &file, TB_OK);
}

static tbStatus frame(tbContext* ctx, void* state, const tbFrame* f)
{
  Vtk* v = state;
  v->frames = f->index + 1;
  TB_TRY(put_file(ctx, v, "bodies", f, false));
  TB_TRY(put_file(ctx, v, "contacts", f, true));
  put_entry(&v->bodies.out, "bodies", f->index, f->time);
  put_entry(&v->contacts.out, "contacts", f->index, f->time);
  if (v->bodies.out.status != TB_OK) return tb_out_finish(&v->bodies.out);
  return v->contacts.out.status == TB_OK ? TB_OK : tb_out_finish(&v->contacts.out);
}

static void vtk_free(tbContext* ctx, Vtk* v)
{
  if (v->made) rmdir(v->folder); // as far as it is empty
  tb_drawing_free(ctx, &v->drawing);
  tb_free(ctx, v->folder);
  tb_free(ctx, v->path);
  tb_free(ctx, v);
}

static tbStatus make_folder(tbContext* ctx, Vtk* v, const char* path)
{
  size_t length = strlen(path);
  v->room = length + 64;
  v->folder = TB_NEW(ctx, char, length + 1);
  v->path = TB_NEW(ctx, char, v->room);
  if (!v->folder || !v->path) return TB_ERROR_MEMORY;
  strcpy(v->folder, path);
  v->made = mkdir(path, 0777) == 0;
  if (v->made || errno == EEXIST) return TB_OK;
  return tb_fail(ctx, TB_ERROR_IO, "cannot make the folder %s: %s", path, strerror(errno));
}

static tbStatus open_collections(tbContext* ctx, Vtk* v)
{
  static const char head[] = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                             "byte_order=\"LittleEndian\">\n<Collection>\n";
  TB_TRY(tb_growing_open(ctx, in_folder(v, "bodies.pvd"), &v->bodies));
  tbStatus status = tb_growing_open(ctx, in_folder(v, "contacts.pvd"), &v->contacts);
  if (status != TB_OK) return tb_growing_end(ctx, &v->bodies, status);
  tb_out_text(&v->bodies.out, head);
  tb_out_text(&v->contacts.out, head);
  return TB_OK;
}

static tbStatus begin(tbContext* ctx, const tbRecordPlan* plan, void** state)
{
  Vtk* v = TB_NEW(ctx, Vtk, 1);
  if (!v) return TB_ERROR_MEMORY;
  tbStatus status = tb_drawing_create(ctx, plan->scene->world, &v->drawing);
  if (status == TB_OK) status = count(ctx, v, plan->scene->world);
  if (status == TB_OK) status = make_folder(ctx, v, plan->path);
  if (status == TB_OK) status = open_collections(ctx, v);
  if (status == TB_OK) *state = v;
  else vtk_free(ctx, v);
  return status;
}

static tbStatus end(tbContext* ctx, void* state, tbStatus status)
{
  Vtk* v = state;
  static const char foot[] = "</Collection>\n</VTKFile>\n";
  tb_out_text(&v->bodies.out, foot);
  tb_out_text(&v->contacts.out, foot);
  tbGrowing* const collections[] = {&v->bodies, &v->contacts};
  status = tb_growing_end_all(ctx, collections, 2, status);
  for (int64_t i = 0; status != TB_OK && i < v->frames; i++) {
    unlink(frame_path(v, "bodies", i));
    unlink(frame_path(v, "contacts", i));
  }
  if (status == TB_OK) v->made = false;
  vtk_free(ctx, v);
  return status;
}

const tbRecorder tb_recorder_vtk = {begin, frame, end, false};
