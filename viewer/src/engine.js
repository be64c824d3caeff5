// Tribo in JavaScript: the C library, compiled to wasm, behind one class. No dependencies; runs in a page (also
// from file://), in a Web Worker and in node.
//
//   import { Engine } from './engine.js'
//   const engine = await Engine.load(source)      base64 text, bytes, a WebAssembly.Module, or a URL to fetch
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
//   tables          {version, simd, solvers: [{name, summary, reference, models, laws, form, sets, metric, maxRows}],
//                   schemes: [{name, summary, reference}], laws: [{name, summary}], models: [{name, summary}],
//                   orders, stabilizations, rFactors, preconditioners, inverses: [name],
//                   gallery: [{name, summary, parameters: [{name, summary, value, low, high, whole}]}]}
//                   A solver takes a problem if it takes all its laws and the model; `solvers` of a problem says so.
//   sceneText(name, values = {})     a scene of the gallery as JSON text; parameters not named keep their defaults
//
// A world
//
//   open(text, {keep = false, name = 'scene'})    from a scene file's text. keep: bodies that the old world has
//                   under the same name go on from where they are, and so does the friction and masses asked for
//   addFile(path, bytes)     a mesh file that a scene names, before `open`
//   scene           {name, time, dt, gravity, bodies, meshes} of the open world, made by `open`:
//                   bodies  [{name, kind, mass, shapes, firstNode, nodes, triangles}], kind: dynamic, fixed, kinematic,
//                           soft, cloth. shapes: [{type, position, orientation, …}] in the body's frame, with
//                           radius (sphere, capsule, cylinder), length (capsule: between the centres of its caps),
//                           size (box: full edges), normal and offset (plane: the solid is normal·x ≤ offset), or mesh
//                           (convex, mesh, sdf): an index into meshes. triangles: of deformable bodies, Uint32Array
//                           of indices counted from firstNode
//                   meshes  [{positions: Float32Array, indices: Uint32Array}], triangles counter-clockwise from outside
//   options         {scheme, solver, model, dt, tolerance, max_iterations, …} as the next step will use them
//   set(options)    changes some of them, while it runs. A solver that does not know the model brings its own
//   setFriction({scale = 1, mu})     of every pair: the scene's own, scaled; or, with mu, that one everywhere
//   setMassRatio(body, ratio)        of the scene's own mass and inertia
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
//                   residual, residuals: {…}, penetration, rounds, trimmed, intersections, kinetic, potential, elastic,
//                   phases: {collide, assemble, solve, integrate, judge} in ms}
//
// A frozen problem
//
//   freeze()        takes the contact problem of the coming step; returns `problem`
//   openProblem(text, name)    reads one instead: JSON text, or the bytes of an FCLIB or LCP file; returns `problem`
//   problem         {name, contacts, rows, dofs, laws: [name], solvers: [{name, models: {cone: null or why not, …}}]}
//   problemText()   as a file that `tribo solve` reads
//   solve(solver, {model, tolerance, max_iterations, time_budget_s, order, directions, relaxation, warm = true})
//                   returns {solver, used, outcome, iterations, time_s, setup_s, residual, residuals,
//                   trace: {iteration, time, residual: Float64Array}}: the judge's word after every iteration. Time
//                   counts the method's own work. Not converging is a result; what a method cannot take throws.
export class TriboError extends Error {}

export const CONTACT = {
  STRIDE: 16,
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
}

export class Engine {}
