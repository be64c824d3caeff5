// SPDX-License-Identifier: Apache-2.0
// The race page: a frozen problem, a scene, its costs under several schemes, or a report of `tribo compare` that came with the page.
import { h, icon, replace } from './dom.js';
import { Client } from './client.js';
import { onTheme, themeName } from './theme.js';
import { ProblemRace } from './race-problem.js';
import { SceneRace } from './race-scene.js';
import { BudgetRace } from './race-budget.js';

// A report goes by the system's choice of dark or light; here it goes by the page's.
function dress(report) {
  for (const { cssRules } of report.styleSheets)
    for (const { media } of cssRules)
      if (media && (media.tribo ??= media.mediaText.includes('prefers-color-scheme')))
        media.mediaText = themeName() === 'dark' ? 'screen' : 'not all';
}

export class RacePage {
  // report: { title, open() } or null; tables: null in a page without the engine.
  constructor(tables, report) {
    this.tables = tables;
    this.report = report;
    this.body = h('div.race-body');
    const modes = [
      report && ['report', report.title],
      tables && ['problem', 'One contact problem'],
      tables && ['scene', 'A scene, side by side'],
      tables && ['budget', 'Which scheme for which budget'],
    ];
    this.modes = modes
      .filter(Boolean)
      .map(([mode, words]) =>
        h('button.tab', { type: 'button', role: 'tab', dataset: { mode }, onclick: () => this.open(mode) }, words),
      );
    this.element = h(
      'section.race',
      null,
      h('div.race-head', null, h('h1', null, 'Solver race'), h('div.tabs', { role: 'tablist' }, this.modes)),
      this.body,
    );
  }

  get current() {
    return { scene: this.scene, problem: this.problem, budget: this.budget }[this.mode];
  }

  async open(mode) {
    this.mode = mode;
    for (const tab of this.modes) tab.setAttribute('aria-selected', tab.dataset.mode === mode);
    if (mode === 'scene') {
      this.scene ??= new SceneRace(this.tables);
      replace(this.body, this.scene.element);
      if (!this.scene.lives.length) await this.scene.run();
      return;
    }
    this.scene?.player.setPlaying(false);
    if (mode === 'report') return this.#showReport();
    if (mode === 'budget') return void replace(this.body, (this.budget ??= new BudgetRace(this.tables)).element);
    if (this.problem) return void replace(this.body, this.problem.element);
    await this.#choose();
  }

  // The report is a page without scripts, with a style of its own: it gets a frame, as high as it is.
  async #showReport() {
    if (!this.frame) {
      const frame = h('iframe.report', { sandbox: 'allow-same-origin', title: this.report.title });
      const fit = () => {
        const page = frame.contentDocument?.documentElement;
        if (page) frame.style.height = `${page.getBoundingClientRect().height}px`;
      };
      frame.onload = () => {
        dress(frame.contentDocument);
        new ResizeObserver(fit).observe(frame.contentDocument.body);
      };
      frame.srcdoc = await this.report.open();
      onTheme(() => frame.contentDocument && dress(frame.contentDocument));
      this.frame = frame;
    }
    replace(this.body, this.frame);
  }

  setProblem(frozen) {
    this.problem?.stop();
    this.problem = new ProblemRace(this.tables, frozen);
    return this.open('problem').then(() => replace(this.body, this.problem.element));
  }

  // Without a problem from elsewhere, one is taken from a scene of the gallery.
  async #choose() {
    const take = (name, steps) =>
      h(
        'button',
        { type: 'button', dataset: { take: name }, onclick: () => this.#take(name, steps) },
        icon('snow'),
        `${name.replace(/-/g, ' ')}, step ${steps}`,
      );
    const known = [
      ['arch', 10],
      ['heavy-top', 10],
      ['pyramid', 20],
      ['cards', 10],
      ['wall', 10],
    ].filter(([name]) => this.tables.gallery.some((s) => s.name === name));
    this.waiting = h('p.hint');
    replace(
      this.body,
      h(
        'div.invite',
        null,
        h(
          'p',
          null,
          'Freeze a step of a live scene (its panel has a button), drop a problem file on this page, or take one of these:',
        ),
        h(
          'div.buttons-row',
          null,
          known.map(([name, steps]) => take(name, steps)),
        ),
        this.waiting,
      ),
    );
  }

  async #take(name, steps) {
    this.waiting.textContent = 'Simulating…';
    const client = await Client.start();
    try {
      await client.call('open', await client.call('sceneText', name, {}), {});
      await client.call('step', steps, 5000);
      await this.setProblem({
        ...(await client.call('freeze')),
        title: `${name}, step ${steps + 1}`,
        file: `${name}-step-${steps + 1}.json`,
      });
      this.problem.run();
    } catch (error) {
      this.waiting.textContent = error.message;
    } finally {
      client.stop();
    }
  }

  tick(elapsed) {
    this.current?.tick(elapsed);
  }

  hide() {
    this.scene?.player.setPlaying(false);
  }
}
