// SPDX-License-Identifier: Apache-2.0
// One contact problem under many solvers, one after the other on one thread so that their clocks are fair; then the
// race is run again on the screen, all at once, at a pace that eyes can follow.
import { Cancelled, Client } from './client.js';
import { chart, lineColor } from './chart.js';
import { Chips, FAVOURITES } from './chips.js';
import { download } from './bytes.js';
import { field, h, icon, replace, slider } from './dom.js';
import { number, seconds } from './format.js';
import { MODELS } from './methods.js';

const REPLAY_S = 5;

export class ProblemRace {
  // frozen: { problem, text, title, file }
  constructor(tables, frozen) {
    this.frozen = frozen;
    this.options = { tolerance: 1e-8, max_iterations: 2000, time_budget_s: 2 };
    this.models = new Map(
      frozen.problem.solvers.map((s) => [s.name, MODELS.find((model) => s.models[model] === null)]),
    );
    const why = new Map(frozen.problem.solvers.map((s) => [s.name, s.models.cone]));
    this.chips = new Chips(tables.solvers, FAVOURITES, (name) =>
      this.models.get(name) ? null : (why.get(name) ?? 'not for this problem'),
    );
    this.lanes = h('div.lanes');
    this.charts = h('div.charts');
    this.table = h('div.table-wrap');
    this.progress = h('progress', { max: 1, value: 0, hidden: true });
    this.status = h('span.hint');
    this.start = h('button.primary', { type: 'button', onclick: () => this.run() }, icon('flag'), 'Race');
    this.cancel = h('button', { type: 'button', hidden: true, onclick: () => this.stop() }, 'Cancel');
    this.element = h(
      'div.race-problem',
      null,
      this.#facts(),
      h(
        'div.race-setup',
        null,
        this.chips.element,
        this.#settings(),
        h('div.buttons-row', null, this.start, this.cancel, this.progress, this.status),
      ),
      this.lanes,
      this.charts,
      this.table,
    );
    this.#empty();
  }

  #facts() {
    const { problem, title, file, text } = this.frozen;
    return h(
      'div.facts',
      null,
      h('h2', null, title),
      h(
        'p.hint',
        null,
        `${problem.contacts} contacts, ${problem.rows} rows, ${problem.dofs} degrees of freedom; laws: ${problem.laws.join(', ')}`,
      ),
      h(
        'button',
        {
          type: 'button',
          title: 'a file that `tribo solve` and `tribo compare` read',
          onclick: () => download(file, text),
        },
        icon('download'),
        file,
      ),
    );
  }

  #settings() {
    const { options } = this,
      log = (min, max, key, whole) =>
        slider({
          min,
          max,
          scale: 'log',
          value: options[key],
          digits: 2,
          oninput: (x) => {
            options[key] = whole ? Math.round(x) : x;
          },
        });
    return h(
      'div.settings',
      null,
      field('tolerance', log(1e-14, 1e-2, 'tolerance')),
      field('iterations', log(10, 1e5, 'max_iterations', true)),
      field('seconds each', log(0.1, 30, 'time_budget_s')),
    );
  }

  #empty() {
    replace(
      this.lanes,
      h(
        'p.hint.invite',
        null,
        'Choose solvers and start: every iterate is judged by the same residual, whatever the solver thinks of itself.',
      ),
    );
  }

  async run() {
    const names = [...this.chips.chosen];
    if (!names.length || this.client) return;
    this.results = [];
    this.#busy(true);
    this.cancelled = false;
    try {
      this.client = await Client.start();
      if (this.cancelled) throw new Cancelled(); // before there was anything to stop
      await this.client.call('openProblem', this.frozen.text, this.frozen.file);
      for (const [i, name] of names.entries()) {
        this.progress.value = i / names.length;
        this.status.textContent = `${name}, ${i + 1} of ${names.length}`;
        this.results.push(await this.#one(name, lineColor(i)));
        this.#draw();
      }
      this.status.textContent = '';
      this.replayFrom = performance.now();
    } catch (error) {
      this.status.textContent = error instanceof Cancelled ? 'Cancelled.' : error.message;
    } finally {
      this.client?.stop();
      this.client = null;
      this.#busy(false);
    }
  }

  async #one(name, color) {
    const model = this.models.get(name);
    try {
      return {
        name,
        color,
        model,
        ...(await this.client.call('solve', name, { ...this.options, model, warm: false })),
      };
    } catch (error) {
      if (error instanceof Cancelled) throw error;
      return { name, color, refused: error.message };
    }
  }

  stop() {
    this.cancelled = true;
    this.client?.stop();
  }

  #busy(on) {
    this.start.disabled = on;
    this.cancel.hidden = this.progress.hidden = !on;
  }

  #draw() {
    const done = this.results.filter((r) => !r.refused);
    const line = (r, x) => ({ name: r.name, color: r.color, x, y: r.trace.residual });
    const goal = this.options.tolerance;
    const soon = Math.min(...done.map((r) => r.trace.time.find((t) => t > 0) ?? 1)) / 2; // where 0 stands on this axis
    replace(
      this.charts,
      this.#figure(
        'iterations',
        chart(
          done.map((r) =>
            line(
              r,
              Array.from(r.trace.iteration, (k) => k + 1),
            ),
          ),
          { xLabel: 'iteration', yLabel: 'residual', goal },
        ),
      ),
      this.#figure(
        'time',
        chart(
          done.map((r) =>
            line(
              r,
              Array.from(r.trace.time, (t) => Math.max(t, soon)),
            ),
          ),
          { xLabel: 'time, s', yLabel: 'residual', goal },
        ),
      ),
    );
    this.#standings();
    this.#lanes();
  }

  #figure(name, svg) {
    return h('figure.card-figure', null, svg, h('figcaption', null, `residual against ${name}`));
  }

  #standings() {
    const order = [...this.results].sort((a, b) => rank(a, this.options.tolerance) - rank(b, this.options.tolerance));
    const cells = (r) =>
      r.refused
        ? [h('td', { colSpan: 6 }, r.refused)]
        : [
            h('td', null, r.outcome.replace('_', ' ')),
            h('td.num', null, number(r.residual, 2)),
            h('td.num', null, `${number(r.residual_velocity, 2)} m/s`),
            h('td.num', null, String(r.iterations)),
            h('td.num', null, seconds(r.time_s)),
            h('td.num', null, seconds(r.setup_s)),
          ];
    replace(
      this.table,
      h(
        'table.standings',
        null,
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            ['', 'solver', 'friction', 'outcome', 'residual', 'in m/s', 'iterations', 'time', 'set-up'].map((t, i) =>
              h(i > 3 ? 'th.num' : 'th', null, t),
            ),
          ),
        ),
        h(
          'tbody',
          null,
          order.map((r, i) =>
            h(
              'tr',
              { dataset: { solver: r.name } },
              h('td.num', null, String(i + 1)),
              h(
                'td',
                null,
                h('span.swatch', { style: { background: r.color } }),
                r.name,
                r.used && r.used !== r.name ? h('span.hint', null, ` by ${r.used}`) : null,
              ),
              h('td', null, r.model),
              cells(r),
            ),
          ),
        ),
      ),
    );
  }

  // Lanes: how many of the orders of magnitude to the goal have been won, at each moment of the race.
  #lanes() {
    const done = this.results.filter((r) => !r.refused);
    this.fronts = done.map((r) => {
      const bar = h('div.lane-bar', { style: { background: r.color } }),
        label = h('span.lane-value');
      return {
        r,
        bar,
        label,
        row: h('div.lane', null, h('span.lane-name', null, r.name), h('div.lane-track', null, bar), label),
      };
    });
    this.worst = Math.max(...done.map((r) => r.trace.residual[0] || 0), this.options.tolerance * 10);
    replace(
      this.lanes,
      this.fronts.map((f) => f.row),
      h(
        'button.lane-again',
        {
          type: 'button',
          onclick: () => {
            this.replayFrom = performance.now();
          },
        },
        icon('reset'),
        'again',
      ),
    );
    this.#place(1);
  }

  #place(share) {
    const end = Math.max(...this.fronts.map(({ r }) => r.time_s), 1e-6),
      start = Math.max(1e-6, end * 1e-3);
    const now = share >= 1 ? Infinity : start * (end / start) ** share; // the clock runs in powers of ten
    const span = Math.log10(this.worst / this.options.tolerance);
    for (const { r, bar, label } of this.fronts) {
      let best = this.worst,
        k = 0;
      for (; k < r.trace.time.length && r.trace.time[k] <= now; k++) best = Math.min(best, r.trace.residual[k] || best);
      const won = Math.min(Math.max(Math.log10(this.worst / best) / span, 0), 1);
      bar.style.width = `${100 * won}%`;
      bar.classList.toggle('home', best <= this.options.tolerance);
      label.textContent = best <= this.options.tolerance ? seconds(r.time_s) : number(best, 2);
    }
  }

  tick() {
    if (!this.replayFrom || !this.fronts?.length) return;
    const share = (performance.now() - this.replayFrom) / 1000 / REPLAY_S;
    this.#place(share);
    if (share >= 1) this.replayFrom = 0;
  }
}

// The converged by their time, then the others by how far they came.
function rank(r, tolerance) {
  if (r.refused) return 1e12;
  return r.outcome === 'converged' ? r.time_s : 1e6 + Math.log10(Math.max(r.residual, tolerance));
}
