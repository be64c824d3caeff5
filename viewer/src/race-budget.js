// SPDX-License-Identifier: Apache-2.0
// One scene under several schemes with more and more iterations: what the judge says of their steps against what these
// cost. One run after the other on one thread, so that their clocks are fair.
import { Cancelled, Client } from './client.js';
import { Chips } from './chips.js';
import { chart, lineColor } from './chart.js';
import { field, h, icon, replace, select } from './dom.js';
import { number } from './format.js';
import { PHASES, SCALAR } from './model.js';

const BUDGETS = [2, 4, 8, 16, 32, 64],
  STEPS = 40;
const FAVOURITES = ['primal', 'xpbd', 'vbd', 'avbd', 'soft-step', 'semi-implicit', 'pd'];

const costOf = (s) => PHASES.reduce((sum, name) => sum + (name === 'judge' ? 0 : s[SCALAR[name]]), 0);
const mean = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;
// The mean of all but the tenth at either end. Browsers round their clocks to a tenth of a millisecond, more than some
// steps take: means do away with that, medians keep it.
const typical = (list) => {
  const cut = Math.floor(list.length / 10);
  return mean(list.sort((a, b) => a - b).slice(cut, list.length - cut));
};

export class BudgetRace {
  constructor(tables, name = 'cards') {
    this.name = tables.gallery.some((s) => s.name === name) ? name : tables.gallery[0].name;
    this.chips = new Chips(tables.schemes, FAVOURITES, () => null);
    this.charts = h('div.charts');
    this.table = h('div.table-wrap');
    this.progress = h('progress', { max: 1, value: 0, hidden: true });
    this.status = h('span.hint');
    this.start = h('button.primary', { type: 'button', onclick: () => this.run() }, icon('flag'), 'Measure');
    this.cancel = h('button', { type: 'button', hidden: true, onclick: () => this.stop() }, 'Cancel');
    const scenes = tables.gallery.map((s) => ({ value: s.name, label: s.name, title: s.summary }));
    const choose = select(scenes, this.name, (value) => (this.name = value));
    this.element = h(
      'div.race-budget',
      null,
      h(
        'p.hint',
        null,
        `Each scheme with ${BUDGETS[0]} to ${BUDGETS.at(-1)} iterations (soft-step: substeps; semi-implicit: of its ` +
          `solver): the judge's number over the second half of ${STEPS} steps, against the time of a step without the ` +
          'judge. Down and to the left is better; relaxed schemes end at what their stiffness leaves.',
      ),
      h(
        'div.race-setup',
        null,
        h('div.settings', null, field('scene', choose)),
        this.chips.element,
        h('div.buttons-row', null, this.start, this.cancel, this.progress, this.status),
      ),
      this.charts,
      this.table,
    );
  }

  async run() {
    const names = [...this.chips.chosen],
      scene = this.name;
    if (!names.length || this.client) return;
    this.lines = [];
    this.#busy(true);
    this.cancelled = false;
    try {
      this.client = await Client.start();
      if (this.cancelled) throw new Cancelled(); // before there was anything to stop
      const text = await this.client.call('sceneText', scene, {});
      for (const [i, name] of names.entries()) await this.#measure(text, name, i, names.length);
      this.status.textContent = this.lines
        .filter((line) => line.refused)
        .map((line) => line.refused)
        .join('; ');
    } catch (error) {
      this.status.textContent = error instanceof Cancelled ? 'Cancelled.' : error.message;
    } finally {
      this.client?.stop();
      this.client = null;
      this.#busy(false);
    }
  }

  async #measure(text, name, i, count) {
    const line = { name, color: lineColor(i), x: [], y: [] };
    this.lines.push(line);
    for (const [k, budget] of BUDGETS.entries()) {
      this.progress.value = (i + k / BUDGETS.length) / count;
      this.status.textContent = `${name}, ${budget} iterations`;
      try {
        const { ms, error } = await this.#one(text, name, budget);
        line.x.push(ms / 1e3);
        line.y.push(error);
      } catch (error) {
        if (error instanceof Cancelled) throw error;
        line.refused = error.message;
        break;
      }
      this.#draw();
    }
  }

  async #one(text, scheme, budget) {
    const options = { scheme, iterations: budget, max_iterations: budget, certify: 1, budget_s: 0 };
    if (scheme === 'soft-step') options.substeps = budget;
    await this.client.call('open', text, {});
    await this.client.call('set', options);
    const { frames } = await this.client.call('step', STEPS, 1e9);
    const last = frames.slice(STEPS / 2).map((f) => f.scalars);
    return { ms: typical(last.map(costOf)), error: mean(last.map((s) => s[SCALAR.residual_velocity])) };
  }

  #draw() {
    const shown = this.lines.filter((line) => line.x.length);
    const options = { xLabel: 'seconds per step', yLabel: 'judge, m/s', goal: 1e-5, width: 640, height: 380 };
    const caption = h('figcaption', null, 'which scheme for which budget');
    replace(this.charts, h('figure.card-figure', null, chart(shown, options), caption));
    const cell = (line, k) =>
      h('td', null, line.x[k] > 0 ? `${number(line.y[k], 2)} m/s, ${number(1e3 * line.x[k], 2)} ms` : '');
    const head = BUDGETS.map((n) => h('th', null, `${n} iterations`));
    const rows = shown.map((line) =>
      h(
        'tr',
        null,
        h('th', null, h('span.swatch', { style: { background: line.color } }), line.name),
        BUDGETS.map((_, k) => cell(line, k)),
      ),
    );
    replace(
      this.table,
      h('table', null, h('thead', null, h('tr', null, h('th', null, 'scheme'), head)), h('tbody', null, rows)),
    );
  }

  #busy(busy) {
    this.start.disabled = busy;
    this.cancel.hidden = this.progress.hidden = !busy;
  }

  stop() {
    this.cancelled = true;
    this.client?.stop();
  }

  tick() {}
}
