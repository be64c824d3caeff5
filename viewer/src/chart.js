// SPDX-License-Identifier: Apache-2.0
// A chart of several lines, logarithmic upwards and, unless told otherwise, sideways, as SVG: sharp on paper too.

const NS = 'http://www.w3.org/2000/svg';
// Nine that keep apart in every common kind of colour vision, with dashes from the second round on.
const LINES = ['#0072b2', '#e06c00', '#009e73', '#cc79a7', '#56b4e9', '#b8860b', '#7b5cc4', '#d62f4b', '#6b7280'];
export const lineColor = (i) => LINES[i % LINES.length];
const dashes = ['', '6 3', '2 3'];

const make = (tag, attributes, text) => {
  const element = document.createElementNS(NS, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
};

const power = (e) => `10${[...String(e)].map((c) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[c] ?? '⁻').join('')}`;

// Round numbers from 0 to x.
function even(x) {
  const rough = x / 5,
    ten = 10 ** Math.floor(Math.log10(rough)),
    step = [1, 2, 5, 10].find((k) => k * ten >= rough) * ten;
  return Array.from({ length: Math.floor(x / step + 1e-9) + 1 }, (_, i) => [
    i * step,
    String(Number((i * step).toPrecision(6))),
  ]);
}

function range(lines, key) {
  let low = Infinity,
    high = -Infinity;
  for (const line of lines)
    for (const x of line[key])
      if (x > 0 && Number.isFinite(x)) {
        low = Math.min(low, x);
        high = Math.max(high, x);
      }
  return low > high ? [1e-1, 1] : [low, high];
}

// lines: [{ name, x, y, color }]; options: { xLabel, yLabel, goal (a horizontal mark), width, height }.
export function chart(lines, { xLabel, yLabel, goal, linearX, width = 520, height = 300 }) {
  const left = 46,
    right = 14,
    top = 12,
    bottom = 36;
  const svg = make('svg', {
    viewBox: `0 0 ${width} ${height}`,
    class: 'chart',
    role: 'img',
    'aria-label': `${yLabel} against ${xLabel}`,
  });
  const [x0, x1] = range(lines, 'x'),
    [yLow, yHigh] = range(lines, 'y');
  const y0 = 10 ** Math.floor(Math.log10(Math.max(Math.min(yLow, goal || yLow), 1e-17))),
    y1 = 10 ** Math.ceil(Math.log10(yHigh * 1.01));
  const scale = linearX ? (x) => x : Math.log10;
  const logs = [linearX ? 0 : scale(x0), scale(linearX ? x1 : Math.max(x1, x0 * 1.5)), Math.log10(y0), Math.log10(y1)];
  const X = (x) => left + ((scale(x) - logs[0]) / (logs[1] - logs[0])) * (width - left - right);
  const Y = (y) =>
    top + (1 - (Math.log10(Math.max(y, 1e-17)) - logs[2]) / (logs[3] - logs[2])) * (height - top - bottom);
  const decades = (low, high, most) => {
    const first = Math.ceil(low - 1e-9),
      last = Math.floor(high + 1e-9),
      by = Math.max(1, Math.ceil((last - first) / most));
    return Array.from({ length: Math.max(0, Math.floor((last - first) / by) + 1) }, (_, i) => first + i * by);
  };
  for (const e of decades(logs[2], logs[3], 8)) {
    const y = Y(10 ** e);
    svg.append(
      make('line', { x1: left, x2: width - right, y1: y, y2: y, class: 'grid' }),
      make('text', { x: left - 7, y: y + 4, class: 'tick', 'text-anchor': 'end' }, power(e)),
    );
  }
  for (const [at, name] of linearX ? even(x1) : decades(logs[0], logs[1], 7).map((e) => [10 ** e, power(e)])) {
    const x = X(at);
    svg.append(
      make('line', { x1: x, x2: x, y1: top, y2: height - bottom, class: 'grid' }),
      make('text', { x, y: height - bottom + 16, class: 'tick', 'text-anchor': 'middle' }, name),
    );
  }
  if (goal) svg.append(make('line', { x1: left, x2: width - right, y1: Y(goal), y2: Y(goal), class: 'goal' }));
  lines.forEach((line, i) => svg.append(curve(line, i, X, Y)));
  svg.append(
    make('text', { x: (left + width - right) / 2, y: height - 5, class: 'label', 'text-anchor': 'middle' }, xLabel),
    make('text', { x: left, y: top - 2, class: 'label' }, yLabel),
  );
  return svg;
}

function curve(line, i, X, Y) {
  let d = '',
    last = null;
  for (let k = 0; k < line.x.length; k++) {
    if (!(line.x[k] > 0) || !(line.y[k] > 0) || !Number.isFinite(line.y[k])) continue;
    const x = X(line.x[k]),
      y = Y(line.y[k]);
    if (last && Math.abs(x - last[0]) < 0.3 && Math.abs(y - last[1]) < 0.3) continue; // finer than a pixel
    d += `${d ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
    last = [x, y];
  }
  const group = make('g', { class: 'curve', 'data-name': line.name, style: `color: ${line.color}` });
  group.append(
    make('path', {
      d,
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': 2,
      'stroke-linejoin': 'round',
      'stroke-dasharray': dashes[Math.floor(i / LINES.length) % 3],
    }),
    make('title', {}, line.name),
  );
  if (last) group.append(make('circle', { cx: last[0], cy: last[1], r: 3.5, fill: 'currentColor' }));
  return group;
}
