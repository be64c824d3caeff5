// SPDX-License-Identifier: Apache-2.0
// What is painted over a picture: contacts, and what the run says of the frame.
#ifndef TB_RENDER_MARKS_H
#define TB_RENDER_MARKS_H

#include "base/threads.h"
#include "render/paint.h"
#include "render/theme.h"
#include "render/view.h"

typedef struct tbMarkPlace {
  double depth;
  int contact;
  double top, bottom; // rows between which everything of the mark lies
} tbMarkPlace;

// order: room for as many as there are contacts. Bands of rows are painted side by side.
void tb_paint_contacts(tbThreads* threads, const tbCanvas* canvas, const tbView* view, const tbScope* scope,
                       const tbTheme* theme, const tbReplayFrame* frame, tbMarkPlace* order);

void tb_paint_joints(const tbCanvas* canvas, const tbView* view, const tbScope* scope, const tbTheme* theme,
                     const tbSubject* subject);

// Edges of the boxes that are cut away.
void tb_paint_cut(const tbCanvas* canvas, const tbView* view, const tbTheme* theme, const tbSubject* subject);

// The judge's residual over the replay, as log10; −∞: zero. In m/s where the replay holds steps against a
// tolerance in m/s, as those of older builds do not; else the relative one.
typedef struct tbHistory {
  int count;
  double* time;                                            // (count)
  double* residual;                                        // (count)
  double low, high;                                        // of what is drawn, whole powers of ten
  double tolerance;                                        // what it is held against; 0: nothing
  const char* unit;                                        // " m/s", or ""
  int scalar_residual, scalar_iterations, scalar_contacts; // −1: the replay does not say
} tbHistory;

tbStatus tb_history_create(tbContext* ctx, tbArena* arena, tbReplay* replay, const tbSubject* subject,
                           tbHistory* out);
void tb_paint_overlay(const tbCanvas* canvas, const tbSubject* subject, const tbTheme* theme,
                      const tbHistory* history, const tbReplayFrame* frame, bool contacts);

static inline tbInk tb_ink(tbColor color, double alpha)
{
  return (tbInk){{(float)color.r / 255, (float)color.g / 255, (float)color.b / 255}, alpha, alpha, INFINITY};
}

#endif
