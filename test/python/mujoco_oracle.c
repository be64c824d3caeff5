// SPDX-License-Identifier: Apache-2.0
// What MuJoCo makes of files: for each a line `= nbody`, and a line for each body with its name, mass, centre
// of mass, inertia about it in its axes, and pose; for each joint of one coordinate that has a name the line
// `: NAME coordinate`, at which the poses are, and `^ NAME acceleration` from rest there, without contacts,
// limits and dry friction. With `random` in front the coordinates are random numbers,
// else those of the file's first key or, without keys, of the file. `! reason` for a file that it does not
// read. test_import.py compiles it where Debian's libmujoco-dev is there.
#include <mujoco/mujoco.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_body(const mjModel* m, const mjData* d, int i)
{
  const char* name = mj_id2name(m, mjOBJ_BODY, i);
  mjtNum R[9], I[9] = {0};
  mju_quat2Mat(R, m->body_iquat + 4 * i);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      for (int k = 0; k < 3; k++) I[3 * r + c] += R[3 * r + k] * m->body_inertia[3 * i + k] * R[3 * c + k];
  printf("%s %.17g", name ? name : "-", m->body_mass[i]);
  for (int k = 0; k < 3; k++) printf(" %.17g", m->body_ipos[3 * i + k]);
  printf(" %.17g %.17g %.17g %.17g %.17g %.17g", I[0], I[4], I[8], I[1], I[2], I[5]);
  for (int k = 0; k < 3; k++) printf(" %.17g", d->xpos[3 * i + k]);
  for (int k = 0; k < 4; k++) printf(" %.17g", d->xquat[4 * i + k]);
  printf("\n");
}

static void print_model(const char* path, int wild)
{
  char error[1000] = "";
  mjModel* m = mj_loadXML(path, NULL, error, sizeof error);
  if (!m) {
    for (char* c = error; *c; c++)
      if (*c == '\n') *c = ' ';
    printf("! %s\n", error);
    return;
  }
  mjData* d = mj_makeData(m);
  if (!wild && m->nkey) mj_resetDataKeyframe(m, d, 0);
  printf("= %d\n", m->nbody);
  for (int i = 0; i < m->njnt; i++) {
    const char* name = mj_id2name(m, mjOBJ_JOINT, i);
    if (!name || (m->jnt_type[i] != mjJNT_HINGE && m->jnt_type[i] != mjJNT_SLIDE)) continue;
    mjtNum* q = d->qpos + m->jnt_qposadr[i];
    if (wild) *q = 4.0 * rand() / RAND_MAX - 2;
    printf(": %s %.17g\n", name, *q);
  }
  m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
  mj_forward(m, d);
  for (int i = 0; i < m->njnt; i++) {
    const char* name = mj_id2name(m, mjOBJ_JOINT, i);
    if (name) printf("^ %s %.17g\n", name, d->qacc[m->jnt_dofadr[i]]);
  }
  for (int i = 1; i < m->nbody; i++) print_body(m, d, i);
  mj_deleteData(d);
  mj_deleteModel(m);
}

int main(int argc, char** argv)
{
  int wild = argc > 1 && strcmp(argv[1], "random") == 0;
  for (int i = 1 + wild; i < argc; i++) print_model(argv[i], wild);
  return 0;
}
