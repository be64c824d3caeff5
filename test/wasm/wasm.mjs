// The library in wasm, through viewer/src/engine.js, against the command: node wasm.mjs WASM COMMAND.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { CONTACT, Engine, TriboError } from '../../viewer/src/engine.js'

const [wasm, command] = process.argv.slice(2)
const bytes = readFileSync(wasm)
const module = await WebAssembly.compile(bytes)
const folder = mkdtempSync(join(tmpdir(), 'tribo-wasm-'))
let passed = 0
let failed = 0

async function test(claim, body) {
  try {
    await body(await Engine.load(module))
    passed++
    console.log(`  ${claim.padEnd(72)} ok`)
  } catch (error) {
    failed++
    console.log(`  ${claim} FAILED\n    ${error.stack}`)
  }
}

function check(truth, what) {
  if (!truth) throw new Error(what)
}

function refused(status, action) {
  try {
    action()
  } catch (error) {
    check(error instanceof TriboError && error.status === status, `refused with ${error}`)
    return error
  }
  throw new Error('was not refused')
}

// What the command makes of a scene.
function native(text, steps, ...more) {
  const [scene, metrics] = [join(folder, 'scene.json'), join(folder, 'metrics.json')]
  writeFileSync(scene, text)
  const arguments_ = ['run', scene, '--steps', steps, '--threads', 1, '--quiet', '--metrics', metrics, ...more]
  execFileSync(command, arguments_.map(String))
  return JSON.parse(readFileSync(metrics)).state_hash
}

const ball = (height) =>
  JSON.stringify({
    tribo: 1,
    bodies: [
      { name: 'ground', fixed: true, shape: { type: 'plane', normal: [0, 0, 1] } },
      { name: 'ball', shape: { type: 'sphere', radius: 0.5 }, position: [0, 0, height] },
    ],
  })

// Scenes without mesh files, which the command would look for; and how far to run them.
const scenes = [
  ['stack', {}, 60], ['heavy-top', { count: 5 }, 40], ['pyramid', { rows: 6 }, 40], ['wall', { courses: 4 }, 40],
  ['arch', { stones: 15 }, 40], ['cards', {}, 40], ['dominoes', { count: 20 }, 100], ['cradle', {}, 100],
  ['chain', {}, 60], ['chain-links', {}, 40], ['capstan', {}, 30], ['seesaw', {}, 100], ['door', { layers: 2 }, 60],
  ['gripper', {}, 200], ['quadruped', {}, 100], ['conveyor', {}, 60], ['incline-set', {}, 100], ['painleve', {}, 60], ['tippe-top', {}, 100], ['billiards', {}, 100],
  ['pile-1000', { side: 4 }, 100], ['heap', { side: 4 }, 120], ['junkyard', { layers: 1 }, 100],
  ['jelly', {}, 20], ['cloth-on-sphere', {}, 30], ['hammock', {}, 60], ['soft-incline', {}, 30],
]

for (const [name, values, steps] of scenes)
  await test(`${name}: the same bits as the command after ${steps} steps`, (engine) => {
    const text = engine.sceneText(name, values)
    engine.open(text)
    engine.step(steps)
    const [mine, its] = [engine.hash(), native(text, steps)]
    check(mine === its, `${mine} in wasm, ${its} natively`)
  })

for (const scheme of ['moreau', 'penalty', 'soft-step'])
  await test(`${scheme}: the same bits as the command`, (engine) => {
    const text = engine.sceneText('pyramid', { rows: 3 })
    engine.open(text)
    engine.set({ scheme })
    engine.step(40)
    check(engine.hash() === native(text, 40, '--scheme', scheme), 'hashes differ')
  })

// The same file that native builds are held against, of any width, threads and stops (test_real_time.c).
const golden = readFileSync(new URL('../determinism/golden_real_time.txt', import.meta.url), 'utf8')
for (const line of golden.split('\n').filter((l) => l && !l.startsWith('#'))) {
  const [name, steps, hash] = line.split(' ')
  await test(`${name} in real time: the hash that is written down`, (engine) => {
    const scene = JSON.parse(readFileSync(new URL(`../../scenes/${name}.json`, import.meta.url), 'utf8'))
    scene.scheme = { ...scene.scheme, name: 'soft-step', certify: 0 }
    engine.open(JSON.stringify(scene))
    engine.step(Number(steps))
    check(engine.hash() === hash, `${engine.hash()} in wasm, ${hash} is written down`)
  })
}

await test('meshes of the gallery are there when its scenes are opened', (engine) => {
  engine.open(engine.sceneText('gears'))
  check(engine.scene.meshes.length > 0 && engine.scene.meshes[0].indices.length > 100, 'no mesh')
  engine.step(3)
})

await test('a bad scene says where it is bad, and the last good world goes on', (engine) => {
  engine.open(ball(2))
  engine.step(5)
  const before = engine.hash()
  const error = refused(2, () => engine.open('{"tribo": 1,\n  "bodis": []}'))
  check(error.line === 2 && error.column === 3, `at ${error.line}:${error.column}: ${error.message}`)
  check(engine.hash() === before, 'the world has changed')
  engine.step()
})

await test('views follow the world, also where memory grows', (engine) => {
  engine.open(ball(2))
  const z = engine.poses[9]
  engine.step(10)
  check(engine.poses[9] < z, 'the ball has not fallen')
  const poses = engine.poses
  check(engine.poses === poses, 'a view is made anew though nothing has moved')
  engine.open(engine.sceneText('pile-1000', { side: 15 }))
  engine.step()
  check(engine.poses.length === 7 * engine.scene.bodies.length && engine.poses.every(Number.isFinite), 'bad poses')
})

await test('contacts carry the weight', (engine) => {
  engine.open(ball(0.5))
  engine.step(20)
  const [c, weight] = [engine.contacts, engine.scene.bodies[1].mass * 9.81 * engine.options.dt]
  check(engine.contactCount === 1, `${engine.contactCount} contacts`)
  check(Math.abs(c[CONTACT.IMPULSE + 2] / weight - 1) < 1e-3, `${c[CONTACT.IMPULSE + 2]} N·s under ${weight}`)
})

await test('every contact says its part of the residual', (engine) => {
  engine.open(engine.sceneText('arch', { stones: 9 }))
  engine.set({ solver: 'pgs', max_iterations: 20 })
  engine.step(3)
  let sum = 0
  for (let i = 0; i < engine.contactCount; i++) sum += engine.contacts[i * CONTACT.STRIDE + CONTACT.RESIDUAL] ** 2
  check(engine.report.residual_velocity > engine.options.velocity_tolerance && engine.options.velocity_tolerance > 0, `${engine.report.residual_velocity} m/s after 20 sweeps`)
  check(Math.abs(Math.sqrt(sum) / engine.report.residual - 1) < 1e-12, `${Math.sqrt(sum)} of ${engine.report.residual}`)
})

await test('joints hold where the scene says', (engine) => {
  engine.open(engine.sceneText('cradle', {}))
  const before = engine.poses.slice()
  engine.step(50)
  check(engine.scene.joints.length === 10, `${engine.scene.joints.length} joints`)
  for (const { type, a, b, anchor_a, anchor_b } of engine.scene.joints) {
    check(type === 'distance' && (a < 0) !== (b < 0), `a ${type} joint of ${a} and ${b}`)
    const [ball, fixed, local] = a < 0 ? [b, anchor_a, anchor_b] : [a, anchor_b, anchor_a]
    check(Math.hypot(...local) < 1e-12, `held at ${local}`)
    const length = (poses) => Math.hypot(...fixed.map((x, k) => x - poses[7 * ball + k]))
    const [first, now] = [length(before), length(engine.poses)]
    check(Math.abs(first - now) < 1e-3 * first, `a string of ${first} m is ${now} m long`)
  }
})

await test('the tables say which solver takes which law, and what a scheme asks', (engine) => {
  const { solvers, schemes } = engine.tables
  check(solvers.every((s) => schemes.every((k) => s.fits[k.name])), 'a solver without a word on a scheme')
  const deforming = schemes.filter((k) => k.deforms).map((k) => k.name).sort().join()
  check(deforming === 'avbd,implicit,ipc,pd,penalty,primal,vbd,xpbd', `${deforming} move what deforms`)
  check(solvers.find((s) => s.name === 'lemke').takes.coulomb.join() === 'box,polyhedral,frictionless', 'the tables have changed')
})

await test('friction, masses, options: what changes while it runs changes the run', (engine) => {
  engine.open(engine.sceneText('incline', { slope_deg: 20 })) // μ = 0.5 holds it
  const still = engine.step(30).kinetic
  engine.setFriction({ mu: 0.1 })
  check(engine.step(30).kinetic > 100 * still + 1e-6, 'it does not slide')
  engine.setFriction()
  check(engine.step(100).kinetic < 1e-6, 'it does not stop again')
  engine.set({ solver: 'pgs', dt: 0.002, max_iterations: 50 })
  check(engine.options.solver === 'pgs' && engine.options.dt === 0.002, 'options were not set')
  refused(1, () => engine.set({ solver: 'psg' }))
  refused(1, () => engine.set({ dt: -1 }))
  const block = engine.scene.bodies.findIndex((b) => b.kind === 'dynamic')
  const { mass } = engine.scene.bodies[block]
  engine.setMassRatio(block, 1000)
  engine.step(5)
  engine.reset()
  check(engine.options.solver === 'pgs' && engine.report.step === 0, 'options were lost')
  check(Math.abs(engine.scene.bodies[block].mass / mass - 1000) < 1e-9, 'the mass ratio was lost')
})

await test('a mode of a reduced body is set in shares of its size, and swings from there', (engine) => {
  engine.open(engine.sceneText('springboard'))
  const board = engine.scene.bodies.findIndex((b) => b.modes > 0)
  check(board >= 0, 'no body has modes')
  const { firstNode, nodes, modes } = engine.scene.bodies[board]
  const shape = () => Array.from(engine.nodes.subarray(3 * firstNode, 3 * (firstNode + nodes)))
  const apart = (a, b) => Math.max(...a.map((x, i) => Math.abs(x - b[i])))
  const rest = shape()
  const span = Math.max(...[0, 1, 2].map((k) => {
    const axis = rest.filter((_, i) => i % 3 === k)
    return Math.max(...axis) - Math.min(...axis)
  }))
  engine.setMode(board, 0, 1)
  const bent = shape()
  check(apart(rest, bent) > 0.05 * span && apart(rest, bent) < 0.15 * span, `it moved by ${apart(rest, bent)} of ${span}`)
  engine.step(5)
  check(apart(bent, shape()) > 1e-4 * span, 'it does not swing')
  engine.setMode(board, 0, 0)
  refused(1, () => engine.setMode(board, modes, 1))
  refused(1, () => engine.setMode(board, 0, NaN))
  refused(1, () => engine.setMode(99, 0, 1))
})

await test('a body that is held comes to the pointer and stays there', (engine) => {
  engine.open(ball(0.5))
  engine.hold(1, [0, 0.3, 0.9], [0, 1, 3])
  engine.step(300)
  const [, y, z] = engine.holding.point
  check(Math.abs(y - 1) < 0.05 && Math.abs(z - 3) < 0.1, `held at ${y}, ${z}`)
  engine.release()
  check(engine.holding === null, 'it is held still')
  engine.step(200)
  check(Math.abs(engine.poses[9] - 0.5) < 1e-3, 'it does not lie on the ground again')
  refused(1, () => engine.hold(0, [0, 0, 0]))
})

await test('a soft body is held by its nearest node', (engine) => {
  const jelly = { name: 'jelly', mesh: { box: { size: [1, 1, 1], cells: [3, 3, 3] } }, position: [0, 0, 1] }
  engine.open(JSON.stringify({ ...JSON.parse(ball(5)), soft: [jelly] }))
  const [{ kind, nodes, triangles }] = engine.scene.bodies.slice(-1)
  check(kind === 'soft' && engine.nodes.length === 3 * nodes && triangles.every((i) => i < nodes), 'no nodes')
  engine.hold(engine.scene.bodies.length - 1, [0.5, 0.5, 1.5], [3, 0.5, 3])
  engine.step(300)
  const [x, , z] = engine.holding.point
  check(Math.abs(x - 3) < 0.3 && Math.abs(z - 3) < 0.3, `held at ${x}, ${z}`)
})

await test('a frozen problem: solved here as by the command, from the file', (engine) => {
  engine.open(engine.sceneText('arch', { stones: 9 }))
  engine.step(5)
  const problem = engine.freeze()
  check(problem.contacts > 10 && problem.laws.includes('coulomb'), 'no problem')
  const file = join(folder, 'problem.json')
  writeFileSync(file, engine.problemText())
  for (const solver of ['bgs', 'nncg', 'newton-ac', 'apgd']) {
    const model = engine.tables.solvers.find((s) => s.name === solver).models[0]
    const mine = engine.solve(solver, { model, tolerance: 1e-9, warm: false })
    const its = JSON.parse(execFileSync(command, ['solve', file, '--solver', solver, '--tol', '1e-9', '--model', model, '--max-iter', '10000', '--cold', '--json']))
    check(mine.iterations === its.iterations, `${solver}: ${mine.iterations} iterations here, ${its.iterations} there`)
    check(Math.abs(mine.residuals.velocity - its.residuals.velocity) <= 1e-12 * its.residuals.velocity, `${solver}: ${mine.residuals.velocity} m/s here, ${its.residuals.velocity} there`)
    check(mine.residual_velocity > 0, 'no residual in m/s')
    check(mine.trace.residual.length > 1 && mine.trace.time.at(-1) >= mine.trace.time[0], 'no trace')
  }
  refused(6, () => engine.solve('lemke', { model: 'cone' }))
})

await test('it loads from base64, gzipped or not', async () => {
  for (const source of [bytes.toString('base64'), gzipSync(bytes).toString('base64')])
    check((await Engine.load(source)).tables.simd === 'wasm', 'not loaded')
})

rmSync(folder, { recursive: true })
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
