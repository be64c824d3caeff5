// SPDX-License-Identifier: Apache-2.0
// One world on the screen, live or replayed: the view, the time line, the plots and the panel, and what joins them.
import { h } from './dom.js';
import { Controls } from './controls.js';
import { Editor } from './editor.js';
import { HEATS, Hud } from './hud.js';
import { Inspector } from './inspector.js';
import { Player } from './player.js';
import { Plots } from './plots.js';
import { Pointer } from './pointer.js';
import { Stage } from './stage.js';
import { Tether } from './tether.js';
import { Transport } from './transport.js';
import { View } from './view.js';
import { onTheme, theme } from './theme.js';

const narrow = () => window.matchMedia('(max-width: 820px)').matches;

export class Workbench {
  // app: { tables, openText(text), openParameters(name, values), race(problem) }
  constructor(app) {
    this.app = app;
    this.player = new Player();
    this.player.onchange = () => this.transport.update();
    this.transport = new Transport(this.player, { onreset: () => this.reset() });
    this.plots = new Plots((t) => {
      this.player.setPlaying(false);
      this.player.seekTime(t);
    });
    this.inspector = new Inspector();
    this.editor = new Editor((text, keep) => this.#edit(text, keep));
    this.controls = new Controls(app.tables, {
      parameters: (values) => this.#parameters(values),
      pose: (work) => this.#pose(work),
      freeze: () => this.#freeze(),
      saveProblem: () => this.#saveProblem(),
    });
    this.hud = new Hud({
      toggle: (name) => this.toggle(name),
      nextHeat: () => this.nextHeat(),
      frame: () => this.frameAll(),
      plots: () => this.togglePlots(),
      panel: () => this.togglePanel(),
      interrupt: () => this.#interrupt(),
    });
    this.#build();
    this.stage = new Stage();
    this.tether = new Tether();
    this.stage.scene.add(this.tether.group);
    this.view = new View(this.viewport, { left: 12, right: 66, above: 96, below: 30 }); // by tools, title and legend
    this.view.setStages([this.stage]);
    this.pointer = new Pointer(this.view, {
      stage: () => this.stage,
      canDrag: () => this.#atEnd(),
      onselect: (s) => this.select(s),
      ondrag: (...what) => this.#drag(...what),
    });
    this.selection = { body: -1, contact: -1 };
    onTheme((t) => {
      this.stage.setTheme(t);
      this.plots.build();
      this.view.invalidate();
    });
    this.hud.setLook(this.stage.look);
    this.transport.update();
  }

  #build() {
    this.viewport = h('div.viewport', null, this.hud.element);
    this.tabs = Object.fromEntries(
      ['run', 'inspect', 'edit'].map((name) => [
        name,
        h(
          'button.tab',
          { type: 'button', role: 'tab', onclick: () => this.openTab(name) },
          name[0].toUpperCase() + name.slice(1),
        ),
      ]),
    );
    this.pages = { run: this.controls.element, inspect: this.inspector.element, edit: this.editor.element };
    this.panelBody = h('div.panel-body', null, Object.values(this.pages));
    this.panel = h(
      'aside.panel',
      null,
      h(
        'div.tabs',
        { role: 'tablist' },
        Object.values(this.tabs),
        h('button.sheet-close', { type: 'button', 'aria-label': 'close', onclick: () => this.togglePanel(false) }, '×'),
      ),
      this.panelBody,
    );
    this.dock = h('div.dock', null, this.plots.element, this.transport.element);
    this.element = h('section.workbench', null, this.viewport, this.panel, this.dock);
    this.element.classList.toggle('no-plots', narrow());
    this.element.classList.toggle('no-panel', narrow());
    this.openTab('run', true);
  }

  openTab(name, quiet) {
    this.tab = name;
    for (const key of Object.keys(this.tabs)) {
      this.tabs[key].setAttribute('aria-selected', key === name);
      this.pages[key].hidden = key !== name;
    }
    if (!quiet) this.togglePanel(true);
    this.stale = true;
  }

  togglePanel(on = this.element.classList.contains('no-panel')) {
    this.element.classList.toggle('no-panel', !on);
  }

  togglePlots() {
    this.element.classList.toggle('no-plots');
  }

  // source: a Live or a Replay. info: { title, about, entry, values } where it is of the gallery.
  show(source, info, playing = true) {
    if (this.source?.live && this.source !== source) this.source.close();
    this.source = source;
    this.info = info;
    this.player.setSource(source, playing);
    this.#newModel(true);
    this.tabs.edit.hidden = !source.live;
    if (source.live) {
      this.controls.show(source, info.entry, info.values);
      this.editor.setText(source.text);
    } else {
      this.controls.showReplay(source);
      if (this.tab === 'edit') this.openTab('run', true);
    }
    this.hud.setTitle(info.title, info.about);
  }

  #newModel(reframe) {
    const { source } = this;
    this.selection = { body: -1, contact: -1 };
    this.stage.setModel(source.model, source.frame(source.first));
    this.shownModel = source.model;
    this.hud.setModel(source.model);
    if (reframe) this.frameAll();
    this.shownVersion = -1;
    this.stale = true;
  }

  frameAll() {
    if (this.stage.bounds) this.view.frame(this.stage.bounds);
  }

  #atEnd() {
    return this.source?.live && this.player.following;
  }

  // --- what keys and buttons do

  toggle(name) {
    this.#look({ [name]: !this.stage.look[name] });
  }

  nextHeat() {
    const known = HEATS.filter((name) => name !== 'residual' || this.source.residuals);
    this.#look({ heat: known[(known.indexOf(this.stage.look.heat) + 1) % known.length] });
  }

  #look(changes) {
    this.stage.setLook(changes);
    this.hud.setLook(this.stage.look);
    this.stale = true;
  }

  select(selection) {
    this.selection = selection;
    this.stage.select(selection.body, selection.contact);
    if (this.source.live)
      this.source.watch(selection.contact).then(() => {
        if (this.selection === selection) this.stage.select(selection.body, selection.contact);
        this.view.invalidate();
      });
    if (selection.body >= 0 && this.source.live) this.controls.chooseBody(selection.body);
    if ((selection.body >= 0 || selection.contact >= 0) && !narrow()) this.openTab('inspect');
    this.stale = true;
    this.view.invalidate();
  }

  async reset() {
    if (!this.source) return;
    if (this.source.live) {
      await this.source.reset();
      this.player.setSource(this.source, this.player.playing);
      this.#newModel(false);
    } else this.player.seek(this.source.first);
  }

  async #interrupt() {
    const { source } = this;
    this.player.setPlaying(false);
    await source.interrupt();
    if (source !== this.source) return;
    this.player.setSource(source, false);
    this.#newModel(false);
    this.controls.show(source, this.info.entry, this.info.values);
  }

  // Stops at the newest step, which work() changes.
  async #pose(work) {
    const { source, player } = this;
    player.setPlaying(false);
    while (source.busy) await new Promise((done) => setTimeout(done, 5));
    await work();
    if (source !== this.source) return;
    player.seek(source.last);
    this.stale = true;
    this.view.invalidate();
  }

  #drag(kind, ...args) {
    const { client } = this.source;
    if (kind === 'hold') {
      this.target = args[2];
      this.player.seek(this.source.last);
      this.player.setPlaying(true);
      client.call('hold', ...args);
      this.select({ body: args[0], contact: -1 });
    } else if (kind === 'move') {
      this.target = args[0];
      client.call('moveHold', args[0]);
    } else {
      this.target = null;
      this.source.holding = null;
      client.call('release');
    }
  }

  async #edit(text, keep) {
    const { source } = this;
    await source.replace(text, keep);
    if (source !== this.source) return;
    this.player.setSource(source, true);
    this.#newModel(!keep);
    this.info = { title: source.model.name || 'scene', about: '' };
    this.hud.setTitle(this.info.title, '');
    this.controls.show(source, null);
  }

  async #parameters(values) {
    const { source, info } = this;
    source.scene = { name: info.entry.name, values: { ...values } };
    const text = await source.client.call('sceneText', source.scene.name, source.scene.values);
    await source.replace(text, false);
    info.values = { ...values };
    this.editor.setText(text);
    this.player.setSource(source, true);
    this.#newModel(true);
  }

  async #freeze() {
    this.player.setPlaying(false);
    this.player.seek(this.source.last);
    const frozen = await this.source.client.call('freeze');
    await this.app.race(
      {
        ...frozen,
        title: `${this.info.title}, step ${this.source.newest.step + 1}`,
        file: this.#problemName(),
      },
      true,
    );
  }

  async #saveProblem() {
    const { text } = await this.source.client.call('freeze');
    this.app.download(this.#problemName(), text);
  }

  #problemName() {
    return `${(this.info.entry?.name || 'scene').replace(/[^\w-]+/g, '-')}-step-${this.source.newest.step + 1}.json`;
  }

  // --- every picture

  tick(elapsed) {
    const { player, source } = this;
    if (!source) return;
    const moved = player.tick(elapsed);
    if (source.model !== this.shownModel) this.#newModel(false);
    if (moved || this.stale || player.time !== this.shownTime) this.#draw();
    this.#drawTether();
    this.hud.wait(source.live ? source.waiting : 0, source.live ? source.newest.step + 1 : 0);
    this.#drawPlots(performance.now());
    if (source.error && source.error !== this.shownError) this.app.say(source.error.message);
    this.shownError = source.error;
    this.transport.tick();
    this.view.render();
  }

  #draw() {
    const { player, source, selection } = this;
    const [a, b, alpha] = player.now(),
      index = player.index;
    this.stage.show(a, b, alpha);
    this.hud.tick(a, source.live ? source.options : source.model, player, this.stage.heatTop);
    if (this.tab === 'inspect' && (this.stale || index !== this.shownIndex))
      this.inspector.show(source, index, selection);
    this.shownTime = player.time;
    this.shownIndex = index;
    this.stale = false;
    this.view.invalidate();
  }

  #drawTether() {
    const { source } = this;
    if (!this.target || !source.holding) return this.tether.hide();
    this.tether.show(source.holding.point, this.target, 0.6 * this.stage.bounds.unit, theme().accent);
    this.view.invalidate();
  }

  // Plots are dear: ten times a second will do.
  #drawPlots(now) {
    if (now < (this.nextPlots || 0) || this.element.classList.contains('no-plots')) return;
    const { player, source } = this,
      version = source.live ? source.version : 0;
    const fresh = version !== this.shownVersion,
      index = player.index;
    if (!fresh && index === this.plottedIndex) return;
    this.nextPlots = now + 100;
    if (fresh) this.plots.update(source.series());
    this.shownVersion = version;
    this.plottedIndex = index;
    this.plots.mark(player.time, source.frame(index));
  }
}
