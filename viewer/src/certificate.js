// SPDX-License-Identifier: Apache-2.0
// The judge's word on a step, against the tolerances the step was held to: the residual in m/s, and the relative one
// where that is asked, or where an old replay knows no other.
import { held } from './format.js';
import { SCALAR } from './model.js';

// A step without a number was not judged: it is not good either.
// tolerances: { velocity_tolerance, tolerance }; 0: not asked.
export function certificate(scalars, { velocity_tolerance = 0, tolerance = 0 }) {
  const velocity = scalars[SCALAR.residual_velocity],
    relative = scalars[SCALAR.residual],
    known = !Number.isNaN(velocity),
    words = [];
  if (!known && Number.isNaN(relative)) return { good: false, judged: false, text: 'not judged' };
  if (known) words.push(held(velocity, velocity_tolerance, 'm/s'));
  if (!known || tolerance > 0) words.push(held(relative, tolerance));
  const misses = (value, limit) => limit > 0 && !(value <= limit);
  const missed = (known && misses(velocity, velocity_tolerance)) || misses(relative, tolerance);
  return { good: !missed, judged: true, text: words.join(', ') };
}
