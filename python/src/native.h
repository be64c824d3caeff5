// SPDX-License-Identifier: Apache-2.0
// The module tribo._native: Tribo's public face for Python, in C over CPython's limited API, so that one
// binary serves every Python from 3.11 on. The package's Python files make the classes that people use of it.
//
// Rules of every function here. Arguments are copied before the interpreter lock is released, and what a
// function holds while it is released is marked busy: another thread that reaches for it gets an exception.
// Numbers come in by the buffer protocol, of any stride and any real type, or as nested sequences; what is
// not finite is refused. Arrays go out as numpy's, or as memoryviews where numpy is missing.
#ifndef TRIBO_PYTHON_NATIVE_H
#define TRIBO_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include "tribo/bulk.h"
#include "tribo/change.h"
#include "tribo/check.h"
#include "tribo/gallery.h"
#include "tribo/import.h"
#include "tribo/inspect.h"
#include "tribo/io.h"
#include "tribo/query.h"
#include "tribo/solver.h"
#include "tribo/step.h"
#include "tribo/workspace.h"

// What the module has once it is imported.
typedef struct Native {
  PyObject* asarray; // numpy's, or None; null: not looked for yet
  PyObject* error;   // the exception that the others come from
  PyObject* error_of[TB_ERROR_CANCELLED + 1];
  PyTypeObject *array, *shape, *solid, *world, *problem, *workspace, *snapshot, *replay;
  PyTypeObject *report, *residual;
} Native;

extern Native py_native;

// Errors. Each returns null with the exception set.
PyObject* py_raise(const tbContext* ctx); // the context's; one that is already set stays
PyObject* py_raise_as(tbStatus status, const char* message);
bool py_errors_init(PyObject* module);

// Ctrl-C inside of long calls: asks Python for signals a few times a second, on the thread that made the
// call.
typedef struct Watch {
  unsigned long thread;
  double next_s;
  bool raised; // a handler has raised an exception, which is set
} Watch;

tbInterrupt py_watch(Watch* watch); // of a context whose call follows

// Arrays out.
double* py_new_doubles(PyObject** out, int ndim, Py_ssize_t n0, Py_ssize_t n1);
int* py_new_ints(PyObject** out, int ndim, Py_ssize_t n0, Py_ssize_t n1);
// A read-only view of memory that lives as long as the owner. format: 'd', 'i' or 'B'.
PyObject* py_view(PyObject* owner, const void* data, char format, Py_ssize_t count);
PyObject* py_finish(PyObject* array); // as numpy's; takes the reference; passes null on
bool py_array_init(PyObject* module);

// Numbers in. `want`: the lengths, −1 for any. False with an exception.
typedef struct Numbers {
  double* at; // free with PyMem_Free
  Py_ssize_t shape[2];
} Numbers;

bool py_read_numbers(PyObject* object, const char* name, int ndim, Py_ssize_t n0, Py_ssize_t n1,
                     Numbers* out);
bool py_read_ints(PyObject* object, const char* name, int ndim, Py_ssize_t n0, Py_ssize_t n1, int** out,
                  Py_ssize_t* count);
bool py_read_fixed(PyObject* object, const char* name, int count, double* out); // exactly so many

// Converters for PyArg_ParseTuple's "O&".
int py_to_vec3(PyObject* object, void* out);
int py_to_quat(PyObject* object, void* out);
int py_to_bits(PyObject* object, void* out);     // uint32_t: a category or a mask
int py_to_body(PyObject* object, void* out);     // tbBodyId; None: no body
int py_to_joint(PyObject* object, void* out);    // tbJointId
int py_to_material(PyObject* object, void* out); // tbMaterialId; None: the default one
int py_to_friction(PyObject* object, void* out); // tbFriction: a number, or a dict as in scene files
PyObject* py_friction(tbFriction friction);      // what py_to_friction reads back
PyObject* py_id(int index, uint32_t generation);
PyObject* py_vec3(tbVec3 v);
PyObject* py_quat(tbQuat q);

// Shapes and solids.
typedef struct Shape {
  PyObject_HEAD tbShape shape;
  PyObject* geometry; // a capsule that owns the hull, mesh or grid; null: none
} Shape;

typedef struct Solid {
  PyObject_HEAD tbTetMesh* mesh;
} Solid;

bool py_shape_init(PyObject* module);

// Worlds.
enum { TB_PY_RECORDINGS = 4 };

typedef struct World {
  PyObject_HEAD tbContext ctx;
  tbScene scene;                            // world null: closed
  bool made;                                // once and for all
  bool busy;                                // in a call without the interpreter lock
  unsigned long lent;                       // busy, but for this thread, which calls its functions; 0: none
  PyObject* kept;                           // list: geometry that its shapes point to
  PyObject* before;                         // list: called before every step
  tbRecording* recording[TB_PY_RECORDINGS]; // fed after every step; null: none
} World;

tbWorld* py_world(World* self);                        // null with an exception where it is closed or busy
bool py_world_has_body(World* self, tbBodyId body);    // false with an exception
bool py_world_has_joint(World* self, tbJointId joint); // the same
bool py_world_set_threads(World* self, int count);     // false with an exception
PyObject* py_report(const tbStepReport* report);
PyObject* py_residual(const tbResidual* residual);
bool py_world_init(PyObject* module);
bool py_reports_init(PyObject* module);

// Of one World object; module.c makes the type of them.
extern PyMethodDef py_world_methods[], py_world_make_methods[], py_world_add_methods[],
    py_world_change_methods[], py_world_read_methods[], py_world_ask_methods[], py_world_file_methods[],
    py_world_inspect_methods[], py_world_drive_methods[];
extern PyMethodDef py_batch_methods[], py_gradient_methods[];
bool py_files_init(PyObject* module);
tbStatus py_feed_recordings(World* self, const tbStepReport* report); // without the interpreter lock
tbStatus py_end_recordings(World* self, tbStatus status);             // frees them
tbStatus py_no_kind(tbContext* ctx, const char* kind); // the error of a kind of recording that is none

// One step with the callbacks before it; the interpreter lock is held at the start and the end.
bool py_world_advance(World* self, tbStepReport* report);
// One step and what is recorded of it, without the interpreter lock.
tbStatus py_step_bare(World* self, tbStepReport* report);

// Problems.
typedef struct Problem {
  PyObject_HEAD tbProblem* problem;
  double* guess; // nrow; null: none. Freed with tb_guess_free
} Problem;

PyObject* py_problem(tbProblem* problem, double* guess); // takes both, also when it fails
bool py_problem_init(PyObject* module);
extern PyMethodDef py_problem_read_methods[], py_problem_solve_methods[], py_problem_build_methods[];
// Sets options by name from a dict; false with an exception.
bool py_set_options(tbContext* ctx, tbStepOptions* options, PyObject* dict);
bool py_set_option(tbContext* ctx, tbStepOptions* options, const char* key, PyObject* value);
bool py_to_model(const char* name, tbModel* out);

// Workspaces.
typedef struct Workspace {
  PyObject_HEAD tbWorkspace* space;
  bool busy; // in a call that may have released the interpreter lock
} Workspace;

bool py_workspace_enter(Workspace* self); // false with an exception where it is busy; the caller ends it
PyObject* py_workspace_solve(Workspace* self, PyObject* args);
bool py_workspace_init(PyObject* module);

bool py_replay_init(PyObject* module); // recorded runs
bool py_ccd_init(PyObject* module);    // continuous collision detection

// Adds a table of methods to a list that ends with a null name; returns the new list, which the caller frees.
PyMethodDef* py_join_methods(PyMethodDef* const* tables, int count);

#endif
