// SPDX-License-Identifier: Apache-2.0
// What can be changed while a world runs. Nothing here simulates: it asks the live source, and shows what it refused.
import { field, h, icon, replace, select, slider } from './dom.js';
import { number } from './format.js';
import { modelOf } from './methods.js';
import { isDeformable, isMoving } from './model.js';

// Options that have a place of their own among the controls.
const shownAbove = ['scheme', 'solver', 'model', 'dt', 'max_iterations', 'budget_s', 'velocity_tolerance'];

const hasMassRatio = (body) => isMoving(body) && !isDeformable(body);
const MODES = 12; // sliders of a reduced body

export class Controls {
  // actions: { parameters(values), pose(work), freeze(), saveProblem() }; tables: the engine's.
  constructor(tables, actions) {
    this.tables = tables;
    this.actions = actions;
    this.element = h('div.controls');
  }

  show(live, entry, values) {
    this.live = live;
    this.problem = h('p.refused', { hidden: true });
    replace(
      this.element,
      entry?.parameters?.length ? this.#scene(entry, values) : null,
      this.#method(),
      this.#options(),
      this.#physics(),
      this.#modes(),
      this.#freeze(),
      this.problem,
    );
  }

  // Replays tell what they were made with, and cannot be changed.
  showReplay(replay) {
    const { model, header } = replay,
      line = (label, value) => field(label, h('span.row-value', null, value));
    replace(
      this.element,
      h(
        'fieldset',
        null,
        h('legend', null, 'Recorded with'),
        line('scheme', model.scheme),
        line('solver', model.solver),
        line('step', `${number(model.dt * 1000)} ms`),
        model.velocity_tolerance > 0 ? line('tolerance', `${number(model.velocity_tolerance)} m/s`) : null,
        model.tolerance > 0 ? line('relative tolerance', number(model.tolerance)) : null,
        line('frames', String(replay.count)),
        line('bodies', String(model.bodies.length)),
      ),
      h('p.hint', null, `A replay of a run by ${header.generator || 'Tribo'}.`),
    );
  }

  async #try(work) {
    try {
      await work();
      this.problem.hidden = true;
    } catch (error) {
      this.problem.textContent = error.message;
      this.problem.hidden = false;
    }
  }

  #scene(entry, values) {
    const now = Object.fromEntries(entry.parameters.map((p) => [p.name, values?.[p.name] ?? p.value]));
    let timer = 0;
    return h(
      'fieldset',
      null,
      h('legend', null, 'Scene'),
      entry.parameters.map((p) =>
        field(
          p.name,
          slider({
            ...spanOf(p),
            value: now[p.name],
            step: p.whole ? 1 : undefined,
            digits: 4,
            oninput: (x) => {
              now[p.name] = p.whole ? Math.round(x) : x;
              clearTimeout(timer);
              timer = setTimeout(() => this.#try(() => this.actions.parameters(now)), 250);
            },
          }),
          p.summary,
        ),
      ),
    );
  }

  #method() {
    const { live, tables } = this,
      named = (list) => list.map((x) => ({ value: x.name, label: x.name, title: x.summary }));
    const soft = live.model.bodies.some(isDeformable),
      schemes = tables.schemes.filter((s) => s.deforms || !soft);
    const about = h('p.hint'),
      friction = h('span.contents');
    const explain = () => {
      const solver = tables.solvers.find((s) => s.name === live.options.solver);
      about.textContent = solver.summary;
      const models = tables.models.filter((m) => solver.takes.coulomb.includes(m));
      replace(friction, select(models, live.options.model, change('model')));
    };
    const change =
      (key, convert = (x) => x) =>
      (value) =>
        this.#try(async () => {
          await live.set({ [key]: convert(value) });
          explain();
        });
    const choose = (name) =>
      this.#try(async () => {
        await live.set({ solver: name, model: modelOf(tables.solvers.find((s) => s.name === name)) });
        explain();
      });
    explain();
    const step = slider({ min: 1e-4, max: 0.05, scale: 'log', value: live.options.dt, oninput: change('dt') });
    const budget = slider({
      min: 1,
      max: 10000,
      scale: 'log',
      value: live.options.max_iterations,
      digits: 2,
      oninput: change('max_iterations', Math.round),
    });
    const pace = slider({
      min: 1,
      max: 10000,
      scale: 'log',
      value: 1e3 * live.options.budget_s,
      digits: 2,
      oninput: change('budget_s', (ms) => ms / 1e3),
    });
    const goal = slider({
      min: 1e-12,
      max: 1,
      scale: 'log',
      value: live.options.velocity_tolerance || 1e-5,
      digits: 2,
      oninput: change('velocity_tolerance'),
    });
    const relative = slider({
      min: 1e-14,
      max: 1e-1,
      scale: 'log',
      value: live.options.tolerance || 1e-8,
      digits: 2,
      oninput: change('tolerance'),
    });
    return h(
      'fieldset',
      null,
      h('legend', null, 'Method'),
      field('scheme', select(named(schemes), live.options.scheme, change('scheme'))),
      field('solver', select(named(tables.solvers), live.options.solver, choose)),
      about,
      field('friction', friction, 'the law itself (cone), or a model of it that the solver can take'),
      field('step dt', step, 'seconds'),
      field('iterations', budget, 'at most, per step'),
      field('milliseconds', pace, 'for the solves of a step, at most: a hard one then ends with the best so far'),
      field('tolerance', goal, 'on the judge’s residual, m/s'),
      live.options.tolerance > 0 ? field('relative', relative, 'tolerance on the residual over its norms; this scene asks for it') : null,
    );
  }

  // Every other option of the table, as it says what it is.
  #options() {
    const { live, tables } = this,
      set = (name, value) => this.#try(() => live.set({ [name]: value }));
    const control = (option) => {
      const { name, type, scale, choices } = option,
        now = live.options[name];
      if (choices) return select(choices, now, (value) => set(name, value));
      if (type === 'bool')
        return h('input', { type: 'checkbox', checked: now, onchange: (event) => set(name, event.target.checked) });
      return h('input.number', {
        type: 'text',
        inputMode: 'decimal',
        autocomplete: 'off',
        spellcheck: false,
        value: String(Number((now / scale).toPrecision(6))),
        onchange: (event) => set(name, Number(event.target.value) * scale),
      });
    };
    return h(
      'details.options',
      null,
      h('summary', null, 'All options'),
      tables.options
        .filter((option) => !shownAbove.includes(option.name))
        .map((option) =>
          field(
            labelOf(option.key),
            h('span.option', null, control(option), option.unit ? h('span.unit', null, option.unit) : null),
            `${option.key}: ${option.text}`,
          ),
        ),
    );
  }

  #physics() {
    const { live } = this,
      bodies = live.model.bodies;
    const own = h('input', { type: 'checkbox', checked: live.friction.mu === undefined });
    const mu = slider({
      min: 0,
      max: 1.5,
      value: live.friction.mu ?? 0.5,
      digits: 3,
      oninput: (x) => {
        own.checked = false;
        this.#try(() => live.setFriction({ mu: x }));
      },
    });
    mu.querySelector('input').id = 'mu';
    own.addEventListener('change', () =>
      this.#try(() => live.setFriction(own.checked ? { scale: 1 } : { mu: Number(mu.querySelector('.number').value) })),
    );
    const moving = bodies
      .map((body, index) => ({ value: String(index), label: body.name, body }))
      .filter(({ body }) => hasMassRatio(body));
    if (!moving.length) return h('fieldset', null, h('legend', null, 'Physics'), field('friction μ', mu));
    this.massBody = moving.reduce((best, x) => (x.body.mass > best.body.mass ? x : best)).value;
    this.massSlider = slider({
      min: 1e-3,
      max: 1e3,
      scale: 'log',
      value: live.masses.get(Number(this.massBody)) ?? 1,
      oninput: (x) => this.#try(() => live.setMassRatio(Number(this.massBody), x)),
    });
    this.massSelect = select(moving.slice(0, 400), this.massBody, (value) => this.chooseBody(Number(value)));
    return h(
      'fieldset',
      null,
      h('legend', null, 'Physics'),
      field('friction μ', mu, 'of every pair of bodies'),
      h('label.check', null, own, 'as the scene says'),
      field('mass of', this.massSelect),
      field('times', this.massSlider, 'of its own mass and inertia'),
    );
  }

  chooseBody(body) {
    if (!this.massSelect || !hasMassRatio(this.live.model.bodies[body])) return;
    this.massBody = String(body);
    this.massSelect.value = this.massBody;
    this.massSlider.setValue(this.live.masses.get(body) ?? 1);
  }

  // A slider for each of the first modes of a reduced body.
  #modes() {
    const { live } = this,
      reduced = live.model.bodies
        .map((body, index) => ({ value: String(index), label: body.name, modes: body.modes }))
        .filter(({ modes }) => modes > 0);
    if (!reduced.length) return null;
    const sliders = h('div.contents');
    const show = (value) => {
      const { modes } = reduced.find((body) => body.value === value);
      replace(
        sliders,
        Array.from({ length: Math.min(modes, MODES) }, (_, mode) =>
          field(
            `mode ${mode + 1}`,
            slider({
              min: -1,
              max: 1,
              value: 0,
              oninput: (x) => this.#try(() => this.actions.pose(() => live.setMode(Number(value), mode, x))),
            }),
          ),
        ),
      );
    };
    show(reduced[0].value);
    return h(
      'fieldset.modes',
      null,
      h('legend', null, 'Modes'),
      reduced.length > 1 ? field('of', select(reduced, reduced[0].value, show)) : null,
      h('p.hint', null, 'The shape along each mode, let go from there: 1 is a tenth of the body’s size.'),
      sliders,
    );
  }

  #freeze() {
    return h(
      'fieldset',
      null,
      h('legend', null, 'This step'),
      h('p.hint', null, 'Take the coming step’s contact problem out of the world.'),
      h(
        'div.buttons-row',
        null,
        h(
          'button.primary',
          { type: 'button', onclick: () => this.#try(() => this.actions.freeze()) },
          icon('flag'),
          'Freeze and race',
        ),
        h(
          'button',
          {
            type: 'button',
            title: 'a file that `tribo solve` reads',
            onclick: () => this.#try(() => this.actions.saveProblem()),
          },
          icon('download'),
          'Download',
        ),
      ),
    );
  }
}

// The last word of a key, but for `kind`, which says of what before it.
const labelOf = (key) => key.replace(/\.kind$/, '').replace(/^.*\./, '').replaceAll('_', ' ');

function spanOf(p) {
  const wide = p.low > 0 && p.high / p.low > 2000;
  return {
    min: p.low,
    max: Number.isFinite(p.high) ? p.high : Math.max(10 * p.value, 10),
    scale: wide ? 'log' : undefined,
  };
}
