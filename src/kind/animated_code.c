// SPDX-License-Identifier: Apache-2.0
// Meshes in motion as bytes: triangles and frames, then where the vertices are.
#include "kind/animated.h"

#include "base/codec.h"

#if UINTPTR_MAX > 0xffffffffu
_Static_assert(sizeof(tbAnimated) == 96, "tbAnimated has changed: tb_animated_code, and the version");
#endif

enum { FRAME_BYTES = 8, VERTEX_BYTES = 72, TRIANGLE_BYTES = 24 };

static void code_parts(tbCodec* c, tbAnimated* a)
{
  for (int i = 0; i < a->ntriangle && tb_codec_good(c); i++) {
    int* t = a->triangle[i];
    for (int k = 0; k < 3; k++) tb_code_int(c, &t[k], 0, a->nvertex - 1);
    tb_codec_require(c, t[0] != t[1] && t[1] != t[2] && t[2] != t[0], "a triangle without three corners");
  }
  for (int i = 0; i < a->nframe && tb_codec_good(c); i++) {
    tb_code_number(c, &a->t[i]);
    tb_codec_require(c, i == 0 || a->t[i] > a->t[i - 1], "frames out of order");
    for (int k = 0; k < a->nvertex && tb_codec_good(c); k++)
      tb_code_vec3(c, &a->at[(size_t)i * (size_t)a->nvertex + (size_t)k]);
  }
  for (int k = 0; k < a->nvertex && tb_codec_good(c); k++)
    tb_code_vec3(c, &a->x[k]), tb_code_vec3(c, &a->v[k]);
  tb_code_number(c, &a->radius);
  tb_codec_require(c, a->radius >= 0, "a surface of negative thickness");
}

void tb_animated_code(tbCodec* c, tbWorld* w, int body)
{
  tbBody* b = &tb_bodies(w)[body];
  tbAnimated* a = b->own;
  int nvertex = a ? a->nvertex : 0, ntriangle = a ? a->ntriangle : 0, nframe = a ? a->nframe : 0;
  tb_code_count(c, &nvertex, VERTEX_BYTES);
  tb_code_count(c, &ntriangle, TRIANGLE_BYTES);
  tb_code_count(c, &nframe, FRAME_BYTES);
  tb_codec_require(c, nvertex > 2 && ntriangle > 0 && nframe > 0 && ntriangle <= INT32_MAX / 16,
                   "a mesh in motion that cannot be");
  if (!tb_codec_good(c)) return;
  if (!tb_codec_reads(c)) {
    code_parts(c, a);
    return;
  }
  int vectors = nframe, left = (int)((c->end - c->at) / 24 < INT32_MAX ? (c->end - c->at) / 24 : INT32_MAX);
  tb_codec_require(c, nvertex <= left / vectors, "more frames than bytes");
  if (!tb_codec_good(c)) return;
  tbStatus made = tb_animated_take(c->ctx, nvertex, ntriangle, nframe, &a);
  if (made != TB_OK) {
    c->status = made;
    return;
  }
  b->own = a;
  code_parts(c, a);
  if (!tb_codec_good(c)) return;
  made = tb_animated_finish(c->ctx, a);
  if (made == TB_ERROR_MEMORY) c->status = made;
  else tb_codec_require(c, made == TB_OK, "a mesh in motion that cannot be");
}
