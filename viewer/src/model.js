// SPDX-License-Identifier: Apache-2.0
// What the page shows, live or recorded: a Model says what the bodies are, a Frame where they are.
//
//   Model  { name, dt, gravity: [x, y, z], bodies: [Body], joints: [Joint] }
//   Body   { name, kind, mass, shapes: [Shape], nodeCount, triangles }
//          kind: 'dynamic' | 'fixed' | 'kinematic' of rigid bodies, else what it is made of: 'soft', 'cloth', 'reduced', or 'animated'
//          nodeCount: 0 of bodies that move as a frame
//   Shape  { type, position: [x, y, z], orientation: [w, x, y, z] } in the body's frame, and what its type needs:
//          radius, length, size, normal and offset, or vertices and triangles
//   Joint  { type, a, b, anchor_a, anchor_b, axis, limits }: bodies by number, −1 for the world; anchors in their bodies'
//          frames, the axis of a hinge or slider in that of a; limits: [lower, upper] or undefined, null for none
//   Frame  { step, time, poses, nodes, contacts, scalars }
//          poses     Float32Array, seven per body: x y z, then the quaternion w x y z
//          nodes     Float32Array, all nodes of all deformable bodies in order; or null
//          contacts  Float32Array, CONTACT.stride numbers each
//          scalars   Float64Array in the order of SCALARS
//          set       of a live world: null, or the friction set of the selected contact, { edge, velocity }: points
//                    around its edge per newton of normal force, and the velocity that slides there, in world axes
//
// SI units, z up, quaternions [w x y z], as in Tribo itself.

// Where the numbers of a contact stand. The force is in newtons, on body b, in world axes; the residual is its part of
// the judge's, whose squares add up to its square. What is not known is NaN.
export const CONTACT = {
  stride: 15,
  a: 0,
  b: 1,
  position: 2,
  normal: 5,
  gap: 8,
  force: 9,
  state: 12,
  residual: 13,
  speed: 14,
};
export const STATES = ['open', 'stick', 'slip'];

// What is plotted. Milliseconds for the phases; the residuals are the judge's, relative and in m/s.
export const SCALARS = [
  'kinetic',
  'potential',
  'elastic',
  'residual',
  'iterations',
  'contacts',
  'penetration',
  'intersections',
  'collide',
  'assemble',
  'solve',
  'integrate',
  'judge',
  'residual_velocity',
];
export const SCALAR = Object.fromEntries(SCALARS.map((name, index) => [name, index]));
export const PHASES = ['collide', 'assemble', 'solve', 'integrate', 'judge'];

export const isDeformable = (body) => body.nodeCount > 0;
export const isMoving = (body) => body.kind !== 'fixed' && body.kind !== 'kinematic';

// Whether its surface has a border, an edge of one triangle alone: it is seen from both sides.
export function isOpen(body) {
  const border = new Set(),
    t = body.triangles;
  for (let i = 0; i < t.length; i++) {
    const a = t[i],
      b = t[i % 3 === 2 ? i - 2 : i + 1],
      edge = a < b ? `${a} ${b}` : `${b} ${a}`;
    if (!border.delete(edge)) border.add(edge);
  }
  return border.size > 0;
}

// First node of each deformable body within Frame.nodes.
export function nodeOffsets(model) {
  let next = 0;
  return model.bodies.map((body) => {
    const first = next;
    if (isDeformable(body)) next += body.nodeCount;
    return first;
  });
}

// Poses between two frames: straight lines, and the shorter arc of the quaternions, normalised.
export function mixPoses(a, b, alpha, out) {
  if (!b || alpha <= 0 || a.length !== b.length) {
    out.set(a);
    return;
  }
  const beta = 1 - alpha;
  for (let i = 0; i < a.length; i += 7) {
    for (let k = 0; k < 3; k++) out[i + k] = beta * a[i + k] + alpha * b[i + k];
    const dot = a[i + 3] * b[i + 3] + a[i + 4] * b[i + 4] + a[i + 5] * b[i + 5] + a[i + 6] * b[i + 6];
    const sign = dot < 0 ? -alpha : alpha;
    let norm = 0;
    for (let k = 3; k < 7; k++) {
      out[i + k] = beta * a[i + k] + sign * b[i + k];
      norm += out[i + k] * out[i + k];
    }
    norm = 1 / Math.sqrt(norm || 1);
    for (let k = 3; k < 7; k++) out[i + k] *= norm;
  }
}

// Normal force, friction force and its length, of contact i.
export function splitForce(contacts, i, friction) {
  const c = i * CONTACT.stride,
    n = c + CONTACT.normal,
    f = c + CONTACT.force;
  const normal = contacts[f] * contacts[n] + contacts[f + 1] * contacts[n + 1] + contacts[f + 2] * contacts[n + 2];
  for (let k = 0; k < 3; k++) friction[k] = contacts[f + k] - normal * contacts[n + k];
  return { normal, friction: Math.hypot(friction[0], friction[1], friction[2]) };
}
