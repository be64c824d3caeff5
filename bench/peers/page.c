// SPDX-License-Identifier: Apache-2.0
// The race as a page of its own: a table and bars for every scene.
#include "peers/peer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char head[] =
    "<!doctype html><meta charset=utf-8><title>Tribo beside other engines</title><style>"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2em auto;padding:0 1em;color:#1c2330;"
    "background:#fbfaf7}table{border-collapse:collapse;width:100%;margin:.4em 0 2em}"
    "td,th{padding:.25em .6em;text-align:right;border-bottom:1px solid "
    "#e3dfd5;font-variant-numeric:tabular-nums}"
    "td:first-child,th:first-child{text-align:left;white-space:nowrap}td.bar{text-align:left;width:30%}"
    ".bar i{display:inline-block;height:.8em;background:#c8c3b6;border-radius:2px}"
    ".ours .bar i{background:#d2691e}h2{margin-bottom:0}</style><h1>Tribo beside other engines</h1>"
    "<p>Engines take turns step by step, 1/60 s each, nothing sleeps. Processor time of a step; overlaps and "
    "joints "
    "that have come apart are measured on the poses by one checker for all. The residual is the judge's, of "
    "the "
    "last step.</p>";

static void write_number(FILE* f, const char* format, double x, double nothing)
{
  fputs("<td>", f);
  if (isfinite(x) && x > nothing) fprintf(f, format, x);
  else fputs("–", f);
  fputs("</td>", f);
}

static void write_row(FILE* f, const PeerRow* r, double slowest)
{
  fprintf(f, "<tr%s><td>%s</td>", strncmp(r->engine, "Tribo", 5) == 0 ? " class=ours" : "", r->engine);
  fprintf(f, "<td class=bar><i style='width:%.1f%%'></i></td>", 100 * sqrt(r->mean_ms / slowest));
  write_number(f, "%.3f", r->mean_ms, -1);
  write_number(f, "%.3f", r->median_ms, -1);
  write_number(f, "%.2f", r->worst_ms, -1);
  write_number(f, "%.3f", r->wall_ms, -1);
  write_number(f, "%.1f", 1e3 * r->overlap, -1);
  write_number(f, "%.1f", 1e3 * r->deepest, -1);
  write_number(f, "%.2f", 1e3 * r->apart, 0);
  write_number(f, "%.1f", 1e3 * r->moved, -1);
  write_number(f, "%.1e", r->residual, 0);
  fputs("</tr>\n", f);
}

int peer_write_page(const char* path, const PeerRow* row, int count)
{
  FILE* f = fopen(path, "w");
  if (!f) return -1;
  fputs(head, f);
  for (int i = 0; i < count;) {
    int end = i;
    double slowest = 0;
    for (; end < count && strcmp(row[end].scene, row[i].scene) == 0; end++)
      slowest = fmax(slowest, row[end].mean_ms);
    fprintf(f,
            "<h2>%s</h2>%d bodies, %d steps<table><tr><th>engine<th>processor time (root scale)<th>mean "
            "ms<th>median<th>worst<th>by the clock<th>overlap at the end, mm<th>at most<th>joints apart, "
            "mm<th>last "
            "body moved, mm<th>residual, m/s</tr>\n",
            row[i].scene, row[i].bodies, row[i].steps);
    for (; i < end; i++) write_row(f, &row[i], slowest);
    fputs("</table>\n", f);
  }
  return fclose(f) == 0 ? 0 : -1;
}
