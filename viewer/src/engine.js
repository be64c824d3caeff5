// SPDX-License-Identifier: Apache-2.0
// Tribo in JavaScript: the C library, compiled to wasm, behind one class. No dependencies; runs in a page (also
// from file://), in a Web Worker and in node.
//
//   import { Engine } from './engine.js'
//   const engine = await Engine.load(source)      a URL to fetch; base64 text; bytes; a WebAssembly.Module. Bytes may be
//                                                 gzipped, behind base64 or not: the wasm is then a third as large
//   engine.open(engine.sceneText('arch', { stones: 15 }))
//   engine.step()
//   engine.poses                                  where the bodies are
//
// One Engine is one world, one frozen problem and one block of memory; make several for several. Everything is
// synchronous but `load`. What the library refuses throws a TriboError (status, message and, for texts, line and
// column), and leaves everything as it was: after a bad `open` the last good world goes on.
//
// What there is, from the library's own tables
//
//   tables          {version, simd, solvers: [{name, summary, reference, models, laws, takes: {law: [model]}, fits: {scheme: {exact,
//                   modelled, refused: [law]}}, form, products, sets, metric, maxRows}],
//                   schemes: [{name, summary, reference, laws, impactLaws, deforms}], laws: [{name, summary}],
//                   models, orders, stabilizations, rFactors, preconditioners, inverses, outcomes: [name],
//                   gallery: [{name, summary, parameters: [{name, summary, value, low, high, whole}]}]}
//                   A solver takes a problem if it takes all its laws under the model (`takes`); `solvers` of a problem says
//                   so. fits: of the laws that a scheme's steps bring up, what a solver takes as they stand, under another
//                   model of friction, or not at all
//   sceneText(name, values = {})     a scene of the gallery as JSON text; parameters not named keep their defaults
//
// A world
//
//   open(text, {keep = false, name = 'scene'})    from a scene file's text. keep: bodies that the old world has under
//                   the same name go on from where they are, and friction and masses asked for stay
//   addFile(path, bytes)     a mesh file that a scene names, before `open`
//   scene           {name, time, dt, gravity, bodies, joints, meshes} of the open world, made by `open`:
//                   bodies  [{name, kind, mass, shapes, firstNode, nodes, triangles}], kind: dynamic, fixed, kinematic,
//                           soft, cloth. shapes: [{type, position, orientation, …}] in the body's frame, with
//                           radius (sphere, capsule, cylinder), length (capsule: between the centres of its caps),
//                           size (box: full edges), normal and offset (plane: the solid is normal·x ≤ offset), or mesh
//                           (convex, mesh, sdf): an index into meshes. triangles: of deformable bodies, Uint32Array
//                           of indices counted from firstNode
//                   joints  [{type, a, b, anchor_a, anchor_b, axis, limits}], type: ball, hinge, slider, weld, distance;
//                           a, b: indices of bodies, −1: the world; anchors in the frames of their bodies, the axis (hinge
//                           and slider) in that of a; limits: [lower, upper], where there are any; null: none on that side
//                   meshes  [{positions: Float32Array, indices: Uint32Array}], triangles counter-clockwise from outside
//   options         {scheme, solver, model, dt, tolerance, max_iterations, …} as the next step will use them
//   set(options)    changes some of them, while it runs. A solver that does not know the model brings its own
//   setFriction({scale = 1, mu})     of every pair: the scene's own, scaled; or, with mu, that one everywhere
//   setMassRatio(body, ratio)        of the scene's own mass and inertia
//   setMode(body, mode, share)       of a reduced body: its shape along one of its `modes`, at rest; ±1 is a tenth of
//                   its size
//   setBody(body, {position, orientation, velocity, angularVelocity})     puts it there; what is not said stays
//   step(count = 1) returns `report`
//   reset()         opens the last good text again; options, friction and masses asked for stay
//   hash()          16 hexadecimal digits of the whole state: equal to `state_hash` of `tribo run --metrics`
//   hold(body, point, target = point)    pulls a point of a body (world coordinates, now) towards a target with a
//                   damped spring, until release(). moveHold(target) moves the target. holding: {body, point} or null,
//                   the point where it is now. Deformable bodies are held by their nearest node
//   release()
//
// What a frame reads: views into the engine's memory, good until the next call of anything that may allocate (open,
// step, freeze, solve): read the property again then. Nothing is allocated unless memory has grown.
//
//   poses           Float64Array, 7 per body: x y z, then the quaternion w x y z (three.js wants x y z w)
//   nodes           Float32Array, 3 per node of the deformable bodies, body after body
//   contacts        Float64Array, CONTACT.STRIDE per contact, contactCount of them. CONTACT.POSITION … say what is where
//   report          of the last step, the same object every time: {step, time, ms, outcome, used, iterations, contacts,
//                   residual, residual_velocity (m/s), residuals: {…}, penetration, rounds, trimmed, intersections, kinetic, potential, elastic,
//                   phases: {collide, assemble, solve, integrate, judge} in ms}
//
// A frozen problem
//
//   freeze()        takes the contact problem of the coming step; returns `problem`
//   openProblem(text, name)    reads one instead: JSON text, or the bytes of an FCLIB or LCP file; returns `problem`
//   problem         {name, contacts, rows, dofs, laws: [name], solvers: [{name, models: {cone: null or why not, …}}]}
//   problemText()   as a file that `tribo solve` reads
//   solve(solver, {model, tolerance, max_iterations, time_budget_s, order, directions, relaxation, warm = true})
//                   returns {solver, used, outcome, iterations, time_s, setup_s, residual, residual_velocity, residuals,
//                   trace: {iteration, time, residual: Float64Array}}: the judge's word after every iteration. Time
//                   counts the method's own work. Not converging is a result; what a method cannot take throws.
export class TriboError extends Error {
  // status: 1 argument, 2 input, 3 memory, 4 io, 5 numeric, 6 unsupported
  constructor(status, message) {
    super(message)
    this.name = 'TriboError'
    this.status = status
    const place = /^[^\n]*?:(\d+):(\d+): /.exec(message)
    if (place) {
      this.line = Number(place[1])
      this.column = Number(place[2])
    }
  }
}

export const CONTACT = {
  STRIDE: 17,
  POSITION: 0, // 3, m
  NORMAL: 3, // 3, unit, from body a to body b
  IMPULSE: 6, // 3, N·s, on b, world axes
  NORMAL_IMPULSE: 9,
  FRICTION_IMPULSE: 10, // its length
  GAP: 11, // m, before the step
  SPEED: 12, // m/s, of slip
  STATE: 13, // 0 open, 1 stick, 2 slip
  A: 14,
  B: 15,
  RESIDUAL: 16, // its part of the judge's: squares, with those of joints, add up to the square of report.residual
}

const PARAMETERS = 6 // of a scene of the gallery, at most

// Members of WebViews in viewer/wasm/web.h, four bytes each.
const [POSE, BODIES, NODE, NODES, CONTACTS_AT, CONTACTS, REPORT, USED, RESULT, SOLVE_USED] = Array(10).keys()
const EDGE = 14, EDGE_POINTS = 48
const [TRACE_ITERATION, TRACE_TIME, TRACE_RESIDUAL, TRACED] = [10, 11, 12, 13]

// ---- loading ----

function fromBase64(text) {
  if (typeof Buffer !== 'undefined') return Buffer.from(text, 'base64')
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}

// Base64 has neither dots nor colons, and wasm begins with a zero and "asm", gzip with 1f 8b.
async function bytesOf(source) {
  if (source instanceof URL || (typeof source === 'string' && /^[^\s]*[.:]/.test(source.slice(0, 1000)))) {
    const response = await fetch(source)
    if (!response.ok) throw new TriboError(4, `cannot fetch ${source}: ${response.status}`)
    source = await response.arrayBuffer()
  }
  const bytes = typeof source === 'string' ? fromBase64(source) : new Uint8Array(source.buffer ?? source, source.byteOffset ?? 0, source.byteLength)
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

// All that the module asks of its host: a clock, and to be heard when its memory moves.
function imports(engine) {
  const clock = (id, precision, at) => {
    const ns = BigInt(Math.round(id === 0 ? Date.now() * 1e6 : performance.now() * 1e6))
    new DataView(engine._memory.buffer).setBigUint64(at, ns, true)
    return 0
  }
  return {
    wasi_snapshot_preview1: { clock_time_get: clock },
    env: { emscripten_notify_memory_growth() {} },
  }
}

export class Engine {
  static async load(source) {
    const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(await bytesOf(source))
    const engine = new Engine()
    const instance = await WebAssembly.instantiate(module, imports(engine))
    engine._start(instance.exports)
    return engine
  }

  _start(c) {
    this._c = c
    this._memory = c.memory
    this._encoder = new TextEncoder()
    this._decoder = new TextDecoder()
    this._names = new Map() // of the library, by their place in memory
    c._initialize()
    this._viewsAt = c.web_views()
    this._i32 = this._f64 = this._u8 = null
    this._poses = this._nodes = this._contacts = null
    this._holding = { body: -1, point: [0, 0, 0] }
    this.tables = this._json(c.web_tables())
    this.scene = null
    this.options = null
    this.problem = null
    this.report = {
      step: 0, time: 0, ms: 0, outcome: 'converged', used: '', iterations: 0, contacts: 0, residual: 0, residual_velocity: 0,
      residuals: { fclib: 0, naturalMap: 0, model: 0, absolute: 0, penetration: 0, cone: 0, complementarity: 0, dissipation: 0, velocity: 0, modelVelocity: 0 },
      penetration: 0, rounds: 0, trimmed: 0, intersections: 0, kinetic: 0, potential: 0, elastic: 0,
      phases: { collide: 0, assemble: 0, solve: 0, integrate: 0, judge: 0 },
    }
  }

  // ---- memory ----

  // Views of the whole memory, made anew only where it has grown.
  _fresh() {
    const buffer = this._memory.buffer
    if (this._u8 !== null && this._u8.buffer === buffer) return
    this._u8 = new Uint8Array(buffer)
    this._i32 = new Int32Array(buffer)
    this._f64 = new Float64Array(buffer)
  }

  _view(member) {
    this._fresh()
    return this._i32[(this._viewsAt >> 2) + member]
  }

  // The array at a place, the old one if it is still the same.
  _array(old, type, at, length) {
    const buffer = this._memory.buffer
    if (old !== null && old.buffer === buffer && old.byteOffset === at && old.length === length) return old
    return new type(buffer, at, length)
  }

  _copy(type, at, length) {
    return length ? new type(this._memory.buffer, at, length).slice() : new type(0)
  }

  _text(at) {
    this._fresh()
    return this._decoder.decode(this._u8.subarray(at, this._u8.indexOf(0, at)))
  }

  _name(at) {
    if (at === 0) return ''
    if (!this._names.has(at)) this._names.set(at, this._text(at))
    return this._names.get(at)
  }

  // Pieces one after the other, texts with a zero behind them, where the next call looks. Returns the length.
  _put(...pieces) {
    const parts = pieces.map((p) => (typeof p === 'string' ? this._encoder.encode(p) : p))
    const ends = pieces.map((p, i) => (typeof p === 'string' && i < pieces.length - 1 ? 1 : 0))
    let length = 0
    parts.forEach((p, i) => (length += p.length + ends[i]))
    let at = this._c.web_in(length)
    if (at === 0) throw new TriboError(3, 'out of memory: ' + length + ' bytes')
    this._fresh()
    parts.forEach((p, i) => {
      this._u8.set(p, at)
      at += p.length
      if (ends[i]) this._u8[at++] = 0
    })
    return length
  }

  _putNumbers(numbers) {
    const at = this._c.web_in(8 * numbers.length)
    if (at === 0) throw new TriboError(3, 'out of memory')
    this._fresh()
    this._f64.set(numbers, at >> 3)
  }

  _try(status) {
    if (status !== 0) throw new TriboError(status, this._text(this._c.web_error()))
  }

  _made(status) {
    this._try(status)
    this._fresh()
    const at = this._c.web_out()
    return this._decoder.decode(this._u8.subarray(at, at + this._c.web_out_length()))
  }

  _json(status) {
    return JSON.parse(this._made(status))
  }

  // ---- worlds ----

  sceneText(name, values = {}) {
    const index = this.tables.gallery.findIndex((s) => s.name === name)
    if (index < 0) throw new TriboError(1, `the gallery has no scene "${name}"`)
    const { parameters } = this.tables.gallery[index]
    const unknown = Object.keys(values).find((key) => !parameters.some((p) => p.name === key))
    if (unknown) throw new TriboError(1, `${name} has no parameter "${unknown}"; it has ${parameters.map((p) => p.name).join(', ')}`)
    const numbers = Array(PARAMETERS).fill(0)
    parameters.forEach((p, i) => (numbers[i] = values[p.name] ?? p.value))
    this._putNumbers(numbers)
    return this._made(this._c.web_gallery(index))
  }

  addFile(path, bytes) {
    this._try(this._c.web_file(this._put(path, new Uint8Array(bytes))))
  }

  open(text, { keep = false, name = 'scene' } = {}) {
    const length = this._put(name, this._encoder.encode(text))
    this._try(this._c.web_open(length, keep ? 1 : 0))
    this._opened()
  }

  reset() {
    this._try(this._c.web_reset())
    this._opened()
  }

  _opened() {
    const scene = this._json(this._c.web_scene())
    scene.meshes = scene.meshes.map((m) => this._mesh(m))
    for (const body of scene.bodies) {
      body.triangles = this._copy(Uint32Array, body.triangle, 3 * body.triangles)
      delete body.triangle
    }
    this.scene = scene
    this._names.clear()
    this._readReport()
    this._readOptions()
  }

  // A mesh of the library, its faces cut into fans.
  _mesh(m) {
    this._fresh()
    const positions = Float32Array.from(this._f64.subarray(m.vertex >> 3, (m.vertex >> 3) + 3 * m.vertices))
    if (m.triangles !== undefined) return { positions, indices: this._copy(Uint32Array, m.triangle, 3 * m.triangles) }
    const first = this._i32.subarray(m.face >> 2, (m.face >> 2) + m.faces + 1)
    const corner = this._i32.subarray(m.corner >> 2, (m.corner >> 2) + first[m.faces])
    const indices = []
    for (let f = 0; f < m.faces; f++)
      for (let i = first[f] + 1; i + 1 < first[f + 1]; i++) indices.push(corner[first[f]], corner[i], corner[i + 1])
    return { positions, indices: Uint32Array.from(indices) }
  }

  _readOptions() {
    this.options = this._json(this._c.web_options())
  }

  set(options) {
    try {
      // the solver first: it may bring a model, which one asked for by name then replaces
      const keys = Object.keys(options).sort((a, b) => (b === 'solver') - (a === 'solver'))
      for (const key of keys) {
        const value = options[key]
        if (typeof value === 'string') {
          this._put(key, value + '\0')
          this._try(this._c.web_set_name())
        } else {
          this._put(key + '\0')
          this._try(this._c.web_set_number(Number(value)))
        }
      }
    } finally {
      if (this.scene) this._readOptions()
    }
  }

  setFriction({ scale = 1, mu } = {}) {
    this._try(this._c.web_friction(scale, mu ?? -1))
  }

  setMassRatio(body, ratio) {
    this._try(this._c.web_mass(body, ratio))
  }

  setMode(body, mode, share) {
    this._try(this._c.web_mode(body, mode, share))
  }

  setBody(body, { position, orientation, velocity, angularVelocity }) {
    const part = (values, count) => values ?? Array(count).fill(NaN)
    this._putNumbers([...part(position, 3), ...part(orientation, 4), ...part(velocity, 3), ...part(angularVelocity, 3)])
    this._try(this._c.web_place(body))
  }

  step(count = 1) {
    const status = this._c.web_step(count)
    this._readReport()
    this._try(status)
    return this.report
  }

  hash() {
    return this._made(this._c.web_hash())
  }

  _readReport() {
    const r = this.report
    let at = this._view(REPORT) >> 3
    const f = this._f64
    r.step = f[at++], r.time = f[at++], r.ms = f[at++]
    r.outcome = this.tables.outcomes[f[at++]], r.iterations = f[at++], r.contacts = f[at++]
    at = this._readResiduals(r.residuals, at)
    const cone = this.options?.model === 'cone'
    r.residual = cone ? r.residuals.fclib : r.residuals.model
    r.residual_velocity = cone ? r.residuals.velocity : r.residuals.modelVelocity
    r.penetration = f[at++], r.rounds = f[at++], r.trimmed = f[at++], r.intersections = f[at++]
    r.kinetic = f[at++], r.potential = f[at++], r.elastic = f[at++]
    const p = r.phases
    p.collide = f[at++], p.assemble = f[at++], p.solve = f[at++], p.integrate = f[at++], p.judge = f[at++]
    r.used = this._name(this._view(USED))
  }

  _readResiduals(r, at) {
    const f = this._f64
    r.fclib = f[at++], r.naturalMap = f[at++], r.model = f[at++], r.absolute = f[at++]
    r.penetration = f[at++], r.cone = f[at++], r.complementarity = f[at++], r.dissipation = f[at++]
    r.velocity = f[at++], r.modelVelocity = f[at++]
    return at
  }

  // ---- what a frame reads ----

  get poses() {
    return (this._poses = this._array(this._poses, Float64Array, this._view(POSE), 7 * this._view(BODIES)))
  }

  get nodes() {
    return (this._nodes = this._array(this._nodes, Float32Array, this._view(NODE), 3 * this._view(NODES)))
  }

  get contacts() {
    const length = CONTACT.STRIDE * this._view(CONTACTS)
    return (this._contacts = this._array(this._contacts, Float64Array, this._view(CONTACTS_AT), length))
  }

  // The friction set of contact i: null, or {edge, velocity}: points around its edge per newton of normal force, and
  // the velocity that slides there; world axes, on body b.
  frictionSet(i) {
    if (!this._c.web_friction_set(i)) return null
    const data = Array.from(this._copy(Float64Array, this._view(EDGE), 3 * EDGE_POINTS + 3))
    return { edge: data.slice(0, 3 * EDGE_POINTS), velocity: data.slice(3 * EDGE_POINTS) }
  }

  get contactCount() {
    return this._view(CONTACTS)
  }

  // ---- holding ----

  hold(body, point, target = point) {
    this._try(this._c.web_hold(body, ...point, ...target))
  }

  moveHold(target) {
    this._c.web_hold_move(...target)
  }

  release() {
    this._c.web_release()
  }

  get holding() {
    const body = this._c.web_held()
    if (body < 0) return null
    const at = this._c.web_held_at() >> 3
    this._fresh()
    this._holding.body = body
    for (let i = 0; i < 3; i++) this._holding.point[i] = this._f64[at + i]
    return this._holding
  }

  // ---- frozen problems ----

  freeze() {
    this._try(this._c.web_freeze())
    return (this.problem = this._json(this._c.web_problem()))
  }

  openProblem(text, name = 'problem') {
    const bytes = typeof text === 'string' ? this._encoder.encode(text) : new Uint8Array(text)
    this._try(this._c.web_problem_open(this._put(name, bytes)))
    return (this.problem = this._json(this._c.web_problem()))
  }

  problemText() {
    return this._made(this._c.web_problem_text())
  }

  solve(solver, options = {}) {
    const o = { tolerance: 1e-8, max_iterations: 10000, time_budget_s: 0, order: 'given', directions: 8, relaxation: 0, warm: true, ...options }
    const known = this.tables.solvers.find((s) => s.name === solver)
    const model = this._index('models', o.model ?? known?.models[0] ?? 'cone')
    const order = this._index('orders', o.order)
    this._put(solver + '\0')
    this._try(this._c.web_solve(model, o.tolerance, o.max_iterations, o.time_budget_s, order, o.directions, o.relaxation, o.warm ? 1 : 0))
    return this._result(solver, this.tables.models[model])
  }

  _index(table, name) {
    const index = this.tables[table].indexOf(name)
    if (index < 0) throw new TriboError(1, `"${name}" is none of ${this.tables[table].join(', ')}`)
    return index
  }

  _result(solver, model) {
    let at = this._view(RESULT) >> 3
    const f = this._f64
    const r = { solver, model, used: this._name(this._view(SOLVE_USED)), outcome: this.tables.outcomes[f[at++]] }
    r.iterations = f[at++], r.time_s = f[at++], r.setup_s = f[at++]
    r.residuals = {}
    this._readResiduals(r.residuals, at)
    r.residual = model === 'cone' ? r.residuals.fclib : r.residuals.model
    r.residual_velocity = model === 'cone' ? r.residuals.velocity : r.residuals.modelVelocity
    const count = this._view(TRACED)
    r.trace = {
      iteration: this._copy(Float64Array, this._view(TRACE_ITERATION), count),
      time: this._copy(Float64Array, this._view(TRACE_TIME), count),
      residual: this._copy(Float64Array, this._view(TRACE_RESIDUAL), count),
    }
    return r
  }
}
