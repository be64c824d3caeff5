// Reads a replay by docs/trajectory-format.md alone, frame by frame, and holds it against trajectory.csv.
//   node replay.mjs REPLAY CSV
import { readFileSync } from "node:fs";

const [replay, csv] = process.argv.slice(2);
const file = readFileSync(replay);
const bytes = new DataView(file.buffer, file.byteOffset, file.byteLength);
const u16 = (at) => bytes.getUint16(at, true), u32 = (at) => bytes.getUint32(at, true);
const u64 = (at) => Number(bytes.getBigUint64(at, true));
const f32 = (at) => bytes.getFloat32(at, true), f64 = (at) => bytes.getFloat64(at, true);
const vec3 = (at) => [f32(at), f32(at + 4), f32(at + 8)];

function demand(condition, what) {
  if (!condition) {
    console.error(`${replay}: ${what}`);
    process.exit(1);
  }
}

demand(file.subarray(0, 8).equals(Buffer.from("\x89TRP\r\n\x1a\n", "latin1")) && u32(8) === 1, "no replay");
const header = JSON.parse(file.toString("utf8", 16, 16 + u32(12)));
const tail = file.length - 40;
const index = u64(tail), frames = u64(tail + 8), entries = u32(tail + 16), stride = u32(tail + 20);
demand(u64(tail + 24) === file.length && index + 16 * entries === tail, "its tail is wrong");

function find(i) {
  let at = u64(index + 16 * Math.floor(i / stride) + 8);
  for (let left = i % stride; left > 0; left--) at += u32(at);
  return at;
}

function orientation(lo, hi) {
  const packed = [lo & 0xfffff, (lo >>> 20) | ((hi & 0xff) << 12), (hi >>> 8) & 0xfffff];
  const small = packed.map((p) => (p - 524288) / 524287 / Math.SQRT2);
  const left = Math.sqrt(Math.max(0, 1 - small.reduce((sum, c) => sum + c * c, 0)));
  small.splice(hi >>> 28, 0, left);
  return small;
}

function read(i) {
  const start = find(i), frame = { contacts: [], poses: [], nodes: new Map() };
  frame.time = f64(start + 8), frame.step = f64(start + 16);
  let at = start + 24;
  frame.scalars = Object.fromEntries(header.scalars.map((name, k) => [name, f32(at + 4 * k)]));
  at += 4 * header.scalars.length;
  for (let k = 0; k < header.poses; k++, at += 20)
    frame.poses.push({ position: vec3(at), orientation: orientation(u32(at + 12), u32(at + 16)) });
  for (const body of header.bodies) {
    if (body.skin === undefined) continue;
    const lo = vec3(at), hi = vec3(at + 12), nodes = [];
    for (let n = 0; n < body.nodes; n++)
      nodes.push(lo.map((l, k) => l + ((hi[k] - l) * u16(at + 24 + 6 * n + 2 * k)) / 65535));
    frame.nodes.set(body.name, nodes);
    at += 24 + 4 * Math.ceil((6 * body.nodes) / 4);
  }
  for (let c = 0; c < u32(start + 4); c++, at += 44)
    frame.contacts.push({ a: u32(at), b: u32(at + 4), position: vec3(at + 8), state: file[at + 26], impulse: vec3(at + 32) });
  demand(8 * Math.ceil((at - start) / 8) === u32(start), `frame ${i} has another length than it says`);
  return frame;
}

// The columns of a row; names may be quoted.
const rows = new Map();
for (const line of readFileSync(csv, "utf8").trim().split("\n").slice(1)) {
  const cells = [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map((m) => m[1]);
  const name = cells[2].startsWith('"') ? cells[2].slice(1, -1).replaceAll('""', '"') : cells[2];
  rows.set(`${cells[0]} ${name}`, cells.slice(3).map(Number));
}

const distance = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));
let seen = 0;
for (let i = 0; i < frames; i++) {
  const frame = read(i);
  demand(Math.abs(frame.time - frame.step * header.dt) < 1e-9, `frame ${i} is at another time`);
  for (const c of frame.contacts) demand(c.a < header.bodies.length && c.b < header.bodies.length && c.state <= 2, `frame ${i}: a contact of nothing`);
  for (const body of header.bodies) {
    const row = rows.get(`${frame.step} ${body.name}`);
    if (!row) continue; // the first frame comes before the first row
    seen++;
    if (body.pose !== undefined) {
      const { position, orientation: q } = frame.poses[body.pose];
      const dot = q.reduce((sum, c, k) => sum + c * row[3 + k], 0);
      demand(distance(position, row.slice(0, 3)) < 1e-5, `frame ${i}: ${body.name} is elsewhere`);
      demand(1 - Math.abs(dot) < 1e-9, `frame ${i}: ${body.name} is turned elsewhere`);
    } else if (body.skin !== undefined) {
      const nodes = frame.nodes.get(body.name);
      const reach = Math.max(...nodes.map((n) => distance(n, row.slice(0, 3))));
      demand(reach > 0 && reach < 2, `frame ${i}: ${body.name} is elsewhere`);
    }
  }
}
demand(seen >= frames - 1, "nothing was compared");
