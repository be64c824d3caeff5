// SPDX-License-Identifier: Apache-2.0
// The library's face for JavaScript: what the files of this folder share.
//
// One module is one engine: one world, one frozen problem, one text in each direction. JavaScript writes
// texts and numbers for the next call where web_in says, and reads the text that a call made where web_out
// says. A call that can fail returns a tbStatus; web_error says what was wrong. What changes every frame lies
// in arrays, whose places the structure behind web_views gives.
#ifndef WEB_H
#define WEB_H

#include "tribo/tools/text.h"
#include "tribo/gallery.h"
#include "tribo/grip.h"

// A function that JavaScript calls by its own name.
#define WEB(type, name, ...)                                        \
  __attribute__((export_name(#name), used)) type name(__VA_ARGS__); \
  type name(__VA_ARGS__)

enum { WEB_POSE = 7, WEB_CONTACT = 17, WEB_REPORT = 32, WEB_RESULT = 16, WEB_EDGE = 48 };

// Places in memory, for typed arrays; viewer/src/engine.js reads them in this order.
typedef struct WebViews {
  double* pose; // (WEB_POSE · bodies): position, quaternion w x y z
  int bodies;
  float* node; // (3 · nodes), of all deformable bodies
  int nodes;
  double* contact; // (WEB_CONTACT · contacts)
  int contacts;
  double* report;         // of the last step (WEB_REPORT)
  const char* used;       // the method that finished it
  double* result;         // of the last solve (WEB_RESULT)
  const char* solve_used; // the method that finished it
  double *trace_iteration, *trace_time, *trace_residual;
  int traced;   // entries of each of the three
  double* edge; // of the friction set last asked for (3 · WEB_EDGE), then the velocity that slides there (3)
} WebViews;

typedef struct WebOriginal WebOriginal; // edit.c

typedef struct Web {
  tbContext ctx;
  char* in;
  size_t in_size;
  tbOut out;
  WebViews views;
  size_t pose_room, node_room, contact_room, trace_room; // bytes behind the views
  double report[WEB_REPORT], result[WEB_RESULT], edge[3 * WEB_EDGE + 3];

  tbScene scene; // world null: none yet
  char* text;    // it was opened from
  size_t text_length;
  WebOriginal* original;
  double friction_scale, friction_mu; // mu < 0: the scene's own, scaled
  int held;                           // the body under the pointer; −1: none
  tbGrip grip;

  tbProblem* problem; // frozen; null: none
  double* guess;      // null: none
} Web;

extern Web web;

tbOut* web_out_begin(void); // a text for JavaScript, from its start
// Makes a block of at least so many bytes of *block, whose contents may be lost. On failure the old one
// stays.
tbStatus web_room(void* block, size_t* room, size_t bytes);
tbStatus web_need_world(void);

// files.c
bool web_file_put(const char* path, const char* bytes, size_t length); // false: no memory

// edit.c
WebOriginal* web_original(const tbWorld* world); // null: no memory
void web_original_free(WebOriginal* original);   // takes null
tbStatus web_edit_friction(tbContext* ctx, tbWorld* world, const WebOriginal* original, double scale,
                           double mu);
tbStatus web_edit_mass(tbContext* ctx, tbWorld* world, const WebOriginal* original, int body, double ratio);
// The ratios of one world's masses, for the bodies of the same names in another.
tbStatus web_edit_masses(tbContext* ctx, tbWorld* to, const WebOriginal* original, const tbWorld* from,
                         const WebOriginal* from_original);

// frame.c: bodies, nodes and contacts into the views
tbStatus web_frame(void);

#endif
