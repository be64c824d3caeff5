#ifndef TB_MATH_LOG_H
#define TB_MATH_LOG_H

// The natural logarithm from correctly rounded operations alone, so that it has the same bits everywhere; the
// C library's own differs between machines. Within 2 units in the last place; −∞ at 0, NaN below.
double tb_logarithm(double x);

// x − 1 − log x ≥ 0, without the cancellation near 1, where it is ½ (x − 1)². For x > 0.
double tb_logarithm_gap(double x);

#endif
