// SPDX-License-Identifier: Apache-2.0
// What MuJoCo makes of a file: a line for each body with its name, mass, centre of mass, inertia about it in
// its axes, and pose with all joints at their reference. test_import.py compiles it where Debian's
// libmujoco-dev is there.
#include <mujoco/mujoco.h>

#include <stdio.h>

int main(int argc, char** argv)
{
  char error[1000] = "";
  mjModel* m = argc > 1 ? mj_loadXML(argv[1], NULL, error, sizeof error) : NULL;
  if (!m) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  mjData* d = mj_makeData(m);
  mj_kinematics(m, d);
  for (int i = 1; i < m->nbody; i++) {
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
  mj_deleteData(d);
  mj_deleteModel(m);
  return 0;
}
