// SPDX-License-Identifier: Apache-2.0
// Every solver against every law, scheme and model: the engine's own tables, nothing written by hand. `tribo list matrix`
// prints the same.
import { h } from './dom.js';

// The first of these that a solver takes: friction exact, or as near as it comes.
export const MODELS = ['cone', 'polyhedral', 'box', 'ccp'];
export const modelOf = (solver) => MODELS.find((model) => solver.takes.coulomb.includes(model)) ?? 'cone';

const MARKS = { all: ['●', 'yes'], part: ['◐', 'part'], model: ['○', 'part'], none: ['·', 'no'] };
const cell = (mark, title) => h(`td.cell.${MARKS[mark][1]}`, { title }, MARKS[mark][0]);

// A group of columns: a line before its first.
const group = (cells) => {
  cells[0].classList.add('first');
  return cells;
};

function lawCell(solver, law) {
  const models = solver.takes[law.name];
  if (models.includes('cone')) return cell('all', `${solver.name} takes ${law.name} as it stands`);
  if (models.length) return cell('model', `${solver.name} takes ${law.name} only as ${models.join(', ')}`);
  return cell('none', `${solver.name} does not take ${law.name}`);
}

function schemeCell(solver, scheme) {
  const { exact, modelled, refused } = solver.fits[scheme.name];
  const words = [
    modelled.length ? `under another model of friction: ${modelled.join(', ')}` : '',
    refused.length ? `not: ${refused.join(', ')}` : '',
  ].filter(Boolean);
  const where = `${solver.name} under ${scheme.name}`;
  if (!words.length) return cell('all', `${where}: whatever a scene brings up`);
  return cell(exact.length ? 'part' : modelled.length ? 'model' : 'none', `${where}: ${words.join('; ')}`);
}

const worksOn = (solver) =>
  (solver.metric ? 'A and J' : `W, ${solver.form}${solver.products ? ' or products' : ''}`) +
  (solver.maxRows ? `, at most ${solver.maxRows} rows` : '');

function head({ laws, schemes, models }) {
  const up = (name, title) => h('th.up', { title }, h('span', null, name));
  return h(
    'thead',
    null,
    h(
      'tr',
      null,
      h('th'),
      h('th.group', { colSpan: laws.length }, 'laws'),
      h('th.group', { colSpan: schemes.length }, 'schemes'),
      h('th.group', { colSpan: models.length }, 'models'),
      h('th.group'),
    ),
    h(
      'tr',
      null,
      h('th.left', null, 'solver'),
      group(laws.map((l) => up(l.name, l.summary))),
      group(schemes.map((s) => up(s.name, s.summary))),
      group(models.map((m) => up(m, ''))),
      h('th.form.first', null, 'works on'),
    ),
  );
}

const row = (solver, { laws, schemes, models }) =>
  h(
    'tr',
    null,
    h(
      'th.left',
      { scope: 'row' },
      h('strong', null, solver.name),
      h('span.summary', null, solver.summary),
      h('span.reference', null, solver.reference),
    ),
    group(laws.map((law) => lawCell(solver, law))),
    group(schemes.map((scheme) => schemeCell(solver, scheme))),
    group(models.map((m) => cell(solver.models.includes(m) ? 'all' : 'none', `${solver.name}, ${m}`))),
    h('td.form.first', null, worksOn(solver)),
  );

// What a scheme moves, and what it leaves to the solver.
function schemeNote({ laws, impactLaws, deforms }) {
  const impacts = impactLaws.filter((law) => !laws.includes(law));
  return [
    deforms ? 'Rigid and deformable bodies.' : 'Rigid bodies.',
    `The solver sees ${laws.join(', ')}${impacts.length ? `; of impacts also ${impacts.join(', ')}` : ''}.`,
  ].join(' ');
}

const list = (title, items, note = () => null) => [
  h('h2', null, title),
  h(
    'dl.list',
    null,
    items.flatMap((x) => [
      h('dt', null, x.name),
      h(
        'dd',
        null,
        x.summary,
        note(x) ? h('span.note', null, note(x)) : null,
        x.reference ? h('span.reference', null, x.reference) : null,
      ),
    ]),
  ),
];

export function methodsPage(tables) {
  const { solvers, laws, models, schemes } = tables;
  return h(
    'section.methods',
    null,
    h('h1', null, 'Methods'),
    h(
      'p.lead',
      null,
      `${solvers.length} solvers, ${laws.length} laws, ${models.length} models of friction, ${schemes.length} time-stepping schemes, from the tables of Tribo ${tables.version ?? ''}. A solver takes a problem if it takes all its laws under the model of friction asked for.`,
    ),
    h(
      'div.table-wrap',
      null,
      h('table.matrix', null, head(tables), h('tbody', null, solvers.map((s) => row(s, tables)))),
    ),
    h(
      'p.marks',
      null,
      [
        ['●', 'as it stands; whatever a scene brings up under the scheme'],
        ['◐', 'some of it, or under another model of friction'],
        ['○', 'under another model of friction only'],
        ['·', 'not'],
      ].map(([mark, words]) => h('span', null, h('b', null, mark), words)),
    ),
    h('div.columns', null, h('div', null, list('Schemes', schemes, schemeNote)), h('div', null, list('Laws', laws))),
  );
}
