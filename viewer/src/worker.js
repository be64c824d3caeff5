// SPDX-License-Identifier: Apache-2.0
// The engine on a thread of its own. Messages are { id, call, args }; answers { id, value } or { id, error }. A call
// that takes too long is ended by ending the worker, so nothing here needs to be interruptible.
import { Engine, CONTACT as IN } from './engine.js';
import { CONTACT, PHASES, SCALAR, SCALARS } from './model.js';

let engine = null;

function model() {
  const { scene } = engine;
  const bodies = scene.bodies.map((body) => ({
    name: body.name,
    kind: body.kind,
    mass: body.mass,
    nodeCount: body.nodes || 0,
    modes: body.modes || 0,
    triangles: body.triangles || null,
    shapes: (body.shapes || []).map((shape) =>
      shape.mesh === undefined
        ? shape
        : {
            ...shape,
            vertices: scene.meshes[shape.mesh].positions,
            triangles: scene.meshes[shape.mesh].indices,
          },
    ),
  }));
  return { name: scene.name, time: scene.time, gravity: scene.gravity, dt: engine.options.dt, bodies, joints: scene.joints };
}

function contacts() {
  const data = engine.contacts,
    count = engine.contactCount,
    dt = engine.options.dt;
  const out = new Float32Array(CONTACT.stride * count);
  for (let i = 0; i < count; i++) {
    const from = i * IN.STRIDE,
      to = i * CONTACT.stride;
    out[to + CONTACT.a] = data[from + IN.A];
    out[to + CONTACT.b] = data[from + IN.B];
    for (let k = 0; k < 3; k++) {
      out[to + CONTACT.position + k] = data[from + IN.POSITION + k];
      out[to + CONTACT.normal + k] = data[from + IN.NORMAL + k];
      out[to + CONTACT.force + k] = data[from + IN.IMPULSE + k] / dt;
    }
    out[to + CONTACT.gap] = data[from + IN.GAP];
    out[to + CONTACT.state] = data[from + IN.STATE];
    out[to + CONTACT.speed] = data[from + IN.SPEED];
    out[to + CONTACT.residual] = data[from + IN.RESIDUAL];
  }
  return out;
}

let watched = -1; // the contact whose friction set frames show

function frame() {
  const report = engine.report,
    scalars = new Float64Array(SCALARS.length);
  for (const name of SCALARS) if (report[name] !== undefined) scalars[SCALAR[name]] = report[name];
  for (const name of PHASES) scalars[SCALAR[name]] = report.phases[name];
  if (!report.step) for (const name of ['kinetic', 'potential', 'elastic']) scalars[SCALAR[name]] = NaN; // not known before a step
  return {
    step: report.step,
    time: report.time,
    poses: Float32Array.from(engine.poses),
    nodes: engine.nodes.length ? Float32Array.from(engine.nodes) : null,
    contacts: contacts(),
    set: watched >= 0 ? engine.frictionSet(watched) : null,
    scalars,
    used: report.used,
    outcome: report.outcome,
  };
}

const buffersOf = (frames) =>
  frames.flatMap((f) => [f.poses.buffer, f.contacts.buffer, f.scalars.buffer, ...(f.nodes ? [f.nodes.buffer] : [])]);
const opened = () => ({ model: model(), frame: frame(), options: { ...engine.options } });

// The solves of a live step end after so many seconds with the best so far, unless the scene has a budget of its
// own: a hard step then says by how much it misses its tolerance, and the picture goes on.
const LIVE_BUDGET_S = 0.1;
const keepPace = () => engine.options.budget_s > 0 || engine.set({ budget_s: LIVE_BUDGET_S });

const calls = {
  async load(source) {
    engine = await Engine.load(source);
    return engine.tables;
  },
  sceneText: (name, values) => engine.sceneText(name, values),
  open(text, options) {
    watched = -1;
    engine.open(text, options);
    keepPace();
    return opened();
  },
  reset() {
    engine.reset();
    return opened();
  },
  addFile: (path, bytes) => engine.addFile(path, bytes),
  // Up to `count` steps, fewer when `budget` milliseconds are over.
  step(count, budget) {
    const frames = [],
      end = performance.now() + budget;
    do {
      engine.step();
      frames.push(frame());
    } while (frames.length < count && performance.now() < end);
    return { frames, holding: engine.holding };
  },
  // As many steps as fit, for a picture of a scene in action: { model, frame }.
  preview(text, steps, budget) {
    engine.open(text);
    keepPace();
    const first = frame(),
      end = performance.now() + budget;
    for (let i = 0; i < steps && performance.now() < end; i++) engine.step();
    return { model: model(), first, frame: frame() };
  },
  set(options) {
    engine.set(options);
    return { ...engine.options };
  },
  setFriction: (options) => engine.setFriction(options),
  setMassRatio: (body, ratio) => engine.setMassRatio(body, ratio),
  setMode(body, mode, share) {
    engine.setMode(body, mode, share);
    return frame();
  },
  hold: (body, point, target) => engine.hold(body, point, target),
  moveHold: (target) => engine.moveHold(target),
  release: () => engine.release(),
  // The friction set of this contact from now on, and as it is: { edge, velocity }, or null.
  watch(contact) {
    watched = contact;
    return contact >= 0 ? engine.frictionSet(contact) : null;
  },
  hash: () => engine.hash(),
  freeze() {
    const problem = engine.freeze();
    return { problem, text: engine.problemText() };
  },
  openProblem: (text, name) => engine.openProblem(text, name),
  problemText: () => engine.problemText(),
  solve: (solver, options) => engine.solve(solver, options),
};

self.onmessage = async ({ data: { id, call, args } }) => {
  try {
    const value = await calls[call](...args);
    self.postMessage({ id, value }, value?.frames ? buffersOf(value.frames) : []);
  } catch (error) {
    const { message, line, column, status } = error;
    self.postMessage({ id, error: { message, line, column, status } });
  }
};
