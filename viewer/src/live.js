// SPDX-License-Identifier: Apache-2.0
// A world that is being simulated while one looks: an engine in a worker, and what it has done so far, kept so
// that one can go back. The oldest frames go when there are too many.
import { Cancelled, Client } from './client.js';
import { SCALARS } from './model.js';

const MAX_FRAMES = 6000,
  MAX_BYTES = 160e6,
  AHEAD = 4;

const weight = (frame) => 200 + frame.poses.byteLength + frame.contacts.byteLength + (frame.nodes?.byteLength || 0);

export class Live {
  constructor(client, text, { model, frame, options }, scene = null) {
    this.client = client;
    this.scene = scene; // { name, values } of the gallery, whose meshes an engine makes with its text
    this.text = text;
    this.model = model;
    this.options = options;
    this.live = true;
    this.residuals = true; // of contacts are known
    this.busy = false;
    this.error = null;
    this.friction = {};
    this.masses = new Map();
    this.onframes = () => {};
    this.#restart(frame);
  }

  static async open(client, text, scene = null) {
    return new Live(client, text, await client.call('open', text, { name: 'scene.json' }), scene);
  }

  // A scene of the gallery.
  static async openScene(client, name, values = {}) {
    return Live.open(client, await client.call('sceneText', name, values), { name, values });
  }

  #restart(frame) {
    this.frames = [frame];
    this.base = 0;
    this.bytes = weight(frame);
    this.version = (this.version || 0) + 1;
    this.epoch = (this.epoch || 0) + 1; // an answer to a question from before counts for nothing
  }

  get first() {
    return this.base;
  }
  get last() {
    return this.base + this.frames.length - 1;
  }
  frame(index) {
    return this.frames[index - this.base];
  }
  timeOf(index) {
    return this.frames[index - this.base].time;
  }
  get newest() {
    return this.frames[this.frames.length - 1];
  }

  indexAt(t) {
    let low = 0,
      high = this.frames.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.frames[middle].time <= t + 1e-9) low = middle;
      else high = middle - 1;
    }
    return this.base + low;
  }

  series() {
    const count = this.frames.length,
      times = new Float64Array(count),
      values = SCALARS.map(() => new Float64Array(count));
    this.frames.forEach((frame, i) => {
      times[i] = frame.time;
      for (let k = 0; k < SCALARS.length; k++) values[k][i] = frame.scalars[k];
    });
    return { times, values };
  }

  // Asks for the steps up to a time, one request at a time; what does not fit into the budget comes later.
  async pump(until, budget = 24) {
    const missing = Math.ceil((until - this.newest.time) / this.options.dt - 1e-9);
    if (missing > 0) await this.advance(Math.min(missing, 64), budget);
  }

  async advance(count, budget = 1e9) {
    if (this.busy || this.error) return;
    this.busy = true;
    this.busySince = performance.now();
    const epoch = this.epoch;
    try {
      const { frames, holding } = await this.client.call('step', count, budget);
      if (epoch === this.epoch) this.#append(frames);
      this.holding = holding;
    } catch (error) {
      if (!(error instanceof Cancelled)) this.error = error;
    } finally {
      this.busy = false;
    }
  }

  #append(frames) {
    for (const frame of frames) {
      this.frames.push(frame);
      this.bytes += weight(frame);
    }
    while (this.frames.length > MAX_FRAMES || this.bytes > MAX_BYTES) {
      const cut = Math.max(1, this.frames.length >> 4);
      for (const frame of this.frames.splice(0, cut)) this.bytes -= weight(frame);
      this.base += cut;
    }
    this.version++;
    this.onframes();
  }

  async set(options) {
    this.options = await this.client.call('set', options);
    this.error = null;
    return this.options;
  }

  setFriction(friction) {
    this.friction = friction;
    return this.client.call('setFriction', friction);
  }

  setMassRatio(body, ratio) {
    this.masses.set(body, ratio);
    return this.client.call('setMassRatio', body, ratio);
  }

  // The shape of a reduced body along one of its modes, in the newest frame.
  async setMode(body, mode, share) {
    const epoch = this.epoch,
      frame = await this.client.call('setMode', body, mode, share);
    if (epoch !== this.epoch) return;
    this.frames[this.frames.length - 1] = frame;
    this.version++;
    this.onframes();
  }

  // The friction set of a contact goes with the frames from now on. The engine is a few steps ahead of what is shown:
  // the last frames with as many contacts get the newest one's.
  async watch(contact) {
    const set = await this.client.call('watch', contact),
      count = this.newest.contacts.length;
    for (let i = this.frames.length - 1; i >= Math.max(0, this.frames.length - AHEAD); i--)
      if (this.frames[i].contacts.length === count) this.frames[i].set = set;
  }

  async reset() {
    this.#take(await this.client.call('reset'));
  }

  // A new text; when it is refused nothing changes and the error is the caller's.
  async replace(text, keep) {
    this.#take(await this.client.call('open', text, { keep, name: 'scene.json' }));
    this.text = text;
  }

  // Ends a step that takes too long, by ending the engine; a new one starts the scene again.
  async interrupt() {
    this.epoch++;
    this.client.stop();
    this.client = await Client.start();
    if (this.scene) await this.client.call('sceneText', this.scene.name, this.scene.values);
    this.#take(await this.client.call('open', this.text, { name: 'scene.json' }));
  }

  // Seconds that the present step has taken so far, when that is worth telling; else 0.
  get waiting() {
    const seconds = this.busy ? (performance.now() - this.busySince) / 1000 : 0;
    return seconds > 1.5 ? seconds : 0;
  }

  #take({ model, frame, options }) {
    this.model = model;
    this.options = options;
    this.error = null;
    this.#restart(frame);
  }

  close() {
    this.epoch++;
    this.client.stop();
  }
}

// A new engine with a world in it; started(client) is told of the engine as soon as there is one.
export async function openText(text, started) {
  const client = await Client.start();
  started(client);
  return Live.open(client, text);
}

export async function openScene(name, started) {
  const client = await Client.start();
  started(client);
  return Live.openScene(client, name);
}
