import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Harness, colours, demand } from './harness.mjs';
import { expected, makeReplay } from './make_replay.mjs';

const [file, pictures, filter] = process.argv.slice(2);
const test = new Harness(file, pictures, filter);
const work = mkdtempSync(join(tmpdir(), 'tribo-page-'));
await test.start();

// What the page shows, from inside it.
const state = (page) =>
  page.evaluate(() => {
    const { player, source } = tribo.bench;
    return {
      time: player.time,
      index: player.index,
      last: source.last,
      playing: player.playing,
      newest: source.timeOf(source.last),
    };
  });
const until = (page, what, argument) => page.waitForFunction(what, argument, { timeout: 90000 });
const bodyAt = (page, name) =>
  page.evaluate((wanted) => {
    const { source } = tribo.bench,
      body = source.model.bodies.findIndex((b) => b.name === wanted);
    return Array.from(source.frame(source.last).poses.subarray(7 * body, 7 * body + 3));
  }, name);
const advance = (page, steps) =>
  page.evaluate(async (count) => {
    tribo.bench.player.setPlaying(false);
    const { source } = tribo.bench;
    while (source.busy) await new Promise((done) => setTimeout(done, 10));
    const goal = source.last + count;
    while (source.last < goal && !source.error) await source.advance(goal - source.last, 1000);
    tribo.bench.player.seek(source.last);
  }, steps);
const distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));

await test.claim('it opens from disk, weighs less than 3 MB and asks for nothing', {}, async (page) => {
  demand(statSync(file).size < 3e6, `it weighs ${statSync(file).size} bytes`);
  await until(page, () => document.querySelectorAll('.card canvas.taken').length >= 3);
  const others = test.requests.filter((url) => !/^(file|blob|data):/.test(url));
  demand(!others.length, `it asked for ${others[0]}`);
});

await test.claim(
  'the gallery has a card for every scene, with pictures on them',
  { width: 1000, height: 800 },
  async (page) => {
    const [cards, scenes] = await page.evaluate(() => [
      document.querySelectorAll('.card[data-scene]').length,
      tribo.tables.gallery.length,
    ]);
    demand(cards >= scenes && scenes >= 10, `${cards} cards, ${scenes} scenes`);
    await until(page, () => document.querySelectorAll('.card canvas.taken').length >= 5);
    await page.waitForTimeout(600);
    const look = await colours(page, await test.picture(page, 'gallery'));
    demand(look.count > 60 && look.busy > 0.2, `it shows ${look.count} colours on ${look.busy} of it`);
  },
);

await test.claim('a scene plays, with contacts on it', { at: 'scene/arch', width: 1100, height: 760 }, async (page) => {
  await until(page, () => tribo.bench?.source?.last > 5 && tribo.bench.player.index > 3);
  const contacts = await page.evaluate(() => tribo.bench.stage.contacts.discs.count);
  demand(contacts > 20, `${contacts} contacts are drawn`);
  // on a busy machine the first steps may use up their tenth of a second
  await until(page, () => /^✓/.test(document.querySelector('.badge').textContent));
  const residual = await page.textContent('.badge');
  demand(/^✓ residual .+ ≤ 10⁻⁵ m\/s$/.test(residual), `the certificate reads “${residual}”`);
  await page.keyboard.press(' ');
  demand(!(await state(page)).playing, 'space does not pause');
  const look = await colours(page, await test.picture(page, 'scene-light'));
  demand(look.count > 120 && look.busy > 0.3, `it shows ${look.count} colours on ${look.busy} of it`);
});

await test.claim('one can scrub back, and go on from there', { at: 'scene/stack' }, async (page) => {
  await advance(page, 30);
  await until(page, () => Number(document.querySelector('.scrub').max) >= 30);
  await page.evaluate(() => {
    const range = document.querySelector('.scrub');
    range.value = 10;
    range.dispatchEvent(new Event('input'));
  });
  const back = await state(page);
  demand(back.index === 10 && back.last >= 30 && !back.playing, `it is at ${back.index} of ${back.last}`);
  await page.keyboard.press('ArrowRight');
  await until(page, () => tribo.bench.player.index === 11);
  await page.keyboard.press('End');
  demand((await state(page)).index === back.last, 'End does not go to the end');
  await page.click('.play');
  await until(page, (last) => tribo.bench.source.last > last, back.last);
});

await test.claim(
  'a block on an incline holds; with a smaller μ it slides',
  { at: 'scene/incline', width: 1100, height: 760 },
  async (page) => {
    await until(page, () => tribo.bench?.source);
    const names = await page.evaluate(() =>
      tribo.bench.source.model.bodies.filter((b) => b.kind === 'dynamic').map((b) => b.name),
    );
    const start = await bodyAt(page, names[0]);
    await advance(page, 50);
    const held = await bodyAt(page, names[0]);
    demand(distance(start, held) < 1e-3, `it moved by ${distance(start, held)} m where friction should hold it`);
    await page.fill('.slider:has(#mu) .number', '0.1');
    await page.keyboard.press('Tab');
    await advance(page, 50);
    const slid = await bodyAt(page, names[0]);
    demand(distance(held, slid) > 0.2, `it moved by ${distance(held, slid)} m with μ = 0.1`);
    await page.waitForTimeout(500);
    await test.picture(page, 'incline-slides');
  },
);

await test.claim('a solver brings the model of friction that it can take', { at: 'scene/incline' }, async (page) => {
  await advance(page, 2);
  await page.keyboard.press('i');
  const choose = async (name) => {
    await page.selectOption('.field:has-text("solver") select', name);
    await until(page, (wanted) => tribo.bench.source.options.solver === wanted, name);
    await advance(page, 2);
    return page.evaluate(() => [
      tribo.bench.source.options.model,
      tribo.bench.source.error?.message ?? '',
      document.querySelector('.contents select').value,
    ]);
  };
  const [model, error, shown] = await choose('lemke');
  demand(model === 'polyhedral' && !error && shown === model, `lemke with ${model}, shown as ${shown}: ${error}`);
  demand((await choose('bgs'))[0] === 'cone', 'bgs does not go back to the law itself');
});

await test.claim('a body follows the pointer that pulls it', { at: 'scene/incline' }, async (page) => {
  await until(page, () => tribo.bench?.source?.last > 2);
  const before = await page.evaluate(() => tribo.bench.source.newest.poses[7 + 2]);
  const at = await page.evaluate(() => {
    const { view, stage } = tribo.bench,
      v = stage.bounds.center.clone().project(view.camera),
      box = view.canvas.getBoundingClientRect();
    return [box.left + (v.x * 0.5 + 0.5) * box.width, box.top + (0.5 - v.y * 0.5) * box.height];
  });
  await page.mouse.move(...at);
  await page.mouse.down();
  await page.mouse.move(at[0], at[1] - 40);
  await page.mouse.move(at[0], at[1] - 120);
  await until(page, (z) => tribo.bench.source.newest.poses[7 + 2] > z + 0.1, before);
  demand(await page.evaluate(() => Boolean(tribo.bench.source.holding)), 'nothing is held');
  await page.mouse.up();
  await until(page, () => !tribo.bench.source.holding);
});

await test.claim(
  'a slider bends a reduced body along a mode',
  { at: 'scene/springboard', width: 1100, height: 760 },
  async (page) => {
    await until(page, () => tribo.bench?.source?.last > 1);
    const shape = () =>
      page.evaluate(async () => {
        tribo.bench.player.setPlaying(false);
        while (tribo.bench.source.busy) await new Promise((done) => setTimeout(done, 10));
        return Array.from(tribo.bench.source.newest.nodes);
      });
    await shape();
    demand((await page.locator('.modes input[type=range]').count()) >= 3, 'no sliders');
    const put = async (share) => {
      const version = await page.evaluate(() => tribo.bench.source.version);
      const range = page.locator('.modes input[type=range]').first();
      await range.evaluate((input, value) => {
        input.value = value;
        input.dispatchEvent(new Event('input'));
      }, share);
      await until(page, (was) => tribo.bench.source.version > was, version);
      return shape();
    };
    // from one end to the other: where the board hangs by itself at this moment may be close to either
    const up = await put(1),
      down = await put(-1),
      far = Math.max(...up.map((x, i) => Math.abs(x - down[i])));
    demand(far > 0.2 && far < 0.3, `from end to end a node goes ${far} m`);
  },
);

await test.claim(
  'a click selects a body and shows its numbers',
  { at: 'scene/stack', width: 1100, height: 700 },
  async (page) => {
    await advance(page, 5);
    await page.evaluate(() => tribo.bench.toggle('contacts'));
    const at = await page.evaluate(() => {
      const { view, stage } = tribo.bench,
        v = stage.bounds.center.clone().project(view.camera),
        box = view.canvas.getBoundingClientRect();
      return [box.left + (v.x * 0.5 + 0.5) * box.width, box.top + (0.5 - v.y * 0.5) * box.height];
    });
    await page.mouse.click(...at);
    await until(page, () => /velocity/.test(document.querySelector('.inspector').textContent));
    demand((await page.evaluate(() => tribo.bench.selection.body)) >= 0, 'no body is selected');
  },
);

await test.claim(
  'a click selects a contact and shows its forces',
  { at: 'scene/stack', width: 1100, height: 700 },
  async (page) => {
    await advance(page, 5);
    await until(page, () => tribo.bench.stage.frame.contacts.length > 0); // shown at the next picture
    await page.waitForTimeout(500);
    const at = await page.evaluate(() => {
      const { view, stage } = tribo.bench,
        p = stage.bounds.center.clone().fromArray(stage.frame.contacts, 2).project(view.camera);
      const box = view.canvas.getBoundingClientRect();
      return [box.left + (p.x * 0.5 + 0.5) * box.width, box.top + (0.5 - p.y * 0.5) * box.height];
    });
    await page.mouse.click(...at);
    await until(page, () => /friction \/ normal/.test(document.querySelector('.inspector').textContent));
    demand(/stick|slip/.test(await page.textContent('.inspector .state')), 'it has no state');
  },
);

await test.claim(
  'the force of a contact that slips ends on the edge of its friction set',
  { at: 'scene/tyres', width: 1100, height: 700 },
  async (page) => {
    await advance(page, 40);
    await until(page, () => {
      const { contacts } = tribo.bench.stage.frame;
      return contacts.some((x, i) => i % 15 === 12 && x === 2);
    });
    // Contacts come, go and part from step to step: until one that is selected slips and pushes a step later, too.
    let got = null;
    for (let tries = 0; !got && tries < 20; tries++) {
      await page.evaluate(() => {
        const { contacts } = tribo.bench.stage.frame;
        let slips = -1;
        for (let i = 0; i < contacts.length / 15; i++) if (contacts[15 * i + 12] === 2) slips = i;
        tribo.bench.select({ body: -1, contact: slips });
      });
      await until(page, () => tribo.bench.selection.contact < 0 || tribo.bench.stage.friction.group.visible);
      await advance(page, 1); // and goes along
      got = await page.evaluate(() => {
        const { stage, selection } = tribo.bench,
          { contacts, set } = stage.frame,
          at = 15 * selection.contact,
          n = contacts.slice(at + 5, at + 8),
          f = contacts.slice(at + 9, at + 12),
          dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
          normal = dot(f, n);
        if (!(selection.contact >= 0 && normal > 0 && contacts[at + 12] === 2 && set)) return null;
        const force = [0, 1, 2].map((k) => (f[k] - normal * n[k]) / normal);
        let nearest = Infinity;
        for (let i = 0; i < set.edge.length; i += 3)
          nearest = Math.min(nearest, Math.hypot(...force.map((x, k) => x - set.edge[i + k])));
        return { nearest, against: dot(force, set.velocity), visible: stage.friction.group.visible };
      });
    }
    demand(got, 'no contact slips for two steps');
    demand(got.visible && got.nearest < 0.03, `the force is ${got.nearest} away from the edge`);
    demand(got.against < 0, 'friction does not oppose the sliding');
    await page.evaluate(() => tribo.bench.select({ body: 0, contact: -1 }));
    await until(page, () => !tribo.bench.stage.friction.group.visible);
  },
);

await test.claim(
  'cloth on a ball that turns sticks or slips as μ says, while it runs',
  { at: 'scene/turning-ball', width: 1100, height: 760 },
  async (page) => {
    await until(page, () => tribo.bench?.source);
    demand((await page.evaluate(() => tribo.bench.source.options.scheme)) === 'pd', 'it is not moved by pd');
    // By the force that contacts bear: light ones at the rim slip at any μ.
    const slipping = async (steps) => {
      await advance(page, steps);
      return page.evaluate(() => {
        const { contacts } = tribo.bench.source.frame(tribo.bench.source.last),
          bears = [0, 0, 0];
        for (let i = 0; i < contacts.length; i += 15)
          bears[contacts[i + 12]] += [0, 1, 2].reduce((sum, k) => sum + contacts[i + 5 + k] * contacts[i + 9 + k], 0);
        return bears[2] / (bears[1] + bears[2]);
      });
    };
    const set = async (mu) => {
      await page.fill('.slider:has(#mu) .number', mu);
      await page.keyboard.press('Tab');
    };
    await advance(page, 60);
    await set('2');
    const rough = await slipping(20);
    await set('0.3');
    await advance(page, 20);
    await page.evaluate(() => tribo.bench.player.setPlaying(true)); // edited while it runs
    await set('0.02');
    const smooth = await slipping(20);
    demand(rough < 0.25 && smooth > 0.95, `${rough} of the load slips at μ = 2, ${smooth} at 0.02`);
    const legend = await page.textContent('.legend');
    demand(/stick/.test(legend) && /slip/.test(legend), `the legend says ${legend}`);
    await page.waitForTimeout(500);
    const { count } = await colours(page, await test.picture(page, 'cloth-slips'));
    demand(count > 50, `${count} colours`);
  },
);

await test.claim(
  'pointing at a plot goes to that moment',
  { at: 'scene/stack', width: 1100, height: 700 },
  async (page) => {
    await advance(page, 40);
    await until(page, () => tribo.bench.plots.shown?.times.length >= 40);
    await page.waitForTimeout(300);
    const box = await (await page.$('.plot:nth-child(2) .u-over')).boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    const { index, last } = await state(page);
    demand(Math.abs(index - last / 2) <= 2, `it is at ${index} of ${last}`);
  },
);

await test.claim(
  'a broken scene says where, and the last good one goes on',
  { at: 'scene/stack', width: 1100, height: 700 },
  async (page) => {
    await advance(page, 5);
    const before = await page.evaluate(() => tribo.bench.source.model.bodies.length);
    await page.keyboard.press('e');
    await page.fill('.editor textarea', '{\n  "tribo": 1,\n  "bodies": [{"name": "a", "shpe": {"type": "plane"}}]\n}');
    await page.click('.editor .primary');
    await until(page, () => /:3:\d+:/.test(document.querySelector('.message').textContent));
    demand(/shape/.test(await page.textContent('.message')), 'it does not name the nearest key');
    demand((await page.textContent('.gutter .wrong')).trim() === '3', 'the line is not marked');
    await test.picture(page, 'editor');
    demand((await page.evaluate(() => tribo.bench.source.model.bodies.length)) === before, 'the world is gone');
    const { last } = await state(page);
    await advance(page, 3);
    demand((await state(page)).last === last + 3, 'it does not go on');
  },
);

await test.claim(
  'three solvers race on a frozen step, which is a file for `tribo solve`',
  { at: 'scene/stack', width: 1100, height: 900 },
  async (page) => {
    await advance(page, 5);
    await page.click('.controls .primary');
    await page.waitForSelector('.race-problem');
    await until(page, () => document.querySelectorAll('.standings tbody tr').length > 0); // without another click
    await until(page, () => !document.querySelector('.race-setup .primary').disabled);
    for (const chip of await page.$$('.chip[aria-pressed=true]'))
      await page.click(`.chip[data-solver="${await chip.evaluate((e) => e.dataset.solver)}"]`);
    for (const name of ['pgs', 'bgs', 'nncg']) await page.click(`.chip[data-solver="${name}"]`);
    // A tolerance that a hundred iterations reach, on a busy machine within the seconds that a solver has.
    await page.fill('.race-setup .settings .number >> nth=0', '1e-4');
    await page.press('.race-setup .settings .number >> nth=0', 'Enter');
    await page.click('.race-setup .primary');
    await until(
      page,
      () =>
        document.querySelectorAll('.standings tbody tr').length === 3 &&
        !document.querySelector('.race-setup .primary').disabled,
    );
    const curves = await page.evaluate(() =>
      [...document.querySelectorAll('.charts svg')].map(
        (svg) => [...svg.querySelectorAll('.curve path')].filter((p) => p.getAttribute('d').length > 20).length,
      ),
    );
    demand(curves.length === 2 && curves.every((n) => n === 3), `the charts have ${curves} curves`);
    demand(/converged/.test(await page.textContent('.standings')), 'none converged');
    const look = await colours(page, await test.picture(page, 'race'));
    demand(look.count > 60, `it shows ${look.count} colours`);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('.facts button')]);
    const saved = join(work, 'problem.json');
    await download.saveAs(saved);
    if (!existsSync('build/tribo')) return;
    const answer = JSON.parse(execFileSync('build/tribo', ['solve', saved, '--json'], { encoding: 'utf8' }));
    demand(answer, '`tribo solve` has no answer');
  },
);

await test.claim('a race that takes long can be cancelled', { at: 'race', width: 1000, height: 700 }, async (page) => {
  // As soon as the button is there: the race may take less time than a pointer.
  await page.evaluate(() => {
    const watch = new MutationObserver(() => {
      const cancel = [...document.querySelectorAll('.race-setup button')].find((b) => b.textContent === 'Cancel');
      if (!cancel || cancel.hidden) return;
      watch.disconnect();
      cancel.click();
    });
    watch.observe(document.body, { attributes: true, childList: true, subtree: true });
    document.querySelector('[data-take="arch"]').click();
  });
  await until(page, () => /Cancelled/.test(document.querySelector('.race-setup')?.textContent ?? ''));
  demand(await page.isEnabled('.race-setup .primary'), 'it cannot be started again');
});

await test.claim(
  'a scene runs under four solvers side by side, in step',
  { at: 'race', width: 1000, height: 800 },
  async (page) => {
    await page.click('[data-mode="scene"]');
    await until(page, () => tribo.racePage.scene?.lives.length === 4 && tribo.racePage.scene.player.source.last >= 3);
    const names = await page.$$eval('.tile-name', (tiles) => tiles.map((t) => t.textContent));
    demand(names.length === 4, `${names.length} tiles`);
    const steps = await page.evaluate(() => tribo.racePage.scene.player.source.frame(2).parts.map((p) => p.step));
    demand(new Set(steps).size === 1, `steps ${steps}`);
    await page.waitForFunction(() => tribo.racePage.scene.player.source.last >= 40);
    await page.click('.race-scene .play');
    await page.waitForTimeout(500);
    const tiles = await page.evaluate(() => {
      const { scene } = tribo.racePage,
        limit = scene.lives[0].options.velocity_tolerance,
        at = scene.player.index;
      return [...document.querySelectorAll('.tile')].map((tile, i) => ({
        text: tile.textContent,
        now: scene.lives[i].frame(at).scalars[13] <= limit ? '≤' : '>',
        missed: scene.lives[i].frames.filter((f) => f.step > 0 && f.step <= at && f.scalars[13] > limit).length,
        steps: at,
      }));
    });
    for (const t of tiles) {
      const says = t.missed ? `missed in ${t.missed} of ${t.steps} steps` : `met in all ${t.steps} steps`;
      demand(t.text.includes(` ${t.now} 10⁻⁵ m/s`) && t.text.includes(says), `a tile reads “${t.text}”, but: ${says}`);
    }
    demand(new Set(tiles.map((t) => t.missed > 0)).size === 2 || tiles.some((t) => t.missed > 10), 'nobody loses');
    const look = await colours(page, await test.picture(page, 'race-scene'));
    demand(look.count > 100, `it shows ${look.count} colours`);
  },
);

await test.claim(
  'schemes are measured over budgets: the error of each against its time, in one chart',
  { at: 'race', width: 1000, height: 900 },
  async (page) => {
    await page.click('[data-mode="budget"]');
    for (const chip of await page.$$('.chip[aria-pressed=true]')) {
      const name = await chip.evaluate((e) => e.dataset.solver);
      if (!['primal', 'xpbd', 'soft-step'].includes(name)) await page.click(`.chip[data-solver="${name}"]`);
    }
    await page.click('.race-setup .primary');
    await until(page, () => tribo.racePage.budget.lines?.length === 3 && !tribo.racePage.budget.client);
    const lines = await page.evaluate(() => tribo.racePage.budget.lines.map(({ name, x, y }) => ({ name, x, y })));
    for (const { name, x, y } of lines) {
      demand(x.length === 6 && [...x, ...y].every((v) => v > 0 && v < 10), `${name}: ${x} s, ${y} m/s`);
    }
    const dual = lines.find((line) => line.name === 'xpbd').y;
    demand(dual[5] < 0.5 * dual[0], `xpbd gets no better: ${dual}`);
    demand((await page.$$('.race-budget .curve')).length === 3, 'a curve is missing');
    demand((await page.$$('.race-budget tbody tr')).length === 3, 'a row is missing');
    await test.picture(page, 'race-budget');
  },
);

await test.claim(
  'contacts show their residuals, and joints where they hold',
  { at: 'scene/seesaw', width: 1100, height: 700 },
  async (page) => {
    await advance(page, 12);
    await page.keyboard.press('h');
    await page.keyboard.press('h');
    await until(page, () => tribo.bench.stage.heatTop > 0);
    const got = await page.evaluate(() => {
      const { source, stage } = tribo.bench,
        { contacts, scalars } = source.newest;
      let sum = 0;
      for (let i = 13; i < contacts.length; i += 15) sum += contacts[i] ** 2;
      return {
        heat: stage.look.heat,
        part: Math.sqrt(sum) / scalars[3],
        pin: Array.from(stage.joints.meshes.balls.instanceMatrix.array.subarray(12, 15)),
        plank: Array.from(source.newest.poses.subarray(7, 14)),
        joints: source.model.joints,
        bodies: source.model.bodies.map((b) => b.name),
      };
    });
    demand(got.heat === 'residual', `it shows ${got.heat}`);
    demand(got.part > 0 && got.part < 1 + 1e-5, `the contacts’ part of the residual is ${got.part}`);
    demand(got.joints.length === 1 && got.joints[0].type === 'hinge', `joints ${JSON.stringify(got.joints)}`);
    const world = got.joints[0].a < 0 ? got.joints[0].anchor_a : got.joints[0].anchor_b;
    demand(distance(got.pin, world) < 1e-3, `the pin is drawn at ${got.pin}`);
    await until(page, () => /^residual/.test(document.querySelector('.legend').textContent));
    await test.picture(page, 'residuals');
    await page.keyboard.press('j');
    demand(!(await page.evaluate(() => tribo.bench.stage.joints.group.visible)), 'J does not hide joints');
  },
);

await test.claim(
  'the table of methods is the engine’s own',
  { at: 'methods', width: 1000, height: 700 },
  async (page) => {
    const wrong = await page.evaluate(() => {
      const { solvers, models, laws, schemes } = tribo.tables,
        rows = [...document.querySelectorAll('.matrix tbody tr')];
      if (rows.length !== solvers.length) return `${rows.length} rows`;
      const dots = document.querySelectorAll('.matrix .yes').length;
      const want = solvers.reduce(
        (sum, s) =>
          sum +
          models.filter((m) => s.models.includes(m)).length +
          laws.filter((l) => s.takes[l.name].includes('cone')).length +
          schemes.filter((k) => k.laws.every((law) => s.takes[law].includes('cone'))).length,
        0,
      );
      if (dots !== want) return `${dots} dots for ${want}`;
      const words = document.querySelector('.methods').textContent;
      return /Rigid and deformable bodies/.test(words) && /of impacts also/.test(words) ? '' : 'schemes say nothing';
    });
    demand(!wrong, wrong);
  },
);

await test.claim(
  'a replay plays: rigid poses, cloth, contacts and plots as the file says',
  { width: 1100, height: 700 },
  async (page) => {
    await page.setInputFiles('.card.drop input', {
      name: 'ball.trp',
      mimeType: 'application/octet-stream',
      buffer: makeReplay(),
    });
    await until(page, () => tribo.bench?.source && !tribo.bench.source.live && tribo.bench.player.time > 0.05);
    const at = 21,
      got = await page.evaluate((index) => {
        const { source, player } = tribo.bench,
          frame = source.frame(index);
        player.setPlaying(false);
        player.seek(index);
        return {
          count: source.count,
          ball: Array.from(frame.poses.subarray(7, 14)),
          node: Array.from(frame.nodes.subarray(9, 12)),
          contacts: Array.from(frame.contacts),
          time: player.time,
          kinetic: source.series().values[0][index],
        };
      }, at);
    demand(
      got.count === expected.frames && Math.abs(got.time - at / 30) < 1e-6,
      `${got.count} frames, time ${got.time}`,
    );
    demand(distance(got.ball.slice(0, 3), expected.ball(at)) < 1e-6, `the ball is at ${got.ball}`);
    demand(
      Math.abs(got.ball[3] - Math.cos(0.05 * at)) < 1e-5 && Math.abs(got.ball[5] - Math.sin(0.05 * at)) < 1e-5,
      `it is turned by ${got.ball.slice(3)}`,
    );
    demand(distance(got.node, expected.node(at)) < 1e-4, `a node is at ${got.node}`);
    demand(
      got.contacts.length === 15 && got.contacts[12] === 2 && Math.abs(got.contacts[11] - 0.05 * 30) < 1e-5,
      `contacts ${got.contacts}`,
    );
    demand(Math.abs(got.contacts[13] - 1e-10) < 1e-13, `residual ${got.contacts[13]} of a contact`);
    for (const key of ['h', 'h']) await page.keyboard.press(key);
    await until(page, () => tribo.bench.stage.look.heat === 'residual' && tribo.bench.stage.heatTop > 0);
    demand((await page.evaluate(() => tribo.bench.stage.joints.count)) === 1, 'the joint is not drawn');
    demand(Math.abs(got.kinetic - 1 - at / 30) < 1e-6, `kinetic energy ${got.kinetic}`);
    await page.waitForTimeout(600);
    const look = await colours(page, await test.picture(page, 'replay'));
    demand(look.count > 60, `it shows ${look.count} colours`);
    for (const key of ['h', 'h']) await page.keyboard.press(key);
    await until(page, () => tribo.bench.stage.look.heat === 'pressure' && tribo.bench.stage.heatTop > 0);
    const pressed = await page.evaluate(() => {
      const { heatTop, bounds, bodies, contacts } = tribo.bench.stage;
      return { top: heatTop, unit: bounds.unit, count: bodies.pressure.uniforms.pressureCount.value, discs: contacts.discsOn };
    });
    const push = [0, 1, 2].reduce((sum, k) => sum + got.contacts[5 + k] * got.contacts[9 + k], 0),
      middle = (3 * push) / (Math.PI * (6 * pressed.unit) ** 2);
    demand(pressed.count === 1 && !pressed.discs, `${pressed.count} contacts press, discs ${pressed.discs}`);
    demand(Math.abs(pressed.top - middle) < 1e-5 * middle, `the pressure is ${pressed.top} instead of ${middle} Pa`);
    await page.waitForTimeout(600);
    await test.picture(page, 'pressure');
    await page.keyboard.press('h');
    await until(page, () => tribo.bench.stage.bodies.pressure.uniforms.pressureCount.value === 0);
  },
);

await test.claim('a file that is cut is refused with a reason', {}, async (page) => {
  await page.setInputFiles('.card.drop input', {
    name: 'cut.trp',
    mimeType: 'application/octet-stream',
    buffer: makeReplay().subarray(0, 3000),
  });
  await until(page, () => /its end is missing/.test(document.querySelector('.toast').textContent));
});

await test.claim('Tribo’s own replays open', {}, async (page) => {
  if (!existsSync('build/tribo')) return 'build/tribo is not built';
  const replay = join(work, 'dominoes.trp');
  try {
    execFileSync('build/tribo', ['run', 'scenes/dominoes.json', '--steps', '60', '--trajectory', replay], {
      stdio: 'pipe',
    });
  } catch {
    return 'this build writes no replays';
  }
  await page.setInputFiles('.card.drop input', replay);
  await until(page, () => tribo.bench?.source && !tribo.bench.source.live && tribo.bench.player.time > 0.05);
});

await test.claim(
  'dark and light, by the system and by the switch',
  { at: 'scene/cards', scheme: 'dark', width: 1100, height: 760 },
  async (page) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await until(page, () => tribo.bench?.player.index > 2);
    const dark = await ground();
    await test.picture(page, 'scene-dark');
    await page.keyboard.press('t');
    demand((await ground()) !== dark, 'the switch changes nothing');
  },
);

await test.claim(
  'on a phone it fits, and the panel is a sheet',
  { at: 'scene/pyramid', width: 390, height: 780, touch: true, scheme: 'dark' },
  async (page) => {
    await until(page, () => tribo.bench?.player.index > 2);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    demand(wide <= 390, `it is ${wide} px wide`);
    await page.tap('.tools button:last-child');
    await until(page, () => {
      const { top, bottom } = document.querySelector('.panel').getBoundingClientRect();
      return top > 200 && bottom <= 781;
    });
    await test.picture(page, 'phone');
  },
);

await test.claim('? lists the keys', { at: 'methods' }, async (page) => {
  await page.keyboard.press('?');
  demand(await page.isVisible('dialog.help'), 'no list');
});

// --- what others put into the page

const embedded = join(work, 'embedded.html');
writeFileSync(join(work, 'ball.trp'), makeReplay());
writeFileSync(
  join(work, 'report.html'),
  '<!DOCTYPE html><style>@media screen and (prefers-color-scheme:dark){body{color:red}}</style><p>Won by nobody.</p>',
);
execFileSync('node', [
  'viewer/embed.js',
  file,
  embedded,
  `${join(work, 'ball.trp')}=A <b>ball</b>=It falls.=0.5`,
  `${join(work, 'report.html')}=The race`,
]);

await test.claim(
  'embedded replays have their cards and play; the embedded report is there, dark or light',
  { url: `file://${embedded}`, width: 900, height: 700 },
  async (page) => {
    await page.waitForSelector('[data-scene="replay:ball"] canvas.taken');
    demand((await page.textContent('[data-scene="replay:ball"] h3')) === 'A <b>ball</b>', 'its title');
    await page.hover('[data-scene="replay:ball"]');
    await page.waitForTimeout(300);
    await page.click('[data-scene="replay:ball"]');
    await until(page, () => tribo.bench?.source && !tribo.bench.source.live && tribo.bench.player.time > 0.05);
    await page.click('nav [data-page=race]');
    const frame = page.frameLocator('iframe.report');
    demand(/Won by nobody/.test(await frame.locator('p').textContent()), 'no report');
    const color = () => frame.locator('body').evaluate((body) => getComputedStyle(body).color);
    demand((await color()) !== 'rgb(255, 0, 0)', 'it is dark');
    await page.keyboard.press('t');
    demand((await color()) === 'rgb(255, 0, 0)', 'it stays light');
  },
);

// --- tribo view

async function view(what, options, look) {
  const words = `tribo view: ${what}`;
  if (!existsSync('build/tribo')) return test.claim(words, {}, () => 'build/tribo is not built');
  const server = spawn('build/tribo', ['view', '--page', file, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((resolve) => {
    server.stdout.once('data', (text) => resolve(String(text).trim()));
    server.once('exit', () => resolve('about:blank'));
  });
  await test.claim(words, { url, at: '', width: 900, height: 700 }, async (page) => {
    demand(await page.evaluate(() => crossOriginIsolated), 'the page may not have threads');
    await look(page);
  });
  server.kill('SIGINT');
}

await view('a scene runs, with the meshes it names', ['scenes/gears.json'], async (page) => {
  await until(page, () => tribo.bench?.source?.live && tribo.bench.source.last > 2);
  demand((await page.evaluate(() => tribo.bench.source.model.bodies.length)) >= 3, 'bodies are missing');
  await page.reload();
  await until(page, () => tribo.bench?.source?.live && tribo.bench.source.last > 2);
});
await view('a replay plays', [join(work, 'ball.trp')], (page) =>
  until(page, () => tribo.bench?.source && !tribo.bench.source.live && tribo.bench.player.time > 0.05),
);
await view('a contact problem is ready to race', ['problems/stack.json'], async (page) => {
  await page.waitForSelector('.race-problem');
});
await view('without a file, the gallery', [], async (page) => {
  await until(page, () => document.querySelectorAll('.card canvas.taken').length >= 3);
});

rmSync(work, { recursive: true, force: true });
await test.end();
