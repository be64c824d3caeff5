// SPDX-License-Identifier: Apache-2.0
// Which functions of src/collide are compiled once per vector width (base/kernels.h).
#include "base/kernels.h"
#include "collide/box_face.h"
#include "collide/surfaces_balls.h"

// box_face.c
TB_KERNEL(int, tb_box_face_points,
          (const tbBoxOver* over, double margin, double near, int most, tbBoxFacePoint* out),
          (over, margin, near, most, out))
// box_box.c
TB_KERNEL(bool, tb_box_points,
          (const tbPlacedBox* a, const tbPlacedBox* b, double margin, int most, bool swapped,
           const tbBoxAxis* axis, tbNarrowManifold* out),
          (a, b, margin, most, swapped, axis, out))
// box_axes.c
TB_KERNEL(void, tb_box_axes, (const tbBoxPairs* pairs, int count, tbBoxAxis* out), (pairs, count, out))

// surfaces_balls.c
TB_KERNEL(tbStatus, tb_surface_balls_near,
          (tbContext * ctx, tbArena* arena, const tbSurfaceScene* scene, double reach, double ahead,
           tbArray* contacts),
          (ctx, arena, scene, reach, ahead, contacts))
