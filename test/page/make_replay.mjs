// A small replay written from its description (docs/trajectory-format.md), so that the page's reader is tested against the
// text and not against Tribo's writer: a ball above a plane, and a cloth that waves.

const FRAMES = 40,
  SIDE = 8; // nodes along a side of the cloth

const pad = (bytes, to) => Buffer.concat([bytes, Buffer.alloc((to - (bytes.length % to)) % to, 0)]);

function cloth(time) {
  const nodes = [];
  for (let j = 0; j < SIDE; j++)
    for (let i = 0; i < SIDE; i++) nodes.push([i * 0.2 - 0.7, j * 0.2 + 0.6, 0.8 + 0.15 * Math.sin(4 * time + i)]);
  return nodes;
}

function geometry() {
  const vertices = Buffer.from(new Float32Array(cloth(0).flat()).buffer),
    triangles = [];
  for (let j = 0; j + 1 < SIDE; j++)
    for (let i = 0; i + 1 < SIDE; i++) {
      const k = j * SIDE + i;
      triangles.push(k, k + 1, k + SIDE, k + 1, k + SIDE + 1, k + SIDE);
    }
  return {
    bytes: pad(Buffer.concat([vertices, Buffer.from(new Uint32Array(triangles).buffer)]), 8),
    vertices: SIDE * SIDE,
    triangles: triangles.length / 3,
    at: vertices.length,
  };
}

// A unit quaternion in two words: the three smaller parts in 20 bits each.
function packQuaternion(q) {
  let largest = 0;
  for (let k = 1; k < 4; k++) if (Math.abs(q[k]) > Math.abs(q[largest])) largest = k;
  const sign = q[largest] < 0 ? -1 : 1;
  const [a, b, c] = q
    .filter((_, k) => k !== largest)
    .map((x) => Math.round(((sign * x * Math.SQRT2 + 1) / 2) * 0xfffff));
  return [(a | ((b & 0xfff) << 20)) >>> 0, ((b >>> 12) | (c << 8) | (largest << 28)) >>> 0];
}

function frame(step, scalars) {
  const time = step / 30,
    out = [];
  const f32 = (...xs) => out.push(Buffer.from(new Float32Array(xs).buffer)),
    u32 = (...xs) => out.push(Buffer.from(new Uint32Array(xs).buffer));
  const contacts = step % 2;
  out.push(Buffer.alloc(4));
  u32(contacts);
  out.push(Buffer.from(new Float64Array([time, step]).buffer));
  f32(...scalars.map((name) => (name === 'contacts' ? contacts : name === 'residual' ? 1e-9 : name === 'contact_residual' ? 2e-10 : 1 + time)));
  const angle = 0.05 * step;
  f32(0.5 * time, 0, 0.3);
  u32(...packQuaternion([Math.cos(angle), 0, Math.sin(angle), 0]));
  const nodes = cloth(time),
    low = [0, 1, 2].map((k) => Math.min(...nodes.map((n) => n[k]))),
    high = [0, 1, 2].map((k) => Math.max(...nodes.map((n) => n[k])));
  f32(...low, ...high);
  out.push(
    Buffer.from(
      new Uint16Array(
        nodes.flatMap((n) => n.map((x, k) => Math.round(((x - low[k]) / (high[k] - low[k] || 1)) * 65535))),
      ).buffer,
    ),
  );
  if (contacts) {
    u32(0, 1);
    f32(0.5 * time, 0, 0);
    out.push(Buffer.from(new Int16Array([0, 0, 32767]).buffer), Buffer.from([2, 127]));
    f32(-1e-4, 0.01, 0, 0.05);
  }
  const bytes = pad(Buffer.concat(out), 8);
  bytes.writeUInt32LE(bytes.length, 0);
  return { time, bytes };
}

export const expected = {
  frames: FRAMES,
  ball: (index) => [0.5 * (index / 30), 0, 0.3],
  node: (index) => cloth(index / 30)[3],
};

export function makeReplay() {
  const scalars = [
    'kinetic',
    'potential',
    'elastic',
    'residual',
    'iterations',
    'contacts',
    'penetration',
    'contact_residual',
    'solve_ms',
    'something_new',
  ];
  const shape = { position: [0, 0, 0], orientation: [1, 0, 0, 0] },
    mesh = geometry();
  let header = JSON.stringify({
    scene: 'a ball and a cloth',
    generator: 'a test',
    dt: 1 / 30,
    steps_per_frame: 1,
    fps: 30,
    scheme: 'semi-implicit',
    solver: 'auto',
    model: 'cone',
    tolerance: 1e-8,
    gravity: [0, 0, -9.81],
    up: 'z',
    scalars,
    materials: [],
    poses: 1,
    contact_limit: 4096,
    geometry_bytes: mesh.bytes.length,
    meshes: [{ vertices: mesh.vertices, vertices_at: 0, triangles: mesh.triangles, triangles_at: mesh.at }],
    bodies: [
      {
        name: 'ground',
        kind: 'fixed',
        position: [0, 0, 0],
        orientation: [1, 0, 0, 0],
        shapes: [{ type: 'plane', normal: [0, 0, 1], offset: 0, ...shape }],
      },
      {
        name: 'ball',
        kind: 'dynamic',
        mass: 2,
        position: [0, 0, 0.3],
        orientation: [1, 0, 0, 0],
        pose: 0,
        shapes: [{ type: 'sphere', radius: 0.3, ...shape }],
      },
      { name: 'cloth', kind: 'cloth', mass: 0.1, nodes: SIDE * SIDE, skin: 0 },
    ],
    joints: [
      { type: 'hinge', a: 1, b: -1, anchor_a: [0, 0, 0.2], anchor_b: [0, 0, 0.5], axis: [0, 1, 0], limits: [-1, null] },
      { type: 'of another kind', a: 1, b: -1, anchor_a: [0, 0, 0], anchor_b: [0, 0, 0] },
    ],
  });
  header += ' '.repeat((8 - (Buffer.byteLength(header) % 8)) % 8);
  const start = Buffer.alloc(16);
  Buffer.from([0x89, 0x54, 0x52, 0x50, 0x0d, 0x0a, 0x1a, 0x0a]).copy(start);
  start.writeUInt32LE(1, 8);
  start.writeUInt32LE(Buffer.byteLength(header), 12);
  const frames = Array.from({ length: FRAMES }, (_, step) => frame(step, scalars));
  const index = Buffer.alloc(16 * FRAMES);
  let at = 16 + Buffer.byteLength(header) + mesh.bytes.length;
  frames.forEach(({ time, bytes }, k) => {
    index.writeDoubleLE(time, 16 * k);
    index.writeBigUInt64LE(BigInt(at), 16 * k + 8);
    at += bytes.length;
  });
  const tail = Buffer.alloc(40);
  tail.writeBigUInt64LE(BigInt(at), 0);
  tail.writeBigUInt64LE(BigInt(FRAMES), 8);
  tail.writeUInt32LE(FRAMES, 16);
  tail.writeUInt32LE(1, 20);
  tail.writeBigUInt64LE(BigInt(at + index.length + 40), 24);
  Buffer.from('TRPend\r\n', 'latin1').copy(tail, 32);
  return Buffer.concat([start, Buffer.from(header), mesh.bytes, ...frames.map((f) => f.bytes), index, tail]);
}
