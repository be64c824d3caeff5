// SPDX-License-Identifier: Apache-2.0
// Numbers for people.

const superscripts = { '-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹' };

// Three significant digits, powers of ten where they are shorter, a true minus sign.
export function number(x, digits = 3) {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : '−∞';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size < 1e-3 || size >= 1e5) {
    const [mantissa, exponent] = x.toExponential(Math.max(digits - 2, 0)).split('e');
    return `${mantissa.replace('-', '−')}·10${[...String(Number(exponent))].map((c) => superscripts[c]).join('')}`;
  }
  return String(Number(x.toPrecision(digits))).replace('-', '−');
}

export const vector = (values, digits = 3) => values.map((x) => fixed(x, digits)).join('  ');

// As many decimals always, so that digits do not jump.
export const fixed = (x, decimals) =>
  Number.isFinite(x) ? x.toFixed(decimals).replace(/^-(?=[0.]*$)/, '').replace('-', '−') : '–';

export function seconds(s) {
  if (s < 1e-3) return `${number(s * 1e6, 3)} µs`;
  if (s < 1) return `${number(s * 1e3, 3)} ms`;
  return `${number(s, 3)} s`;
}

// A residual beside the tolerance it is held against, "2·10⁻⁵ ≤ 10⁻⁴ m/s"; alone where none is asked.
export function held(value, tolerance, unit = '') {
  const plain = (x, digits) => number(x, digits).replace(/\.?0+(?=·)/, '').replace(/^1·/, '');
  let digits = 2; // more where two different numbers would read the same
  while (digits < 8 && value !== tolerance && plain(value, digits) === plain(tolerance, digits)) digits++;
  const short = (x) => plain(x, digits);
  const against = tolerance > 0 ? ` ${value <= tolerance ? '≤' : '>'} ${short(tolerance)}` : '';
  return `${short(value)}${against}${unit && ` ${unit}`}`;
}
