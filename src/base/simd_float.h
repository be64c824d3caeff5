// SPDX-License-Identifier: Apache-2.0
// Eight floats side by side, the same width everywhere, with the rules of simd.h: every operation rounds like
// its scalar twin, lane by lane. There is no fused multiply-add here: few machines without vectors have one
// for floats, and the twins would differ.
//
//   tb8f   eight floats     tb8_max(a, b) is a > b ? a : b, also for NaN and zeros of either sign
//   tbwf   as many floats as the machine likes (TB_WIDE_FLOATS: 8 or 16), for kernels whose lanes never meet:
//          the result cannot depend on the width
#ifndef TB_BASE_SIMD_FLOAT_H
#define TB_BASE_SIMD_FLOAT_H

#include "base/simd.h"

#include <stdbool.h>

enum { TB_FLOATS = 8 };

#if defined(TB_SIMD_AVX2)

typedef __m256 tb8f;
static inline tb8f tb8_set1(float x) { return _mm256_set1_ps(x); }
static inline tb8f tb8_load(const float* p) { return _mm256_loadu_ps(p); }
static inline void tb8_store(float* p, tb8f a) { _mm256_storeu_ps(p, a); }
static inline tb8f tb8_add(tb8f a, tb8f b) { return _mm256_add_ps(a, b); }
static inline tb8f tb8_sub(tb8f a, tb8f b) { return _mm256_sub_ps(a, b); }
static inline tb8f tb8_mul(tb8f a, tb8f b) { return _mm256_mul_ps(a, b); }
static inline tb8f tb8_div(tb8f a, tb8f b) { return _mm256_div_ps(a, b); }
static inline tb8f tb8_sqrt(tb8f a) { return _mm256_sqrt_ps(a); }
static inline tb8f tb8_max(tb8f a, tb8f b) { return _mm256_max_ps(a, b); }
static inline tb8f tb8_min(tb8f a, tb8f b) { return _mm256_min_ps(a, b); } // a < b ? a : b
// a > b ? x : y
static inline tb8f tb8_choose(tb8f a, tb8f b, tb8f x, tb8f y)
{
  return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
}
static inline bool tb8_any_above(tb8f a, tb8f b)
{
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)) != 0;
}
static inline int tb8_at_most(tb8f a, tb8f b) // bit k: a ≤ b in lane k
{
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
}
// x[i] lane k ← x[k] lane i
static inline void tb8_transpose(tb8f x[8])
{
  tb8f a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
    a[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    b[i] = _mm256_shuffle_ps(a[i], a[i + 2], 0x44);
    b[i + 1] = _mm256_shuffle_ps(a[i], a[i + 2], 0xee);
    b[i + 2] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0x44);
    b[i + 3] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0xee);
  }
  for (int i = 0; i < 4; i++) {
    x[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
    x[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
  }
}

#else

#if defined(TB_SIMD_SSE2)
typedef __m128 tb4f;
static inline tb4f tb4f_set1(float x) { return _mm_set1_ps(x); }
static inline tb4f tb4f_load(const float* p) { return _mm_loadu_ps(p); }
static inline void tb4f_store(float* p, tb4f a) { _mm_storeu_ps(p, a); }
static inline tb4f tb4f_add(tb4f a, tb4f b) { return _mm_add_ps(a, b); }
static inline tb4f tb4f_sub(tb4f a, tb4f b) { return _mm_sub_ps(a, b); }
static inline tb4f tb4f_mul(tb4f a, tb4f b) { return _mm_mul_ps(a, b); }
static inline tb4f tb4f_div(tb4f a, tb4f b) { return _mm_div_ps(a, b); }
static inline tb4f tb4f_sqrt(tb4f a) { return _mm_sqrt_ps(a); }
static inline tb4f tb4f_max(tb4f a, tb4f b) { return _mm_max_ps(a, b); }
static inline tb4f tb4f_min(tb4f a, tb4f b) { return _mm_min_ps(a, b); }
static inline tb4f tb4f_choose(tb4f a, tb4f b, tb4f x, tb4f y)
{
  tb4f m = _mm_cmpgt_ps(a, b);
  return _mm_or_ps(_mm_and_ps(m, x), _mm_andnot_ps(m, y));
}
static inline bool tb4f_any_above(tb4f a, tb4f b) { return _mm_movemask_ps(_mm_cmpgt_ps(a, b)) != 0; }
static inline int tb4f_at_most(tb4f a, tb4f b) { return _mm_movemask_ps(_mm_cmple_ps(a, b)); }
static inline void tb4f_transpose(tb4f* a, tb4f* b, tb4f* c, tb4f* d) { _MM_TRANSPOSE4_PS(*a, *b, *c, *d); }
#elif defined(TB_SIMD_NEON)
typedef float32x4_t tb4f;
static inline tb4f tb4f_set1(float x) { return vdupq_n_f32(x); }
static inline tb4f tb4f_load(const float* p) { return vld1q_f32(p); }
static inline void tb4f_store(float* p, tb4f a) { vst1q_f32(p, a); }
static inline tb4f tb4f_add(tb4f a, tb4f b) { return vaddq_f32(a, b); }
static inline tb4f tb4f_sub(tb4f a, tb4f b) { return vsubq_f32(a, b); }
static inline tb4f tb4f_mul(tb4f a, tb4f b) { return vmulq_f32(a, b); }
static inline tb4f tb4f_div(tb4f a, tb4f b) { return vdivq_f32(a, b); }
static inline tb4f tb4f_sqrt(tb4f a) { return vsqrtq_f32(a); }
static inline tb4f tb4f_choose(tb4f a, tb4f b, tb4f x, tb4f y) { return vbslq_f32(vcgtq_f32(a, b), x, y); }
static inline tb4f tb4f_max(tb4f a, tb4f b) { return tb4f_choose(a, b, a, b); }
static inline tb4f tb4f_min(tb4f a, tb4f b) { return tb4f_choose(b, a, a, b); }
static inline bool tb4f_any_above(tb4f a, tb4f b) { return vmaxvq_u32(vcgtq_f32(a, b)) != 0; }
static inline int tb4f_at_most(tb4f a, tb4f b)
{
  const uint32_t bits[4] = {1, 2, 4, 8};
  return (int)vaddvq_u32(vandq_u32(vcleq_f32(a, b), vld1q_u32(bits)));
}
static inline void tb4f_transpose(tb4f* a, tb4f* b, tb4f* c, tb4f* d)
{
  float32x4x2_t ab = vtrnq_f32(*a, *b), cd = vtrnq_f32(*c, *d);
  *a = vcombine_f32(vget_low_f32(ab.val[0]), vget_low_f32(cd.val[0]));
  *b = vcombine_f32(vget_low_f32(ab.val[1]), vget_low_f32(cd.val[1]));
  *c = vcombine_f32(vget_high_f32(ab.val[0]), vget_high_f32(cd.val[0]));
  *d = vcombine_f32(vget_high_f32(ab.val[1]), vget_high_f32(cd.val[1]));
}
#elif defined(TB_SIMD_WASM)
typedef v128_t tb4f;
static inline tb4f tb4f_set1(float x) { return wasm_f32x4_splat(x); }
static inline tb4f tb4f_load(const float* p) { return wasm_v128_load(p); }
static inline void tb4f_store(float* p, tb4f a) { wasm_v128_store(p, a); }
static inline tb4f tb4f_add(tb4f a, tb4f b) { return wasm_f32x4_add(a, b); }
static inline tb4f tb4f_sub(tb4f a, tb4f b) { return wasm_f32x4_sub(a, b); }
static inline tb4f tb4f_mul(tb4f a, tb4f b) { return wasm_f32x4_mul(a, b); }
static inline tb4f tb4f_div(tb4f a, tb4f b) { return wasm_f32x4_div(a, b); }
static inline tb4f tb4f_sqrt(tb4f a) { return wasm_f32x4_sqrt(a); }
static inline tb4f tb4f_choose(tb4f a, tb4f b, tb4f x, tb4f y)
{
  return wasm_v128_bitselect(x, y, wasm_f32x4_gt(a, b));
}
static inline tb4f tb4f_max(tb4f a, tb4f b) { return tb4f_choose(a, b, a, b); }
static inline tb4f tb4f_min(tb4f a, tb4f b) { return tb4f_choose(b, a, a, b); }
static inline bool tb4f_any_above(tb4f a, tb4f b) { return wasm_v128_any_true(wasm_f32x4_gt(a, b)); }
static inline int tb4f_at_most(tb4f a, tb4f b) { return (int)wasm_i32x4_bitmask(wasm_f32x4_le(a, b)); }
static inline void tb4f_transpose(tb4f* a, tb4f* b, tb4f* c, tb4f* d)
{
  tb4f ab = wasm_i32x4_shuffle(*a, *b, 0, 4, 1, 5), cd = wasm_i32x4_shuffle(*c, *d, 0, 4, 1, 5);
  tb4f AB = wasm_i32x4_shuffle(*a, *b, 2, 6, 3, 7), CD = wasm_i32x4_shuffle(*c, *d, 2, 6, 3, 7);
  *a = wasm_i32x4_shuffle(ab, cd, 0, 1, 4, 5), *b = wasm_i32x4_shuffle(ab, cd, 2, 3, 6, 7);
  *c = wasm_i32x4_shuffle(AB, CD, 0, 1, 4, 5), *d = wasm_i32x4_shuffle(AB, CD, 2, 3, 6, 7);
}
#else
typedef struct tb4f {
  float x[4];
} tb4f;
#define TB4F_EACH(expression)                        \
  tb4f r;                                            \
  for (int i = 0; i < 4; i++) r.x[i] = (expression); \
  return r
static inline tb4f tb4f_set1(float x) { TB4F_EACH(x); }
static inline tb4f tb4f_load(const float* p) { TB4F_EACH(p[i]); }
static inline void tb4f_store(float* p, tb4f a)
{
  for (int i = 0; i < 4; i++) p[i] = a.x[i];
}
static inline tb4f tb4f_add(tb4f a, tb4f b) { TB4F_EACH(a.x[i] + b.x[i]); }
static inline tb4f tb4f_sub(tb4f a, tb4f b) { TB4F_EACH(a.x[i] - b.x[i]); }
static inline tb4f tb4f_mul(tb4f a, tb4f b) { TB4F_EACH(a.x[i] * b.x[i]); }
static inline tb4f tb4f_div(tb4f a, tb4f b) { TB4F_EACH(a.x[i] / b.x[i]); }
static inline tb4f tb4f_sqrt(tb4f a) { TB4F_EACH(sqrtf(a.x[i])); }
static inline tb4f tb4f_max(tb4f a, tb4f b) { TB4F_EACH(a.x[i] > b.x[i] ? a.x[i] : b.x[i]); }
static inline tb4f tb4f_min(tb4f a, tb4f b) { TB4F_EACH(a.x[i] < b.x[i] ? a.x[i] : b.x[i]); }
static inline tb4f tb4f_choose(tb4f a, tb4f b, tb4f x, tb4f y)
{
  TB4F_EACH(a.x[i] > b.x[i] ? x.x[i] : y.x[i]);
}
#undef TB4F_EACH
static inline bool tb4f_any_above(tb4f a, tb4f b)
{
  return a.x[0] > b.x[0] || a.x[1] > b.x[1] || a.x[2] > b.x[2] || a.x[3] > b.x[3];
}
static inline int tb4f_at_most(tb4f a, tb4f b)
{
  return (a.x[0] <= b.x[0]) | (a.x[1] <= b.x[1]) << 1 | (a.x[2] <= b.x[2]) << 2 | (a.x[3] <= b.x[3]) << 3;
}
static inline void tb4f_transpose(tb4f* a, tb4f* b, tb4f* c, tb4f* d)
{
  tb4f* row[4] = {a, b, c, d};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < i; k++) {
      float x = row[i]->x[k];
      row[i]->x[k] = row[k]->x[i], row[k]->x[i] = x;
    }
}
#endif

typedef struct tb8f {
  tb4f lo, hi;
} tb8f;
static inline tb8f tb8_set1(float x) { return (tb8f){tb4f_set1(x), tb4f_set1(x)}; }
static inline tb8f tb8_load(const float* p) { return (tb8f){tb4f_load(p), tb4f_load(p + 4)}; }
static inline void tb8_store(float* p, tb8f a)
{
  tb4f_store(p, a.lo);
  tb4f_store(p + 4, a.hi);
}
#define TB8_BOTH(operation, a, b) ((tb8f){operation((a).lo, (b).lo), operation((a).hi, (b).hi)})
static inline tb8f tb8_add(tb8f a, tb8f b) { return TB8_BOTH(tb4f_add, a, b); }
static inline tb8f tb8_sub(tb8f a, tb8f b) { return TB8_BOTH(tb4f_sub, a, b); }
static inline tb8f tb8_mul(tb8f a, tb8f b) { return TB8_BOTH(tb4f_mul, a, b); }
static inline tb8f tb8_div(tb8f a, tb8f b) { return TB8_BOTH(tb4f_div, a, b); }
static inline tb8f tb8_max(tb8f a, tb8f b) { return TB8_BOTH(tb4f_max, a, b); }
static inline tb8f tb8_min(tb8f a, tb8f b) { return TB8_BOTH(tb4f_min, a, b); }
#undef TB8_BOTH
static inline tb8f tb8_sqrt(tb8f a) { return (tb8f){tb4f_sqrt(a.lo), tb4f_sqrt(a.hi)}; }
static inline tb8f tb8_choose(tb8f a, tb8f b, tb8f x, tb8f y)
{
  return (tb8f){tb4f_choose(a.lo, b.lo, x.lo, y.lo), tb4f_choose(a.hi, b.hi, x.hi, y.hi)};
}
static inline bool tb8_any_above(tb8f a, tb8f b)
{
  return tb4f_any_above(a.lo, b.lo) || tb4f_any_above(a.hi, b.hi);
}
static inline int tb8_at_most(tb8f a, tb8f b)
{
  return tb4f_at_most(a.lo, b.lo) | tb4f_at_most(a.hi, b.hi) << 4;
}
static inline void tb8_transpose(tb8f x[8])
{
  tb4f_transpose(&x[0].lo, &x[1].lo, &x[2].lo, &x[3].lo);
  tb4f_transpose(&x[4].hi, &x[5].hi, &x[6].hi, &x[7].hi);
  tb4f_transpose(&x[0].hi, &x[1].hi, &x[2].hi, &x[3].hi);
  tb4f_transpose(&x[4].lo, &x[5].lo, &x[6].lo, &x[7].lo);
  for (int i = 0; i < 4; i++) {
    tb4f other = x[i].hi;
    x[i].hi = x[i + 4].lo, x[i + 4].lo = other;
  }
}

#endif

#if defined(TB_SIMD_AVX512)

#define TB_WIDE_FLOATS 16
typedef __m512 tbwf;
static inline tbwf tbwf_set1(float x) { return _mm512_set1_ps(x); }
static inline tbwf tbwf_load(const float* p) { return _mm512_loadu_ps(p); }
static inline void tbwf_store(float* p, tbwf a) { _mm512_storeu_ps(p, a); }
static inline tbwf tbwf_add(tbwf a, tbwf b) { return _mm512_add_ps(a, b); }
static inline tbwf tbwf_sub(tbwf a, tbwf b) { return _mm512_sub_ps(a, b); }
static inline tbwf tbwf_mul(tbwf a, tbwf b) { return _mm512_mul_ps(a, b); }
static inline tbwf tbwf_div(tbwf a, tbwf b) { return _mm512_div_ps(a, b); }
static inline tbwf tbwf_sqrt(tbwf a) { return _mm512_sqrt_ps(a); }
static inline tbwf tbwf_max(tbwf a, tbwf b) { return _mm512_max_ps(a, b); }
static inline tbwf tbwf_min(tbwf a, tbwf b) { return _mm512_min_ps(a, b); }
static inline tbwf tbwf_choose(tbwf a, tbwf b, tbwf x, tbwf y)
{
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), y, x);
}
static inline bool tbwf_any_above(tbwf a, tbwf b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0; }
// In either half: x[i] lane k ← x[k] lane i.
static inline void tbwf_transpose(tbwf x[8])
{
  const __m512i even = _mm512_set_epi32(27, 26, 25, 24, 11, 10, 9, 8, 19, 18, 17, 16, 3, 2, 1, 0);
  const __m512i odd = _mm512_set_epi32(31, 30, 29, 28, 15, 14, 13, 12, 23, 22, 21, 20, 7, 6, 5, 4);
  tbwf a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
    a[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    b[i] = _mm512_shuffle_ps(a[i], a[i + 2], 0x44);
    b[i + 1] = _mm512_shuffle_ps(a[i], a[i + 2], 0xee);
    b[i + 2] = _mm512_shuffle_ps(a[i + 1], a[i + 3], 0x44);
    b[i + 3] = _mm512_shuffle_ps(a[i + 1], a[i + 3], 0xee);
  }
  for (int i = 0; i < 4; i++) {
    x[i] = _mm512_permutex2var_ps(b[i], even, b[i + 4]);
    x[i + 4] = _mm512_permutex2var_ps(b[i], odd, b[i + 4]);
  }
}
static inline tbwf tbwf_join(tb8f low, tb8f high)
{
  return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
static inline tb8f tbwf_half(tbwf a, int half)
{
  return half ? _mm512_extractf32x8_ps(a, 1) : _mm512_castps512_ps256(a);
}

#else

#define TB_WIDE_FLOATS 8
typedef tb8f tbwf;
static inline tbwf tbwf_set1(float x) { return tb8_set1(x); }
static inline tbwf tbwf_load(const float* p) { return tb8_load(p); }
static inline void tbwf_store(float* p, tbwf a) { tb8_store(p, a); }
static inline tbwf tbwf_add(tbwf a, tbwf b) { return tb8_add(a, b); }
static inline tbwf tbwf_sub(tbwf a, tbwf b) { return tb8_sub(a, b); }
static inline tbwf tbwf_mul(tbwf a, tbwf b) { return tb8_mul(a, b); }
static inline tbwf tbwf_div(tbwf a, tbwf b) { return tb8_div(a, b); }
static inline tbwf tbwf_sqrt(tbwf a) { return tb8_sqrt(a); }
static inline tbwf tbwf_max(tbwf a, tbwf b) { return tb8_max(a, b); }
static inline tbwf tbwf_min(tbwf a, tbwf b) { return tb8_min(a, b); }
static inline tbwf tbwf_choose(tbwf a, tbwf b, tbwf x, tbwf y) { return tb8_choose(a, b, x, y); }
static inline bool tbwf_any_above(tbwf a, tbwf b) { return tb8_any_above(a, b); }

#endif

// Rows of eight floats, one for each lane, become eight columns; and back.
static inline void tbwf_columns(const float* const row[TB_WIDE_FLOATS], tbwf x[8])
{
#if TB_WIDE_FLOATS == 16
  for (int i = 0; i < 8; i++) x[i] = tbwf_join(tb8_load(row[i]), tb8_load(row[i + 8]));
  tbwf_transpose(x);
#else
  for (int i = 0; i < 8; i++) x[i] = tb8_load(row[i]);
  tb8_transpose(x);
#endif
}
static inline void tbwf_rows(tbwf x[8], tb8f row[TB_WIDE_FLOATS])
{
#if TB_WIDE_FLOATS == 16
  tbwf_transpose(x);
  for (int i = 0; i < 8; i++) row[i] = tbwf_half(x[i], 0), row[i + 8] = tbwf_half(x[i], 1);
#else
  tb8_transpose(x);
  for (int i = 0; i < 8; i++) row[i] = x[i];
#endif
}

#endif
