// SPDX-License-Identifier: Apache-2.0
// The same bodies in Tribo's lanes and in other engines: time of a step, overlaps and joints by one checker,
// drift. Engines take turns step by step, so that a noisy machine is as noisy for all of them.
//
//   bench_peers [FILE.csv [WORD [ENGINE…]]]    WORD: only scenes whose names contain it
//
// Beside FILE.csv it writes FILE.html. The exact lanes take part where there are at most MOST_EXACT bodies.
#include "bench.h"
#include "peers/peer.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double clock_ms(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

typedef struct {
  const Peer* peer;
  void* world;
  double *ms, wall; // of the processor, by step; of the clock, on average
  double deepest;   // overlap of any step that was looked at
} Runner;

enum { LOOK = 10, MOST_EXACT = 250, ENGINES = 8, MOST_ROWS = PEER_SCENES * ENGINES };

static void look(const PeerScene* s, const Runner* r, PeerPose* pose)
{
  for (int i = 0; i < s->count; i++) r->peer->pose(r->world, i, &pose[i]);
}

static int ascending(const void* a, const void* b)
{
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static PeerRow row_of(const PeerScene* s, Runner* r, PeerPose* pose)
{
  PeerRow row = {.bodies = s->count, .steps = s->steps, .threads = r->peer->threads, .wall_ms = r->wall};
  snprintf(row.scene, sizeof row.scene, "%s", s->name);
  snprintf(row.engine, sizeof row.engine, "%s", r->peer->name);
  for (int i = 0; i < s->steps; i++) row.mean_ms += r->ms[i] / s->steps;
  qsort(r->ms, (size_t)s->steps, sizeof *r->ms, ascending);
  row.median_ms = r->ms[s->steps / 2], row.worst_ms = r->ms[s->steps - 1];
  look(s, r, pose);
  row.overlap = peer_overlap(s, pose), row.deepest = fmax(r->deepest, row.overlap);
  row.apart = peer_apart(s, pose);
  for (int c = 0; c < 3; c++) row.moved += pow(pose[s->count - 1].x[c] - s->body[s->count - 1].x[c], 2);
  row.moved = sqrt(row.moved);
  row.residual = r->peer->residual ? r->peer->residual(r->world) : -1;
  return row;
}

static void print_row(const PeerRow* r, double reference, FILE* csv)
{
  printf("  %-27s %9.3f ms mean %9.3f median %9.3f worst %9.3f by the clock %6.2f ×  overlap %.4f m, at most "
         "%.4f",
         r->engine, r->mean_ms, r->median_ms, r->worst_ms, r->wall_ms, r->mean_ms / reference, r->overlap,
         r->deepest);
  if (r->apart > 0) printf("  joints apart %.5f m", r->apart);
  printf("  last body moved %.4f m", r->moved);
  if (r->residual >= 0) printf("  %.1e m/s", r->residual);
  putchar('\n');
  if (csv)
    fprintf(csv, "\"%s\",\"%s\",%d,%g,%g,%g,%g,%g,%g,%g,%g,%g\n", r->scene, r->engine, r->threads, r->mean_ms,
            r->median_ms, r->worst_ms, r->wall_ms, r->overlap, r->deepest, r->apart, r->moved, r->residual);
}

static bool is_asked_for(const char* name, char** asked)
{
  for (int k = 0; asked[k]; k++)
    if (strcmp(asked[k], name) == 0) return true;
  return !asked[0];
}

static int choose(const PeerScene* s, char** asked, Runner* r)
{
  const Peer* all[ENGINES];
  unsigned kinds = 0;
  int count = 0, chosen = 0;
  for (int i = 0; i < PEER_TRIBO_LANES; i++)
    if (i < PEER_TRIBO_EXACT || s->count <= MOST_EXACT) all[count++] = &peer_tribo[i];
#ifdef TB_HAVE_BULLET
  all[count++] = &peer_bullet;
#endif
#ifdef TB_HAVE_ODE
  all[count++] = &peer_ode;
#endif
#ifdef TB_HAVE_MUJOCO
  all[count++] = &peer_mujoco;
#endif
  for (int i = 0; i < s->count; i++) kinds |= 1u << s->body[i].kind;
  for (int i = 0; i < count; i++)
    if ((kinds & ~all[i]->kinds) == 0 && s->count <= all[i]->most && is_asked_for(all[i]->name, asked))
      r[chosen++] = (Runner){.peer = all[i], .ms = calloc((size_t)s->steps, sizeof(double))};
  return chosen;
}

static int race(const PeerScene* s, char** asked, FILE* csv, PeerRow* rows)
{
  Runner r[ENGINES];
  int count = choose(s, asked, r);
  PeerPose* pose = calloc((size_t)s->count, sizeof *pose);
  printf("%s: %d bodies, %d steps of 1/60 s\n", s->name, s->count, s->steps);
  for (int k = 0; k < count; k++) r[k].world = r[k].peer->open(s);
  for (int i = 0; i < s->steps; i++)
    for (int k = 0; k < count; k++) {
      double begun = clock_ms(CLOCK_PROCESS_CPUTIME_ID), clock = clock_ms(CLOCK_MONOTONIC);
      r[k].peer->step(r[k].world, 1.0 / 60);
      r[k].ms[i] = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - begun;
      r[k].wall += (clock_ms(CLOCK_MONOTONIC) - clock) / s->steps;
      if (i % LOOK < LOOK - 1) continue;
      look(s, &r[k], pose);
      r[k].deepest = fmax(r[k].deepest, peer_overlap(s, pose));
    }
  for (int k = 0; k < count; k++) {
    rows[k] = row_of(s, &r[k], pose);
    print_row(&rows[k], rows[0].mean_ms, csv);
    r[k].peer->close(r[k].world);
    free(r[k].ms);
  }
  free(pose);
  fflush(stdout);
  return count;
}

// FILE.csv becomes FILE.html.
static void write_page(const char* csv, const PeerRow* rows, int count)
{
  size_t length = strlen(csv),
         stem = length > 4 && strcmp(csv + length - 4, ".csv") == 0 ? length - 4 : length;
  char* path = malloc(stem + 6);
  memcpy(path, csv, stem);
  strcpy(path + stem, ".html");
  if (peer_write_page(path, rows, count) == 0) printf("wrote %s and %s\n", csv, path);
  else fprintf(stderr, "%s cannot be written\n", path);
  free(path);
}

int main(int count, char** argument)
{
  if (count > 1 && argument[1][0] == '-')
    return fputs("bench_peers [FILE.csv [WORD [ENGINE...]]]\n", stderr), 1;
  FILE* csv = count > 1 ? fopen(argument[1], "w") : NULL;
  if (count > 1 && !csv) return fprintf(stderr, "%s cannot be written\n", argument[1]), 1;
  PeerRow* rows = calloc(MOST_ROWS, sizeof *rows);
  int nrow = 0;
  if (csv)
    fputs(
        "scene,engine,threads,mean_ms,median_ms,worst_ms,wall_ms,overlap_m,largest_overlap_m,apart_m,moved_m,"
        "residual_m_s\n",
        csv);
  for (int i = 0; i < PEER_SCENES; i++) {
    PeerScene s = peer_scene(i);
    if (count < 3 || strstr(s.name, argument[2]))
      nrow += race(&s, argument + (count < 3 ? count : 3), csv, rows + nrow);
    peer_scene_free(&s);
  }
  if (csv) fclose(csv);
  if (csv) write_page(argument[1], rows, nrow);
  free(rows);
  return 0;
}
