#include "cli/progress.h"
#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 30 };
static const double interval_s = 0.1;

Progress progress_begin(bool quiet)
{
  double now = tb_seconds();
  return (Progress){.on = !quiet && isatty(STDERR_FILENO), .begun = now, .shown = now};
}

void progress_show(Progress* p, int64_t done, int64_t total, double simulated, int contacts)
{
  if (!p->on) return;
  double now = tb_seconds();
  if (now - p->shown < interval_s) return;
  p->shown = now;
  double share = total > 0 ? (double)done / (double)total : 1;
  char bar[WIDTH + 1] = {0};
  for (int i = 0; i < WIDTH; i++) bar[i] = i < (int)(share * WIDTH) ? '=' : ' ';
  fprintf(stderr, "\r\033[K[%s] %3.0f%%  %.3g s simulated, %.3g × real time, %d contacts", bar, 100 * share,
          simulated, simulated / (now - p->begun), contacts);
}

void progress_clear(Progress* p)
{
  if (p->on) fprintf(stderr, "\r\033[K");
}
