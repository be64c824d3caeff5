// SPDX-License-Identifier: Apache-2.0
// Energy, residual, iterations, contacts and time per step, against time; a line marks now, and pointing seeks.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { h } from './dom.js';
import { number } from './format.js';
import { PHASES, SCALAR } from './model.js';
import { css } from './theme.js';

const clampLog = (values) => Array.from(values, (x) => (x > 1e-17 && Number.isFinite(x) ? x : null));
const known = (x) => (Number.isFinite(x) ? x : null);
const column = (values, name) => Array.from(values[SCALAR[name]], known);

function total(values, names) {
  const out = Array.from(values[SCALAR[names[0]]]);
  for (const name of names.slice(1))
    values[SCALAR[name]].forEach((x, i) => {
      out[i] += x;
    });
  return out.map(known);
}

// What each plot draws: titles, lines (one without a name is what the title says), and how to take them from the series.
const kinds = [
  {
    title: 'energy',
    unit: 'J',
    lines: ['', 'kinetic', 'potential', 'elastic'],
    colors: ['--text-2', '--c1', '--c2', '--c3'],
    data: (v) => {
      const zero = v[SCALAR.potential].find(Number.isFinite) ?? 0; // from where it started
      const from = (x) => (x === null ? null : x - zero);
      return [
        total(v, ['kinetic', 'potential', 'elastic']).map(from),
        column(v, 'kinetic'),
        column(v, 'potential').map(from),
        column(v, 'elastic'),
      ];
    },
  },
  {
    title: 'residual',
    unit: 'm/s',
    log: true,
    lines: ['residual'],
    colors: ['--c4'],
    data: (v) => [clampLog(v[SCALAR.residual_velocity])],
  },
  {
    title: 'residual, relative',
    unit: '',
    log: true,
    lines: ['residual'],
    colors: ['--c4'],
    data: (v) => [clampLog(v[SCALAR.residual])],
  },
  {
    title: 'iterations',
    unit: '',
    zero: true,
    lines: ['iterations'],
    colors: ['--c1'],
    data: (v) => [column(v, 'iterations')],
  },
  {
    title: 'contacts',
    unit: '',
    zero: true,
    lines: ['contacts'],
    colors: ['--c2'],
    data: (v) => [column(v, 'contacts')],
  },
  {
    title: 'step time',
    unit: 'ms',
    zero: true,
    lines: ['', 'solve', 'collide'],
    colors: ['--text-2', '--c1', '--c3'],
    data: (v) => [total(v, PHASES), column(v, 'solve'), column(v, 'collide')],
  },
];

// On a logarithmic axis only the powers of ten, and not too many.
const tens = (u, splits) => {
  const powers = splits.filter(isTen),
    skip = Math.ceil(powers.length / 4);
  return splits.map((x) => (isTen(x) && Math.round(Math.log10(x)) % skip === 0 ? x : null));
};
const isTen = (x) => Math.abs(Math.log10(x) - Math.round(Math.log10(x))) < 1e-9;

const short = (x) => {
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) return x.toExponential(0).replace('e+', 'e').replace('-', '−');
  if (size >= 1e4) return `${+(x / 1000).toPrecision(3)}k`.replace('-', '−');
  return `${+x.toPrecision(3)}`.replace('-', '−');
};

export class Plots {
  constructor(onseek) {
    this.onseek = onseek;
    this.element = h('div.plots');
    this.plots = [];
    this.now = 0;
    this.shown = null;
  }

  build() {
    for (const { plot, watch } of this.plots) {
      watch.disconnect();
      plot.destroy();
    }
    this.element.replaceChildren();
    this.plots = kinds.map((kind) => this.#build(kind));
    if (this.shown) this.update(this.shown);
  }

  #build(kind) {
    const value = h('span.plot-value');
    const keys =
      kind.lines.length > 1
        ? h(
            'span.plot-keys',
            null,
            kind.lines.map((line, i) => line && h('span', { style: { color: css(kind.colors[i]) } }, line)),
          )
        : null;
    const host = h('div.plot-host');
    const box = h(
      'figure.plot',
      null,
      h('figcaption', null, h('span.plot-title', null, kind.title), keys || '', value),
      host,
    );
    this.element.append(box);
    const only = kind.log ? { filter: tens } : {};
    const grid = { stroke: css('--line'), width: 1, ...only },
      font = `10px ${css('--font')}`;
    const plot = new uPlot(
      {
        width: Math.max(host.clientWidth, 120),
        height: Math.max(host.clientHeight, 60),
        legend: { show: false },
        padding: [6, 6, 0, 0],
        cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
        scales: {
          x: { time: false },
          y: kind.log ? { distr: 3 } : { range: (u, low, high) => spread(low, high, kind.zero, u.floor) },
        },
        axes: [
          {
            stroke: css('--text-3'),
            grid: { show: false },
            ticks: { show: false },
            size: 18,
            gap: 2,
            font,
            space: 60,
            values: (_, ticks) => ticks.map(short),
          },
          {
            stroke: css('--text-3'),
            grid,
            ticks: { show: false },
            size: 38,
            gap: 3,
            font,
            space: 26,
            ...only,
            values: (_, ticks) => ticks.map((t) => (t === null ? '' : short(t))),
          },
        ],
        series: [
          {},
          ...kind.lines.map((_, i) => ({
            stroke: css(kind.colors[i]),
            width: 1.4,
            points: { show: false },
            spanGaps: false,
          })),
        ],
        hooks: { draw: [(u) => this.#mark(u)] },
      },
      [[0], ...kind.lines.map(() => [null])],
      host,
    );
    this.#seeking(plot);
    const watch = new ResizeObserver(() =>
      plot.setSize({ width: Math.max(host.clientWidth, 60), height: Math.max(host.clientHeight, 40) }),
    );
    watch.observe(host);
    return { kind, plot, value, watch };
  }

  #mark(u) {
    const x = u.valToPos(this.now, 'x', true),
      { left, top, width, height } = u.bbox;
    if (x < left || x > left + width) return;
    u.ctx.save();
    u.ctx.strokeStyle = css('--accent');
    u.ctx.lineWidth = 1.5 * devicePixelRatio;
    u.ctx.beginPath();
    u.ctx.moveTo(x, top);
    u.ctx.lineTo(x, top + height);
    u.ctx.stroke();
    u.ctx.restore();
  }

  #seeking(plot) {
    const at = (event) => this.onseek(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x'));
    plot.over.addEventListener('pointerdown', (event) => {
      plot.over.setPointerCapture(event.pointerId);
      at(event);
    });
    plot.over.addEventListener('pointermove', (event) => {
      if (event.buttons) at(event);
    });
  }

  // series: { times, values } of a source.
  update(series) {
    this.shown = series;
    const times = Array.from(series.times);
    const potential = series.values[SCALAR.potential].find(Number.isFinite) ?? 0;
    for (const { kind, plot } of this.plots) {
      plot.floor = kind.title === 'energy' ? 1e-5 * Math.abs(potential) : 0; // less than this of it is nothing to magnify
      plot.setData([times, ...kind.data(series.values)]);
    }
  }

  // Moves the line, and shows the numbers of a frame.
  mark(time, frame) {
    if (time === this.now && !frame) return;
    this.now = time;
    for (const { kind, plot, value } of this.plots) {
      plot.redraw(false, false);
      const at =
        kind.title === 'step time'
          ? PHASES.reduce((sum, name) => sum + frame.scalars[SCALAR[name]], 0)
          : kind.title === 'energy'
            ? frame.scalars[SCALAR.kinetic] + frame.scalars[SCALAR.potential] + (frame.scalars[SCALAR.elastic] || 0)
            : frame.scalars[SCALAR[kind.title]];
      value.textContent = `${number(at, 3)}${kind.unit && Number.isFinite(at) ? ` ${kind.unit}` : ''}`;
    }
  }
}

function spread(low, high, zero, floor = 0) {
  if (low === null || low === undefined || (zero && high === 0)) return [0, 1];
  const from = zero ? 0 : low,
    width = Math.max(high - from, 1e-12 + 1e-6 * Math.abs(high), floor);
  return [zero ? 0 : from - 0.06 * width, high + 0.08 * width];
}
