// The race page: a frozen problem, or a scene.
import { h, icon, replace } from './dom.js';
import { Client } from './client.js';
import { ProblemRace } from './race-problem.js';
import { SceneRace } from './race-scene.js';

export class RacePage {
  constructor(tables) {
    this.tables = tables;
    this.body = h('div.race-body');
    this.modes = ['problem', 'scene'].map((mode) =>
      h(
        'button.tab',
        { type: 'button', role: 'tab', dataset: { mode }, onclick: () => this.open(mode) },
        mode === 'problem' ? 'One contact problem' : 'A scene, side by side',
      ),
    );
    this.element = h(
      'section.race',
      null,
      h('div.race-head', null, h('h1', null, 'Solver race'), h('div.tabs', { role: 'tablist' }, this.modes)),
      this.body,
    );
  }

  get current() {
    return this.mode === 'scene' ? this.scene : this.problem;
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
    if (this.problem) return void replace(this.body, this.problem.element);
    await this.#choose();
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
