// SPDX-License-Identifier: Apache-2.0
// The one place with intrinsics. Every operation rounds like its scalar twin, lane by lane, so AVX-512, AVX2,
// SSE2, NEON, wasm and plain C give the same bits.
//
//   tb4d   four doubles, the same width everywhere: for reductions, whose order of addition is part of the
//          answer. tb4_sum adds (0+1) + (2+3). tb4_turn: lanes 1, 2, 0, 3.
//   tbwd   as many doubles as the machine likes (TB_WIDE), for kernels whose lanes never meet: the result
//          cannot depend on the width.
//
// There is no fused multiply-add: SSE2 and wasm have no such instruction, and emulating its one rounding
// takes twenty. Nothing is ever contracted (-ffp-contract=off).
#ifndef TB_BASE_SIMD_H
#define TB_BASE_SIMD_H

#include <math.h>

#if defined(TB_SIMD_SCALAR)
#define TB_SIMD_NAME "scalar"
#elif defined(__AVX512F__) && defined(__AVX2__) && defined(__FMA__)
#define TB_SIMD_NAME   "avx512"
#define TB_SIMD_AVX512 1
#define TB_SIMD_AVX2   1
#elif defined(__AVX2__) && defined(__FMA__)
#define TB_SIMD_NAME "avx2"
#define TB_SIMD_AVX2 1
#elif defined(__SSE2__)
#define TB_SIMD_NAME "sse2"
#define TB_SIMD_SSE2 1
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define TB_SIMD_NAME "neon"
#define TB_SIMD_NEON 1
#elif defined(__wasm_simd128__)
#define TB_SIMD_NAME "wasm"
#define TB_SIMD_WASM 1
#else
#define TB_SIMD_NAME "scalar"
#endif

#if defined(TB_SIMD_AVX2) || defined(TB_SIMD_SSE2)
#include <immintrin.h>
#elif defined(TB_SIMD_NEON)
#include <arm_neon.h>
#elif defined(TB_SIMD_WASM)
#include <wasm_simd128.h>
#endif

#if defined(TB_SIMD_AVX2)

typedef __m256d tb4d;
static inline tb4d tb4_set1(double x) { return _mm256_set1_pd(x); }
static inline tb4d tb4_load(const double* p) { return _mm256_loadu_pd(p); }
static inline tb4d tb4_load_float(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
static inline void tb4_store(double* p, tb4d a) { _mm256_storeu_pd(p, a); }
static inline tb4d tb4_add(tb4d a, tb4d b) { return _mm256_add_pd(a, b); }
static inline tb4d tb4_sub(tb4d a, tb4d b) { return _mm256_sub_pd(a, b); }
static inline tb4d tb4_mul(tb4d a, tb4d b) { return _mm256_mul_pd(a, b); }
static inline int tb4_at_most(tb4d a, tb4d b) // bit k: a ≤ b in lane k
{
  return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LE_OQ));
}
static inline tb4d tb4_abs(tb4d a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
static inline tb4d tb4_div(tb4d a, tb4d b) { return _mm256_div_pd(a, b); }
static inline tb4d tb4_max(tb4d a, tb4d b) { return _mm256_max_pd(a, b); } // a > b ? a : b
static inline tb4d tb4_min(tb4d a, tb4d b) { return _mm256_min_pd(a, b); } // a < b ? a : b
static inline tb4d tb4_choose(tb4d a, tb4d b, tb4d x, tb4d y)              // a > b ? x : y
{
  return _mm256_blendv_pd(y, x, _mm256_cmp_pd(a, b, _CMP_GT_OQ));
}
static inline tb4d tb4_turn(tb4d a) { return _mm256_permute4x64_pd(a, 0xc9); }
static inline double tb4_sum(tb4d a)
{
  __m128d lo = _mm256_castpd256_pd128(a), hi = _mm256_extractf128_pd(a, 1);
  __m128d pairs = _mm_hadd_pd(lo, hi); // 0+1, 2+3
  return _mm_cvtsd_f64(_mm_add_sd(pairs, _mm_unpackhi_pd(pairs, pairs)));
}

#elif defined(TB_SIMD_SSE2)

typedef struct tb4d {
  __m128d lo, hi;
} tb4d;
static inline tb4d tb4_set1(double x) { return (tb4d){_mm_set1_pd(x), _mm_set1_pd(x)}; }
static inline tb4d tb4_load(const double* p) { return (tb4d){_mm_loadu_pd(p), _mm_loadu_pd(p + 2)}; }
static inline tb4d tb4_load_float(const float* p)
{
  __m128 x = _mm_loadu_ps(p);
  return (tb4d){_mm_cvtps_pd(x), _mm_cvtps_pd(_mm_movehl_ps(x, x))};
}
static inline void tb4_store(double* p, tb4d a)
{
  _mm_storeu_pd(p, a.lo);
  _mm_storeu_pd(p + 2, a.hi);
}
static inline tb4d tb4_add(tb4d a, tb4d b) { return (tb4d){_mm_add_pd(a.lo, b.lo), _mm_add_pd(a.hi, b.hi)}; }
static inline tb4d tb4_sub(tb4d a, tb4d b) { return (tb4d){_mm_sub_pd(a.lo, b.lo), _mm_sub_pd(a.hi, b.hi)}; }
static inline tb4d tb4_mul(tb4d a, tb4d b) { return (tb4d){_mm_mul_pd(a.lo, b.lo), _mm_mul_pd(a.hi, b.hi)}; }
static inline int tb4_at_most(tb4d a, tb4d b)
{
  return _mm_movemask_pd(_mm_cmple_pd(a.lo, b.lo)) | _mm_movemask_pd(_mm_cmple_pd(a.hi, b.hi)) << 2;
}
static inline tb4d tb4_abs(tb4d a)
{
  __m128d sign = _mm_set1_pd(-0.0);
  return (tb4d){_mm_andnot_pd(sign, a.lo), _mm_andnot_pd(sign, a.hi)};
}
static inline tb4d tb4_div(tb4d a, tb4d b) { return (tb4d){_mm_div_pd(a.lo, b.lo), _mm_div_pd(a.hi, b.hi)}; }
static inline tb4d tb4_max(tb4d a, tb4d b) { return (tb4d){_mm_max_pd(a.lo, b.lo), _mm_max_pd(a.hi, b.hi)}; }
static inline tb4d tb4_min(tb4d a, tb4d b) { return (tb4d){_mm_min_pd(a.lo, b.lo), _mm_min_pd(a.hi, b.hi)}; }
static inline tb4d tb4_choose(tb4d a, tb4d b, tb4d x, tb4d y)
{
  __m128d lo = _mm_cmpgt_pd(a.lo, b.lo), hi = _mm_cmpgt_pd(a.hi, b.hi);
  return (tb4d){_mm_or_pd(_mm_and_pd(lo, x.lo), _mm_andnot_pd(lo, y.lo)),
                _mm_or_pd(_mm_and_pd(hi, x.hi), _mm_andnot_pd(hi, y.hi))};
}
static inline tb4d tb4_turn(tb4d a)
{
  return (tb4d){_mm_shuffle_pd(a.lo, a.hi, 1), _mm_shuffle_pd(a.lo, a.hi, 2)};
}
static inline double tb4_sum(tb4d a)
{
  double x[4];
  tb4_store(x, a);
  return (x[0] + x[1]) + (x[2] + x[3]);
}

#elif defined(TB_SIMD_NEON)

typedef struct tb4d {
  float64x2_t lo, hi;
} tb4d;
static inline tb4d tb4_set1(double x) { return (tb4d){vdupq_n_f64(x), vdupq_n_f64(x)}; }
static inline tb4d tb4_load(const double* p) { return (tb4d){vld1q_f64(p), vld1q_f64(p + 2)}; }
static inline tb4d tb4_load_float(const float* p)
{
  float32x4_t x = vld1q_f32(p);
  return (tb4d){vcvt_f64_f32(vget_low_f32(x)), vcvt_high_f64_f32(x)};
}
static inline void tb4_store(double* p, tb4d a)
{
  vst1q_f64(p, a.lo);
  vst1q_f64(p + 2, a.hi);
}
static inline tb4d tb4_add(tb4d a, tb4d b) { return (tb4d){vaddq_f64(a.lo, b.lo), vaddq_f64(a.hi, b.hi)}; }
static inline tb4d tb4_sub(tb4d a, tb4d b) { return (tb4d){vsubq_f64(a.lo, b.lo), vsubq_f64(a.hi, b.hi)}; }
static inline tb4d tb4_mul(tb4d a, tb4d b) { return (tb4d){vmulq_f64(a.lo, b.lo), vmulq_f64(a.hi, b.hi)}; }
static inline int tb4_at_most(tb4d a, tb4d b)
{
  uint64x2_t lo = vcleq_f64(a.lo, b.lo), hi = vcleq_f64(a.hi, b.hi);
  return (int)(vgetq_lane_u64(lo, 0) & 1) | (int)(vgetq_lane_u64(lo, 1) & 2) |
         (int)(vgetq_lane_u64(hi, 0) & 4) | (int)(vgetq_lane_u64(hi, 1) & 8);
}
static inline tb4d tb4_abs(tb4d a) { return (tb4d){vabsq_f64(a.lo), vabsq_f64(a.hi)}; }
static inline tb4d tb4_div(tb4d a, tb4d b) { return (tb4d){vdivq_f64(a.lo, b.lo), vdivq_f64(a.hi, b.hi)}; }
static inline tb4d tb4_choose(tb4d a, tb4d b, tb4d x, tb4d y)
{
  return (tb4d){vbslq_f64(vcgtq_f64(a.lo, b.lo), x.lo, y.lo), vbslq_f64(vcgtq_f64(a.hi, b.hi), x.hi, y.hi)};
}
static inline tb4d tb4_max(tb4d a, tb4d b) { return tb4_choose(a, b, a, b); }
static inline tb4d tb4_min(tb4d a, tb4d b) { return tb4_choose(b, a, a, b); }
static inline tb4d tb4_turn(tb4d a)
{
  return (tb4d){vextq_f64(a.lo, a.hi, 1), vcombine_f64(vget_low_f64(a.lo), vget_high_f64(a.hi))};
}
static inline double tb4_sum(tb4d a)
{
  return (vgetq_lane_f64(a.lo, 0) + vgetq_lane_f64(a.lo, 1)) +
         (vgetq_lane_f64(a.hi, 0) + vgetq_lane_f64(a.hi, 1));
}

#elif defined(TB_SIMD_WASM)

typedef struct tb4d {
  v128_t lo, hi;
} tb4d;
static inline tb4d tb4_set1(double x) { return (tb4d){wasm_f64x2_splat(x), wasm_f64x2_splat(x)}; }
static inline tb4d tb4_load(const double* p) { return (tb4d){wasm_v128_load(p), wasm_v128_load(p + 2)}; }
static inline tb4d tb4_load_float(const float* p)
{
  v128_t x = wasm_v128_load(p);
  return (tb4d){wasm_f64x2_promote_low_f32x4(x),
                wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(x, x, 2, 3, 2, 3))};
}
static inline void tb4_store(double* p, tb4d a)
{
  wasm_v128_store(p, a.lo);
  wasm_v128_store(p + 2, a.hi);
}
static inline tb4d tb4_add(tb4d a, tb4d b)
{
  return (tb4d){wasm_f64x2_add(a.lo, b.lo), wasm_f64x2_add(a.hi, b.hi)};
}
static inline tb4d tb4_sub(tb4d a, tb4d b)
{
  return (tb4d){wasm_f64x2_sub(a.lo, b.lo), wasm_f64x2_sub(a.hi, b.hi)};
}
static inline tb4d tb4_mul(tb4d a, tb4d b)
{
  return (tb4d){wasm_f64x2_mul(a.lo, b.lo), wasm_f64x2_mul(a.hi, b.hi)};
}
static inline int tb4_at_most(tb4d a, tb4d b)
{
  return (int)wasm_i64x2_bitmask(wasm_f64x2_le(a.lo, b.lo)) |
         (int)wasm_i64x2_bitmask(wasm_f64x2_le(a.hi, b.hi)) << 2;
}
static inline tb4d tb4_abs(tb4d a) { return (tb4d){wasm_f64x2_abs(a.lo), wasm_f64x2_abs(a.hi)}; }
static inline tb4d tb4_div(tb4d a, tb4d b)
{
  return (tb4d){wasm_f64x2_div(a.lo, b.lo), wasm_f64x2_div(a.hi, b.hi)};
}
static inline tb4d tb4_choose(tb4d a, tb4d b, tb4d x, tb4d y)
{
  return (tb4d){wasm_v128_bitselect(x.lo, y.lo, wasm_f64x2_gt(a.lo, b.lo)),
                wasm_v128_bitselect(x.hi, y.hi, wasm_f64x2_gt(a.hi, b.hi))};
}
static inline tb4d tb4_max(tb4d a, tb4d b) { return tb4_choose(a, b, a, b); }
static inline tb4d tb4_min(tb4d a, tb4d b) { return tb4_choose(b, a, a, b); }
static inline tb4d tb4_turn(tb4d a)
{
  return (tb4d){wasm_i64x2_shuffle(a.lo, a.hi, 1, 2), wasm_i64x2_shuffle(a.lo, a.hi, 0, 3)};
}
static inline double tb4_sum(tb4d a)
{
  return (wasm_f64x2_extract_lane(a.lo, 0) + wasm_f64x2_extract_lane(a.lo, 1)) +
         (wasm_f64x2_extract_lane(a.hi, 0) + wasm_f64x2_extract_lane(a.hi, 1));
}

#else

typedef struct tb4d {
  double x[4];
} tb4d;
static inline tb4d tb4_set1(double x) { return (tb4d){{x, x, x, x}}; }
static inline tb4d tb4_load(const double* p) { return (tb4d){{p[0], p[1], p[2], p[3]}}; }
static inline tb4d tb4_load_float(const float* p) { return (tb4d){{p[0], p[1], p[2], p[3]}}; }
static inline void tb4_store(double* p, tb4d a)
{
  for (int i = 0; i < 4; i++) p[i] = a.x[i];
}
#define TB4_EACH(expression)                         \
  tb4d r;                                            \
  for (int i = 0; i < 4; i++) r.x[i] = (expression); \
  return r
static inline tb4d tb4_add(tb4d a, tb4d b) { TB4_EACH(a.x[i] + b.x[i]); }
static inline tb4d tb4_sub(tb4d a, tb4d b) { TB4_EACH(a.x[i] - b.x[i]); }
static inline tb4d tb4_mul(tb4d a, tb4d b) { TB4_EACH(a.x[i] * b.x[i]); }
#undef TB4_EACH
static inline int tb4_at_most(tb4d a, tb4d b)
{
  int bits = 0;
  for (int i = 0; i < 4; i++) bits |= (a.x[i] <= b.x[i]) << i;
  return bits;
}
static inline tb4d tb4_abs(tb4d a)
{
  return (tb4d){{fabs(a.x[0]), fabs(a.x[1]), fabs(a.x[2]), fabs(a.x[3])}};
}
static inline tb4d tb4_div(tb4d a, tb4d b)
{
  return (tb4d){{a.x[0] / b.x[0], a.x[1] / b.x[1], a.x[2] / b.x[2], a.x[3] / b.x[3]}};
}
static inline tb4d tb4_choose(tb4d a, tb4d b, tb4d x, tb4d y)
{
  for (int i = 0; i < 4; i++) y.x[i] = a.x[i] > b.x[i] ? x.x[i] : y.x[i];
  return y;
}
static inline tb4d tb4_max(tb4d a, tb4d b) { return tb4_choose(a, b, a, b); }
static inline tb4d tb4_min(tb4d a, tb4d b) { return tb4_choose(b, a, a, b); }
static inline tb4d tb4_turn(tb4d a) { return (tb4d){{a.x[1], a.x[2], a.x[0], a.x[3]}}; }
static inline double tb4_sum(tb4d a) { return (a.x[0] + a.x[1]) + (a.x[2] + a.x[3]); }

#endif

#if defined(TB_SIMD_AVX512)

#define TB_WIDE 8
typedef __m512d tbwd;
static inline tbwd tbw_set1(double x) { return _mm512_set1_pd(x); }
static inline tbwd tbw_load(const double* p) { return _mm512_loadu_pd(p); }
static inline void tbw_store(double* p, tbwd a) { _mm512_storeu_pd(p, a); }
static inline tbwd tbw_add(tbwd a, tbwd b) { return _mm512_add_pd(a, b); }
static inline tbwd tbw_sub(tbwd a, tbwd b) { return _mm512_sub_pd(a, b); }
static inline tbwd tbw_mul(tbwd a, tbwd b) { return _mm512_mul_pd(a, b); }
static inline tbwd tbw_div(tbwd a, tbwd b) { return _mm512_div_pd(a, b); }
static inline tbwd tbw_sqrt(tbwd a) { return _mm512_sqrt_pd(a); }
static inline tbwd tbw_abs(tbwd a) { return _mm512_abs_pd(a); }
static inline tbwd tbw_choose(tbwd a, tbwd b, tbwd x, tbwd y) // a > b ? x : y
{
  return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_GT_OQ), y, x);
}
static inline int tbw_any_above(tbwd a, tbwd b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ) != 0; }
static inline tbwd tbw_copysign(tbwd a, tbwd b) // |a| with the sign of b
{
  __m512i sign = _mm512_set1_epi64((long long)0x8000000000000000ull);
  return _mm512_castsi512_pd(
      _mm512_ternarylogic_epi64(sign, _mm512_castpd_si512(b), _mm512_castpd_si512(a), 0xca));
}
// The first `count` lanes, 1 ≤ count ≤ TB_WIDE; the memory of the others is not touched and they load as 0.
static inline __mmask8 tbw_first(int count) { return (__mmask8)(0xffu >> (8 - count)); }
static inline tbwd tbw_load_part(const double* p, int count)
{
  return _mm512_maskz_loadu_pd(tbw_first(count), p);
}
static inline void tbw_store_part(double* p, tbwd a, int count)
{
  _mm512_mask_storeu_pd(p, tbw_first(count), a);
}

#elif defined(TB_SIMD_AVX2)

#define TB_WIDE 4
typedef __m256d tbwd;
static inline tbwd tbw_set1(double x) { return _mm256_set1_pd(x); }
static inline tbwd tbw_load(const double* p) { return _mm256_loadu_pd(p); }
static inline void tbw_store(double* p, tbwd a) { _mm256_storeu_pd(p, a); }
static inline tbwd tbw_add(tbwd a, tbwd b) { return _mm256_add_pd(a, b); }
static inline tbwd tbw_sub(tbwd a, tbwd b) { return _mm256_sub_pd(a, b); }
static inline tbwd tbw_mul(tbwd a, tbwd b) { return _mm256_mul_pd(a, b); }
static inline tbwd tbw_div(tbwd a, tbwd b) { return _mm256_div_pd(a, b); }
static inline tbwd tbw_sqrt(tbwd a) { return _mm256_sqrt_pd(a); }
static inline tbwd tbw_abs(tbwd a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
static inline tbwd tbw_choose(tbwd a, tbwd b, tbwd x, tbwd y) { return tb4_choose(a, b, x, y); }
static inline int tbw_any_above(tbwd a, tbwd b)
{
  return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ)) != 0;
}
static inline tbwd tbw_copysign(tbwd a, tbwd b)
{
  return _mm256_or_pd(tbw_abs(a), _mm256_and_pd(_mm256_set1_pd(-0.0), b));
}
static inline __m256i tbw_first(int count)
{
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_set_epi64x(3, 2, 1, 0));
}
static inline tbwd tbw_load_part(const double* p, int count)
{
  return _mm256_maskload_pd(p, tbw_first(count));
}
static inline void tbw_store_part(double* p, tbwd a, int count)
{
  _mm256_maskstore_pd(p, tbw_first(count), a);
}

#elif defined(TB_SIMD_NEON)

#define TB_WIDE 2
typedef float64x2_t tbwd;
static inline tbwd tbw_set1(double x) { return vdupq_n_f64(x); }
static inline tbwd tbw_load(const double* p) { return vld1q_f64(p); }
static inline void tbw_store(double* p, tbwd a) { vst1q_f64(p, a); }
static inline tbwd tbw_add(tbwd a, tbwd b) { return vaddq_f64(a, b); }
static inline tbwd tbw_sub(tbwd a, tbwd b) { return vsubq_f64(a, b); }
static inline tbwd tbw_mul(tbwd a, tbwd b) { return vmulq_f64(a, b); }
static inline tbwd tbw_div(tbwd a, tbwd b) { return vdivq_f64(a, b); }
static inline tbwd tbw_sqrt(tbwd a) { return vsqrtq_f64(a); }
static inline tbwd tbw_abs(tbwd a) { return vabsq_f64(a); }
static inline tbwd tbw_choose(tbwd a, tbwd b, tbwd x, tbwd y) { return vbslq_f64(vcgtq_f64(a, b), x, y); }
static inline int tbw_any_above(tbwd a, tbwd b)
{
  uint64x2_t above = vcgtq_f64(a, b);
  return (vgetq_lane_u64(above, 0) | vgetq_lane_u64(above, 1)) != 0;
}
static inline tbwd tbw_copysign(tbwd a, tbwd b) { return vbslq_f64(vdupq_n_u64(0x8000000000000000u), b, a); }
static inline tbwd tbw_load_part(const double* p, int count)
{
  return count == 2 ? vld1q_f64(p) : vsetq_lane_f64(*p, vdupq_n_f64(0), 0);
}
static inline void tbw_store_part(double* p, tbwd a, int count)
{
  if (count == 2) vst1q_f64(p, a);
  else *p = vgetq_lane_f64(a, 0);
}

#elif defined(TB_SIMD_WASM)

#define TB_WIDE 2
typedef v128_t tbwd;
static inline tbwd tbw_set1(double x) { return wasm_f64x2_splat(x); }
static inline tbwd tbw_load(const double* p) { return wasm_v128_load(p); }
static inline void tbw_store(double* p, tbwd a) { wasm_v128_store(p, a); }
static inline tbwd tbw_add(tbwd a, tbwd b) { return wasm_f64x2_add(a, b); }
static inline tbwd tbw_sub(tbwd a, tbwd b) { return wasm_f64x2_sub(a, b); }
static inline tbwd tbw_mul(tbwd a, tbwd b) { return wasm_f64x2_mul(a, b); }
static inline tbwd tbw_div(tbwd a, tbwd b) { return wasm_f64x2_div(a, b); }
static inline tbwd tbw_sqrt(tbwd a) { return wasm_f64x2_sqrt(a); }
static inline tbwd tbw_abs(tbwd a) { return wasm_f64x2_abs(a); }
static inline tbwd tbw_choose(tbwd a, tbwd b, tbwd x, tbwd y)
{
  return wasm_v128_bitselect(x, y, wasm_f64x2_gt(a, b));
}
static inline int tbw_any_above(tbwd a, tbwd b) { return wasm_v128_any_true(wasm_f64x2_gt(a, b)); }
static inline tbwd tbw_copysign(tbwd a, tbwd b) { return wasm_v128_bitselect(b, a, wasm_f64x2_splat(-0.0)); }
static inline tbwd tbw_load_part(const double* p, int count)
{
  return count == 2 ? wasm_v128_load(p) : wasm_f64x2_make(*p, 0);
}
static inline void tbw_store_part(double* p, tbwd a, int count)
{
  if (count == 2) wasm_v128_store(p, a);
  else *p = wasm_f64x2_extract_lane(a, 0);
}

#else

#define TB_WIDE 1
typedef double tbwd;
static inline tbwd tbw_set1(double x) { return x; }
static inline tbwd tbw_load(const double* p) { return *p; }
static inline void tbw_store(double* p, tbwd a) { *p = a; }
static inline tbwd tbw_add(tbwd a, tbwd b) { return a + b; }
static inline tbwd tbw_sub(tbwd a, tbwd b) { return a - b; }
static inline tbwd tbw_mul(tbwd a, tbwd b) { return a * b; }
static inline tbwd tbw_div(tbwd a, tbwd b) { return a / b; }
static inline tbwd tbw_sqrt(tbwd a) { return sqrt(a); }
static inline tbwd tbw_abs(tbwd a) { return fabs(a); }
static inline tbwd tbw_choose(tbwd a, tbwd b, tbwd x, tbwd y) { return a > b ? x : y; }
static inline int tbw_any_above(tbwd a, tbwd b) { return a > b; }
static inline tbwd tbw_copysign(tbwd a, tbwd b) { return copysign(a, b); }
static inline tbwd tbw_load_part(const double* p, int count) { return (void)count, *p; }
static inline void tbw_store_part(double* p, tbwd a, int count) { (void)count, *p = a; }

#endif
// a[k] ≤ b[k] for all of six floats; false where one is NaN.
#if defined(TB_SIMD_AVX2) || defined(TB_SIMD_SSE2)
static inline int tb6f_at_most(const float* a, const float* b)
{
  __m128 first = _mm_cmple_ps(_mm_loadu_ps(a), _mm_loadu_ps(b));
  return _mm_movemask_ps(_mm_and_ps(first, _mm_cmple_ps(_mm_loadu_ps(a + 2), _mm_loadu_ps(b + 2)))) == 15;
}
#elif defined(TB_SIMD_NEON)
static inline int tb6f_at_most(const float* a, const float* b)
{
  uint32x4_t first = vcleq_f32(vld1q_f32(a), vld1q_f32(b));
  return vminvq_u32(vandq_u32(first, vcleq_f32(vld1q_f32(a + 2), vld1q_f32(b + 2)))) != 0;
}
#elif defined(TB_SIMD_WASM)
static inline int tb6f_at_most(const float* a, const float* b)
{
  v128_t first = wasm_f32x4_le(wasm_v128_load(a), wasm_v128_load(b));
  return wasm_i32x4_all_true(
      wasm_v128_and(first, wasm_f32x4_le(wasm_v128_load(a + 2), wasm_v128_load(b + 2))));
}
#else
static inline int tb6f_at_most(const float* a, const float* b)
{
  int all = 1;
  for (int k = 0; k < 6; k++) all &= a[k] <= b[k];
  return all;
}
#endif

#endif
