// Every solver against every law and model, and every scheme: the engine's own tables, nothing written by hand.
import { h } from './dom.js';

const has = (solver, key, name) => {
  const list = solver[key];
  return Array.isArray(list) ? list.includes(name) : Boolean(list?.[name]);
};

const cell = (yes, title) => h(`td.cell${yes ? '.yes' : '.no'}`, { title }, yes ? '●' : '·');

export function methodsPage(tables) {
  const { solvers, laws, models, schemes } = tables;
  const nameOf = (x) => x.name ?? x;
  const head = h(
    'thead',
    null,
    h(
      'tr',
      null,
      h('th'),
      h('th.group', { colSpan: models.length }, 'models'),
      h('th.group', { colSpan: laws.length }, 'laws'),
      h('th.group', { colSpan: 2 }, 'needs'),
    ),
    h(
      'tr',
      null,
      h('th.left', null, 'solver'),
      models.map((m) => h('th.up', { title: m.summary }, h('span', null, nameOf(m)))),
      laws.map((l) => h('th.up', { title: l.summary }, h('span', null, nameOf(l)))),
      h('th', null, 'W'),
      h('th', null, 'A, J'),
    ),
  );
  const rows = solvers.map((s) =>
    h(
      'tr',
      null,
      h(
        'th.left',
        { scope: 'row' },
        h('strong', null, s.name),
        h('span.summary', null, s.summary),
        h('span.reference', null, s.reference),
      ),
      models.map((m) => cell(has(s, 'models', nameOf(m)), `${s.name}, ${nameOf(m)}`)),
      laws.map((l) => cell(has(s, 'laws', nameOf(l)), `${s.name}, ${nameOf(l)}`)),
      h('td.form', null, String(s.form ?? '')),
      cell(Boolean(s.metric), 'works on A and J themselves'),
    ),
  );
  const list = (title, items) => [
    h('h2', null, title),
    h(
      'dl.list',
      null,
      items.flatMap((x) => [
        h('dt', null, x.name),
        h('dd', null, x.summary, x.reference ? h('span.reference', null, x.reference) : null),
      ]),
    ),
  ];
  return h(
    'section.methods',
    null,
    h('h1', null, 'Methods'),
    h(
      'p.lead',
      null,
      `${solvers.length} solvers, ${laws.length} laws, ${models.length} models of friction, ${schemes.length} time-stepping schemes. A solver takes a problem if it knows all its laws, under a model of friction that it knows. Tribo ${tables.version ?? ''}.`,
    ),
    h('div.table-wrap', null, h('table.matrix', null, head, h('tbody', null, rows))),
    h('div.columns', null, h('div', null, list('Schemes', schemes)), h('div', null, list('Laws', laws))),
  );
}
