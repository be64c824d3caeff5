// SPDX-License-Identifier: Apache-2.0
// Reads a replay (docs/trajectory-format.md): the whole file stays as it is, frames are unpacked when they are shown.
import { CONTACT, SCALARS, isDeformable } from './model.js';

const magic = [0x89, 0x54, 0x52, 0x50, 0x0d, 0x0a, 0x1a, 0x0a];
const tailMagic = [0x54, 0x52, 0x50, 0x65, 0x6e, 0x64, 0x0d, 0x0a];

const demand = (truth, why) => {
  if (!truth) throw new Error(`not a replay that this page can read: ${why}`);
};

export const isReplay = (buffer) => buffer.byteLength > 56 && matches(new DataView(buffer), 0, magic);

function matches(view, at, bytes) {
  return bytes.every((byte, i) => view.getUint8(at + i) === byte);
}

export class Replay {
  constructor(buffer) {
    this.view = new DataView(buffer);
    const size = buffer.byteLength;
    demand(isReplay(buffer), 'it does not start like one');
    demand(this.view.getUint32(8, true) === 1, `version ${this.view.getUint32(8, true)}`);
    demand(matches(this.view, size - 8, tailMagic), 'its end is missing');
    const length = this.view.getUint32(12, true);
    demand(16 + length <= size - 40, 'its header is cut');
    this.header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 16, length)));
    this.geometry = 16 + length;
    this.#readIndex(size);
    this.model = this.#readModel(buffer);
    this.first = 0;
    this.last = this.count - 1;
    this.live = false;
    this.residuals = this.header.scalars.includes('contact_residual');
    this.cache = new Map();
    this.columns = null;
  }

  #readIndex(size) {
    const tail = size - 40,
      word = (at) => Number(this.view.getBigUint64(at, true));
    const at = word(tail),
      entries = this.view.getUint32(tail + 16, true);
    this.count = word(tail + 8);
    this.stride = this.view.getUint32(tail + 20, true);
    demand(word(tail + 24) === size, 'its length is not what it says');
    demand(this.count >= 1 && this.stride >= 1 && entries === Math.ceil(this.count / this.stride), 'its index');
    demand(at + 16 * entries <= tail, 'its index is cut');
    this.entryTime = new Float64Array(entries);
    this.entryAt = new Float64Array(entries);
    for (let k = 0; k < entries; k++) {
      this.entryTime[k] = this.view.getFloat64(at + 16 * k, true);
      this.entryAt[k] = word(at + 16 * k + 8);
    }
  }

  #readModel(buffer) {
    const header = this.header;
    const meshes = (header.meshes || []).map((mesh) => ({
      vertices: new Float32Array(buffer, this.geometry + mesh.vertices_at, 3 * mesh.vertices),
      triangles: new Uint32Array(buffer, this.geometry + mesh.triangles_at, 3 * mesh.triangles),
    }));
    const bodies = header.bodies.map((body) => ({
      name: body.name,
      kind: body.kind,
      mass: body.mass ?? 0,
      color: body.color,
      pose: body.pose ?? -1,
      rest: [...(body.position || [0, 0, 0]), ...(body.orientation || [1, 0, 0, 0])],
      shapes: (body.shapes || []).map((shape) => ({
        ...shape,
        ...(shape.mesh !== undefined ? meshes[shape.mesh] : {}),
      })),
      nodeCount: body.nodes || 0,
      triangles: body.skin !== undefined ? meshes[body.skin].triangles : null,
    }));
    return {
      name: header.scene,
      dt: header.dt,
      gravity: header.gravity,
      bodies,
      joints: header.joints ?? [],
      solver: header.solver,
      scheme: header.scheme,
      tolerance: header.tolerance,
      velocity_tolerance: header.velocity_tolerance ?? 0,
    };
  }

  #offset(index) {
    let at = this.entryAt[Math.floor(index / this.stride)];
    for (let k = index % this.stride; k > 0; k--) at += this.view.getUint32(at, true);
    return at;
  }

  timeOf(index) {
    return this.view.getFloat64(this.#offset(index) + 8, true);
  }

  // The last frame not after t.
  indexAt(t) {
    let low = 0,
      high = this.last;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.timeOf(middle) <= t + 1e-9) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  frame(index) {
    if (this.cache.has(index)) return this.cache.get(index);
    const frame = this.#unpack(this.#offset(index));
    if (this.cache.size > 64) this.cache.delete(this.cache.keys().next().value);
    this.cache.set(index, frame);
    return frame;
  }

  #unpack(start) {
    const view = this.view,
      names = this.header.scalars;
    const count = view.getUint32(start + 4, true);
    let at = start + 24;
    const scalars = this.#scalars(at);
    at += 4 * names.length;
    const poses = this.#poses(at);
    at += 20 * this.header.poses;
    const soft = this.model.bodies.filter(isDeformable);
    const nodes = soft.length ? new Float32Array(3 * soft.reduce((sum, body) => sum + body.nodeCount, 0)) : null;
    let node = 0;
    for (const body of soft) {
      const low = [0, 4, 8].map((k) => view.getFloat32(at + k, true)),
        high = [12, 16, 20].map((k) => view.getFloat32(at + k, true));
      at += 24;
      for (let i = 0; i < 3 * body.nodeCount; i++, node++)
        nodes[node] = low[i % 3] + ((high[i % 3] - low[i % 3]) * view.getUint16(at + 2 * i, true)) / 65535;
      at += 6 * body.nodeCount + (body.nodeCount % 2 ? 2 : 0);
    }
    return {
      time: view.getFloat64(start + 8, true),
      step: view.getFloat64(start + 16, true),
      scalars,
      poses,
      nodes,
      contacts: this.#contacts(at, count, start + 24),
    };
  }

  #scalars(at) {
    const out = new Float64Array(SCALARS.length).fill(NaN);
    this.header.scalars.forEach((name, i) => {
      const k = SCALARS.indexOf(name.replace(/_ms$/, ''));
      if (k >= 0) out[k] = this.view.getFloat32(at + 4 * i, true);
    });
    return out;
  }

  #poses(at) {
    const bodies = this.model.bodies,
      out = new Float32Array(7 * bodies.length);
    bodies.forEach((body, i) => {
      if (body.pose < 0) return out.set(body.rest, 7 * i);
      const p = at + 20 * body.pose;
      for (let k = 0; k < 3; k++) out[7 * i + k] = this.view.getFloat32(p + 4 * k, true);
      unpackQuaternion(this.view.getUint32(p + 12, true), this.view.getUint32(p + 16, true), out, 7 * i + 3);
    });
    return out;
  }

  #contacts(at, count, scalars) {
    const out = new Float32Array(CONTACT.stride * count).fill(NaN),
      view = this.view,
      dt = this.header.dt,
      named = this.header.scalars.indexOf('contact_residual'),
      worst = named < 0 ? NaN : view.getFloat32(scalars + 4 * named, true);
    for (let i = 0; i < count; i++, at += 44) {
      const c = i * CONTACT.stride,
        share = view.getUint8(at + 27);
      out[c + CONTACT.a] = view.getUint32(at, true);
      out[c + CONTACT.b] = view.getUint32(at + 4, true);
      for (let k = 0; k < 3; k++) {
        out[c + CONTACT.position + k] = view.getFloat32(at + 8 + 4 * k, true);
        out[c + CONTACT.normal + k] = view.getInt16(at + 20 + 2 * k, true) / 32767;
        out[c + CONTACT.force + k] = view.getFloat32(at + 32 + 4 * k, true) / dt;
      }
      out[c + CONTACT.state] = view.getUint8(at + 26);
      if (share !== 255) out[c + CONTACT.residual] = (worst * share) / 254;
      out[c + CONTACT.gap] = view.getFloat32(at + 28, true);
    }
    return out;
  }

  // Everything the plots need: times, and an array per scalar.
  series() {
    if (this.columns) return this.columns;
    const times = new Float64Array(this.count),
      values = SCALARS.map(() => new Float64Array(this.count));
    for (let i = 0; i < this.count; i++) {
      const at = this.#offset(i),
        scalars = this.#scalars(at + 24);
      times[i] = this.view.getFloat64(at + 8, true);
      for (let k = 0; k < SCALARS.length; k++) values[k][i] = scalars[k];
    }
    this.columns = { times, values };
    return this.columns;
  }
}

// The three smaller parts of a unit quaternion in 20 bits each; the largest follows.
function unpackQuaternion(lo, hi, out, at) {
  const parts = [lo & 0xfffff, (lo >>> 20) | ((hi & 0xff) << 12), (hi >>> 8) & 0xfffff];
  const largest = hi >>> 28;
  let rest = 1,
    next = 0;
  for (let k = 0; k < 4; k++) {
    if (k === largest) continue;
    const value = ((parts[next++] - 524288) / 524287) * Math.SQRT1_2;
    out[at + k] = value;
    rest -= value * value;
  }
  out[at + largest] = Math.sqrt(Math.max(rest, 0));
}
