// SPDX-License-Identifier: Apache-2.0
// One scene under several solvers at once: a world each, side by side, in step and seen through one camera.
import { Client } from './client.js';
import { Live } from './live.js';
import { Chips } from './chips.js';
import { chart, lineColor } from './chart.js';
import { field, h, replace, select, slider } from './dom.js';
import { certificate } from './certificate.js';
import { number } from './format.js';
import { modelOf } from './methods.js';
import { PHASES, SCALAR } from './model.js';
import { Player } from './player.js';
import { Stage } from './stage.js';
import { Transport } from './transport.js';
import { View } from './view.js';
import { onTheme, theme } from './theme.js';

const MOST = 9;

// Several live worlds as one source: frame i is frame i of each.
class Together {
  constructor(lives) {
    this.lives = lives;
    this.live = true;
  }

  get options() {
    return this.lives[0].options;
  }
  get error() {
    return this.lives.find((l) => l.error)?.error ?? null;
  }
  get first() {
    return Math.max(...this.lives.map((l) => l.first));
  }
  get last() {
    return Math.min(...this.lives.map((l) => l.last));
  }
  timeOf(index) {
    return this.lives[0].timeOf(index);
  }
  indexAt(t) {
    return Math.min(Math.max(this.lives[0].indexAt(t), this.first), this.last);
  }
  frame(index) {
    const parts = this.lives.map((l) => l.frame(index));
    return { time: parts[0].time, step: parts[0].step, parts };
  }

  pump(until) {
    for (const l of this.lives) l.pump(Math.min(until, this.timeOf(this.last) + 4 * l.options.dt));
  }
  advance(count) {
    return Promise.all(this.lives.map((l) => l.advance(count)));
  }
}

export class SceneRace {
  constructor(tables, name = 'cards') {
    this.tables = tables;
    this.name = tables.gallery.some((s) => s.name === name) ? name : tables.gallery[0].name;
    this.options = { max_iterations: 30 };
    this.player = new Player();
    this.player.onchange = () => this.transport.update();
    this.transport = new Transport(this.player, { onreset: () => this.run() });
    this.chips = new Chips(
      tables.solvers,
      ['pgs', 'bgs', 'nncg', 'auto'],
      () => null,
      () => {
        this.chips.chosen.length = Math.min(this.chips.chosen.length, MOST);
        this.#later();
      },
    );
    this.labels = h('div.tiles');
    this.viewport = h('div.viewport.race-view', null, this.labels);
    this.chartHost = h('div.charts');
    this.status = h('span.hint');
    const budget = slider({
      min: 1,
      max: 2000,
      scale: 'log',
      value: this.options.max_iterations,
      digits: 2,
      oninput: (x) => {
        this.options.max_iterations = Math.round(x);
        this.#later();
      },
    });
    this.element = h(
      'div.race-scene',
      null,
      h(
        'div.race-setup',
        null,
        h(
          'div.settings',
          null,
          field(
            'scene',
            select(
              tables.gallery.map((s) => ({ value: s.name, label: s.name, title: s.summary })),
              this.name,
              (value) => {
                this.name = value;
                this.#later();
              },
            ),
          ),
          field('iterations', budget, 'at most, per step'),
          this.status,
        ),
        this.chips.element,
      ),
      this.viewport,
      this.transport.element,
      this.chartHost,
    );
    this.lives = [];
    this.stages = [];
    this.player.source = null;
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.run(), 300);
  }

  async run() {
    if (!this.view) {
      this.view = new View(this.viewport);
      this.view.onlayout = () => this.#label();
      onTheme((t) => {
        for (const stage of this.stages) stage.setTheme(t);
        this.view.invalidate();
      });
    }
    this.close();
    const turn = (this.turn = (this.turn || 0) + 1),
      names = [...this.chips.chosen];
    if (!names.length) return;
    this.status.textContent = 'Opening…';
    try {
      const lives = await Promise.all(names.map((name) => this.#open(name)));
      if (turn !== this.turn) return lives.forEach((l) => l.close());
      this.#begin(names, lives);
      this.status.textContent = '';
    } catch (error) {
      if (turn === this.turn) this.status.textContent = error.message;
    }
  }

  async #open(solver) {
    const client = await Client.start();
    const live = await Live.openScene(client, this.name);
    live.solver = solver;
    const model = modelOf(this.tables.solvers.find((s) => s.name === solver));
    await live.set({ solver, model, max_iterations: this.options.max_iterations });
    return live;
  }

  #begin(names, lives) {
    this.lives = lives;
    this.stages = lives.map((live) => {
      const stage = new Stage();
      stage.setTheme(theme());
      stage.setModel(live.model, live.newest);
      stage.setLook({ contacts: true, forces: false });
      return stage;
    });
    this.view.setStages(this.stages);
    this.view.frame(this.stages[0].bounds);
    this.counts = [];
    this.player.setSource(new Together(lives), true);
    this.#label();
  }

  #label() {
    if (!this.lives.length) return;
    const { columns, rows } = this.view.layout;
    this.labels.style.gridTemplate = `repeat(${rows}, 1fr) / repeat(${columns}, 1fr)`;
    this.values = this.lives.map(() => h('span.tile-value'));
    this.tallies = this.lives.map(() => h('span.tile-value.tally'));
    replace(
      this.labels,
      this.lives.map((live, i) =>
        h(
          'div.tile',
          null,
          h('span.tile-name', null, h('span.swatch', { style: { background: lineColor(i) } }), live.solver),
          this.values[i],
          this.tallies[i],
        ),
      ),
    );
  }

  tick(elapsed) {
    if (!this.lives.length) return;
    const moved = this.player.tick(elapsed);
    const stuck = this.lives.find((l) => l.error);
    if (stuck) this.status.textContent = stuck.error.message;
    if (moved || this.player.time !== this.shown) this.#draw();
    this.transport.tick();
    this.#drawChart(performance.now());
    this.view.render();
  }

  #draw() {
    const [a, b, alpha] = this.player.now();
    a.parts.forEach((part, i) => {
      this.stages[i].show(part, b?.parts[i], alpha);
      const s = part.scalars,
        ms = PHASES.reduce((sum, name) => sum + s[SCALAR[name]], 0),
        { text } = certificate(s, this.lives[i].options);
      this.values[i].textContent = s[SCALAR.contacts]
        ? `${text} · ${s[SCALAR.iterations]} it · ${number(ms, 2)} ms`
        : 'nothing touches';
      const { steps, missed } = this.#tally(i, part.step);
      this.tallies[i].textContent = missed ? `missed in ${missed} of ${steps} steps` : `met in all ${steps} steps`;
      this.tallies[i].classList.toggle('poor', missed > 0);
    });
    this.shown = this.player.time;
    this.view.invalidate();
  }

  // How many of the steps up to this one missed their tolerance: a step may be good because all has fallen already.
  #tally(i, step) {
    const live = this.lives[i],
      count = (this.counts[i] ??= { through: 0, missed: [0] }); // missed[k]: in the first k steps
    for (const f of live.frames) {
      if (f.step <= count.through) continue;
      const poor = f.scalars[SCALAR.contacts] > 0 && !certificate(f.scalars, live.options).good;
      count.missed[f.step] = (count.missed[count.through] ?? 0) + poor;
      count.through = f.step;
    }
    return { steps: step, missed: count.missed[step] ?? 0 };
  }

  #drawChart(now) {
    if (now < (this.nextChart || 0) || this.player.source.last === this.charted) return;
    this.nextChart = now + 500;
    this.charted = this.player.source.last;
    const line = (live, i, key) => ({
      name: live.solver,
      color: lineColor(i),
      x: live.frames.map((f) => f.time),
      y: live.frames.map(key),
    });
    const figure = (title, svg) => h('figure.card-figure', null, svg, h('figcaption', null, title));
    replace(
      this.chartHost,
      figure(
        'residual of each step',
        chart(
          this.lives.map((l, i) => line(l, i, (f) => f.scalars[SCALAR.residual_velocity] || NaN)),
          {
            xLabel: 'simulated time, s',
            yLabel: 'residual, m/s',
            linearX: true,
            goal: this.lives[0].options.velocity_tolerance,
          },
        ),
      ),
      figure(
        'milliseconds of each step',
        chart(
          this.lives.map((l, i) =>
            line(l, i, (f) => PHASES.reduce((sum, name) => sum + f.scalars[SCALAR[name]], 0) || NaN),
          ),
          { xLabel: 'simulated time, s', yLabel: 'ms', linearX: true },
        ),
      ),
    );
  }

  close() {
    for (const live of this.lives) live.close();
    for (const stage of this.stages) stage.dispose();
    this.lives = [];
    this.stages = [];
    this.view?.setStages([]);
  }
}
