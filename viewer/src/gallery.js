// SPDX-License-Identifier: Apache-2.0
// The first page: every scene with a picture of it, drawn by the page itself while one looks.
import { h, icon } from './dom.js';
import { Client } from './client.js';
import { HEIGHT, Photographer, WIDTH, still, tease } from './photographer.js';
import { onTheme, themeName } from './theme.js';

// How many steps a scene runs before its picture is taken: enough to be in action.
const MOMENT = {
  dominoes: 130,
  billiards: 60,
  funnel: 90,
  cradle: 40,
  seesaw: 45,
  gripper: 450,
  'grooved-gripper': 450,
  tyres: 80,
  hopper: 90,
  springboard: 140,
  press: 40,
  mangle: 45,
  'squeeze-out': 40,
  arm: 700,
  quadruped: 360,
  chain: 45,
  jam: 60,
  junkyard: 60,
  gears: 20,
  conveyor: 60,
  top: 30,
  'tippe-top': 30,
  door: 60,
  painleve: 25,
  'incline-set': 60,
  wall: 2,
  'wrecking-ball': 40,
  'chain-links': 30,
};

export class Gallery {
  // app: { tables, replays: [{ name, title, about, open() }], openScene(name), openReplay(replay), openFile(file) }
  constructor(app) {
    this.app = app;
    this.cards = new Map();
    const drop = h(
      'label.card.drop',
      { tabIndex: 0 },
      h('div.card-picture', null, icon('file')),
      h(
        'div.card-text',
        null,
        h('h3', null, 'Your own'),
        h('p', null, 'Drop a scene, a replay or a contact problem anywhere on the page, or choose a file.'),
      ),
      h('input', {
        type: 'file',
        hidden: true,
        onchange: (event) => event.target.files[0] && app.openFile(event.target.files[0]),
      }),
    );
    const replays = app.replays.length
      ? [
          h('h2.gallery-heading', null, 'Recorded runs'),
          h(
            'div.cards',
            null,
            app.replays.map((replay) => this.#replayCard(replay)),
          ),
        ]
      : [];
    const scenes = app.tables
      ? [
          h('h2.gallery-heading', null, 'Live'),
          h(
            'div.cards',
            null,
            app.tables.gallery.map((scene) =>
              this.#card(scene.name, scene.name.replace(/-/g, ' '), scene.summary, () => app.openScene(scene.name)),
            ),
            drop,
          ),
        ]
      : [
          h(
            'p.hint.gallery-heading',
            null,
            'This page was built without the engine: it replays runs, and simulates none.',
          ),
          h('div.cards', null, drop),
        ];
    this.element = h(
      'section.gallery',
      null,
      h(
        'div.hero',
        null,
        h('h1', null, 'Contact and friction, ', h('em', null, 'solved and judged')),
        h(
          'p',
          null,
          'Rigid bodies, solids and cloth in one scene. Two dozen contact solvers on the same problem. One residual that no solver computes for itself.',
          app.tables ? ' All of it runs here, in this page.' : '',
        ),
      ),
      ...replays,
      ...scenes,
    );
    onTheme(() => this.#again());
  }

  #card(key, title, about, open, kind) {
    const canvas = h('canvas', { width: WIDTH, height: HEIGHT });
    this.cards.set(key, canvas);
    return h(
      'button.card',
      { type: 'button', onclick: open, dataset: { scene: key } },
      h('div.card-picture', null, canvas, kind ? h('span.tag', null, kind) : null),
      h('div.card-text', null, h('h3', null, title), h('p', null, about)),
    );
  }

  // A replay plays while one points at it.
  #replayCard(replay) {
    const key = `replay:${replay.name}`,
      card = this.#card(key, replay.title, replay.about, null, 'replay');
    let rest = null;
    const stop = () => {
      rest?.();
      rest = null;
    };
    card.onpointerenter = async ({ pointerType }) => {
      if (pointerType !== 'mouse' || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
      const source = await replay.open();
      if (card.matches(':hover') && !rest) rest = tease(replay, source, this.cards.get(key));
    };
    card.onpointerleave = card.onclick = stop;
    card.addEventListener('click', () => this.app.openReplay(replay));
    return card;
  }

  #again() {
    this.drawn = null;
    if (this.visible) this.show();
  }

  // Pictures are taken one after the other, and not while another page is open.
  async show() {
    this.visible = true;
    if (this.drawn === themeName() || this.drawing) return;
    this.drawing = true;
    const wanted = themeName(),
      photographer = new Photographer();
    let client = null;
    try {
      for (const replay of this.app.replays) {
        const source = await replay.open(),
          canvas = this.cards.get(`replay:${replay.name}`);
        photographer.take({ model: source.model, first: source.frame(0), frame: still(replay, source) }, canvas);
        canvas.classList.add('taken');
      }
      if (this.app.tables) client = await Client.start();
      for (const { name } of this.app.tables?.gallery ?? []) {
        if (!this.visible || themeName() !== wanted) return;
        await this.#picture(client, photographer, name);
      }
      this.drawn = wanted;
    } finally {
      this.drawing = false;
      client?.stop();
      photographer.dispose();
      if (this.visible && themeName() !== wanted) this.show();
    }
  }

  async #picture(client, photographer, name) {
    const canvas = this.cards.get(name);
    try {
      const text = await client.call('sceneText', name, {});
      photographer.take(await client.call('preview', text, MOMENT[name] ?? 0, 400), canvas);
      canvas.classList.add('taken');
    } catch {
      canvas.classList.add('missing'); // a card without a picture still opens
    }
  }

  hide() {
    this.visible = false;
  }
}
