// SPDX-License-Identifier: Apache-2.0
// The numbers of what is selected: a body, a contact, or the step itself.
import { h, replace } from './dom.js';
import { fixed, held, number, vector } from './format.js';
import { CONTACT, PHASES, SCALAR, STATES, splitForce } from './model.js';

const row = (label, value, unit) =>
  h(
    'div.row',
    null,
    h('span.row-label', null, label),
    h('span.row-value', null, value, unit ? h('span.unit', null, ` ${unit}`) : null),
  );

// Velocity from this frame and the one before: replays hold positions alone.
function motion(source, index, body) {
  if (index <= source.first) return null;
  const a = source.frame(index - 1),
    b = source.frame(index),
    dt = b.time - a.time,
    i = 7 * body;
  const v = [0, 1, 2].map((k) => (b.poses[i + k] - a.poses[i + k]) / dt);
  const [w, x, y, z] = [3, 4, 5, 6].map((k) => a.poses[i + k]),
    [W, X, Y, Z] = [3, 4, 5, 6].map((k) => b.poses[i + k]);
  const scalar = W * w + X * x + Y * y + Z * z,
    sign = scalar < 0 ? -2 / dt : 2 / dt; // vector part of q⁺ q̄
  const omega = [X * w - W * x - Y * z + Z * y, Y * w - W * y - Z * x + X * z, Z * w - W * z - X * y + Y * x].map(
    (c) => c * sign,
  );
  return { v, omega };
}

function contactsOf(frame, body) {
  let count = 0,
    load = 0,
    sliding = 0;
  const friction = [0, 0, 0];
  for (let i = 0; i < frame.contacts.length / CONTACT.stride; i++) {
    const c = i * CONTACT.stride;
    if (frame.contacts[c + CONTACT.a] !== body && frame.contacts[c + CONTACT.b] !== body) continue;
    if (!frame.contacts[c + CONTACT.state]) continue;
    count++;
    load += splitForce(frame.contacts, i, friction).normal;
    if (frame.contacts[c + CONTACT.state] === 2) sliding++;
  }
  return { count, load, sliding };
}

export class Inspector {
  constructor() {
    this.element = h('div.inspector');
  }

  show(source, index, selection) {
    const frame = source.frame(index);
    if (selection?.contact >= 0 && selection.contact < frame.contacts.length / CONTACT.stride)
      replace(this.element, this.#contact(source, frame, selection.contact));
    else if (selection?.body >= 0) replace(this.element, this.#body(source, index, frame, selection.body));
    else replace(this.element, this.#step(source, frame));
  }

  #body(source, index, frame, body) {
    const { name, kind, mass, shapes, nodeCount } = source.model.bodies[body];
    const moving = motion(source, index, body),
      touching = contactsOf(frame, body),
      i = 7 * body;
    return [
      h('h3', null, name),
      h('p.kind', null, `${kind} body, ${nodeCount ? `${nodeCount} nodes` : shapes.map((s) => s.type).join(', ')}`),
      mass ? row('mass', number(mass, 4), 'kg') : null,
      row('position', vector(Array.from(frame.poses.subarray(i, i + 3))), 'm'),
      nodeCount ? null : row('orientation', vector(Array.from(frame.poses.subarray(i + 3, i + 7)))),
      moving ? row('velocity', vector(moving.v), 'm/s') : null,
      moving ? row('speed', fixed(Math.hypot(...moving.v), 3), 'm/s') : null,
      moving && !nodeCount ? row('spin', vector(moving.omega, 2), 'rad/s') : null,
      row('contacts', `${touching.count}, ${touching.sliding} slipping`),
      row('normal forces', number(touching.load), 'N'),
    ];
  }

  #contact(source, frame, i) {
    const data = frame.contacts,
      c = i * CONTACT.stride,
      friction = [0, 0, 0],
      force = splitForce(data, i, friction);
    const state = STATES[data[c + CONTACT.state] | 0],
      name = (k) => source.model.bodies[data[c + k]]?.name ?? 'world';
    return [
      h('h3', null, `contact ${i}`, h(`span.state.${state}`, null, state)),
      h('p.kind', null, `${name(CONTACT.a)} against ${name(CONTACT.b)}`),
      row('position', vector(Array.from(data.subarray(c + CONTACT.position, c + CONTACT.position + 3))), 'm'),
      row('normal', vector(Array.from(data.subarray(c + CONTACT.normal, c + CONTACT.normal + 3)))),
      row('gap', number(data[c + CONTACT.gap]), 'm'),
      row('normal force', number(force.normal), 'N'),
      row('friction', number(force.friction), 'N'),
      row('friction / normal', force.normal > 0 ? fixed(force.friction / force.normal, 4) : '–'),
      Number.isNaN(data[c + CONTACT.speed]) ? null : row('slip speed', number(data[c + CONTACT.speed]), 'm/s'),
      Number.isNaN(data[c + CONTACT.residual]) ? null : row('residual', number(data[c + CONTACT.residual])),
    ];
  }

  #step(source, frame) {
    const s = frame.scalars,
      tolerances = source.live ? source.options : source.model,
      counts = [0, 0, 0];
    for (let i = CONTACT.state; i < frame.contacts.length; i += CONTACT.stride) counts[frame.contacts[i] | 0]++;
    return [
      h('h3', null, `step ${frame.step}`),
      h('p.kind', null, 'Select a body or a contact to see its numbers.'),
      row('bodies', String(source.model.bodies.length)),
      row('contacts', `${counts[1]} stick, ${counts[2]} slip, ${counts[0]} open`),
      Number.isNaN(s[SCALAR.residual_velocity])
        ? null
        : row('residual', held(s[SCALAR.residual_velocity], tolerances.velocity_tolerance), 'm/s'),
      row('relative residual', held(s[SCALAR.residual], tolerances.tolerance)),
      row('iterations', number(s[SCALAR.iterations])),
      frame.used ? row('method', frame.used) : null,
      frame.outcome ? row('outcome', frame.outcome.replace('_', ' ')) : null,
      row('penetration', number(s[SCALAR.penetration]), 'm'),
      row('kinetic energy', number(s[SCALAR.kinetic], 4), 'J'),
      row('potential energy', number(s[SCALAR.potential], 4), 'J'),
      s[SCALAR.elastic] ? row('elastic energy', number(s[SCALAR.elastic], 4), 'J') : null,
      ...PHASES.map((name) => row(name, number(s[SCALAR[name]]), 'ms')),
    ];
  }
}
