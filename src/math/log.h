#ifndef TB_MATH_LOG_H
#define TB_MATH_LOG_H

// The natural logarithm from correctly rounded operations alone, so that it has the same bits everywhere; the
// C library's own differs between machines. Within 2 units in the last place; −∞ at 0, NaN below.
double tb_logarithm(double x);

#endif
