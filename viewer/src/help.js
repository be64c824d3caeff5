// SPDX-License-Identifier: Apache-2.0
// The keyboard: one table for what keys do and for the page that lists them.
import { h } from './dom.js';

// [keys, what they do, how]; `bench` is the workbench, `app` the rest.
const KEYS = [
  [[' '], 'play, pause', ({ bench }) => bench.player.setPlaying(!bench.player.playing)],
  [['ArrowRight'], 'one step', ({ bench }, event) => bench.player.step(event.shiftKey ? 10 : 1)],
  [['ArrowLeft'], 'one step back; with Shift: ten', ({ bench }, event) => bench.player.step(event.shiftKey ? -10 : -1)],
  [['Home'], 'to the start', ({ bench }) => bench.player.seek(bench.source.first)],
  [['End'], 'to the newest step', ({ bench }) => bench.player.seek(bench.source.last)],
  [[','], 'slower', ({ bench }) => bench.player.nudgeSpeed(-1)],
  [['.'], 'faster', ({ bench }) => bench.player.nudgeSpeed(1)],
  [['r'], 'start again', ({ bench }) => bench.reset()],
  [['c'], 'contacts', ({ bench }) => bench.toggle('contacts')],
  [['f'], 'forces', ({ bench }) => bench.toggle('forces')],
  [['h'], 'heat: penetration, residual, force, pressure on surfaces', ({ bench }) => bench.nextHeat()],
  [['j'], 'joints', ({ bench }) => bench.toggle('joints')],
  [['x'], 'see through bodies', ({ bench }) => bench.toggle('glass')],
  [['z'], 'look at everything', ({ bench }) => bench.frameAll()],
  [['p'], 'plots', ({ bench }) => bench.togglePlots()],
  [['i'], 'panel', ({ bench }) => bench.togglePanel()],
  [['e'], 'edit the scene', ({ bench }) => bench.source.live && bench.openTab('edit')],
  [['Escape'], 'select nothing', ({ bench }) => bench.select({ body: -1, contact: -1 })],
  [['g'], 'gallery', ({ app }) => app.go('gallery'), true],
  [['t'], 'dark, light', ({ app }) => app.toggleTheme(), true],
  [['?'], 'this list', ({ app }) => app.toggleHelp(), true],
];

const names = { ' ': 'space', ArrowRight: '→', ArrowLeft: '←', Escape: 'Esc' };

export function helpDialog() {
  const dialog = h(
    'dialog.help',
    { onclick: (event) => event.target === dialog && dialog.close() },
    h('h2', null, 'Keys'),
    h(
      'dl.keys',
      null,
      KEYS.flatMap(([keys, what]) => [
        h(
          'dt',
          null,
          keys.map((key) => h('kbd', null, names[key] ?? (key.length === 1 ? key.toUpperCase() : key))),
        ),
        h('dd', null, what),
      ]),
    ),
    h(
      'p.hint',
      null,
      'Drag the background to turn, scroll or pinch to come closer, drag with two fingers or the right button to move. Pull a body to drag it. Click a body or a contact to see its numbers.',
    ),
    h('button', { type: 'button', onclick: () => dialog.close() }, 'Close'),
  );
  return dialog;
}

export function listenToKeys(app) {
  window.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest('input:not([type=range]):not([type=checkbox]), textarea, select')) return;
    if (event.target.closest('button') && (event.key === ' ' || event.key === 'Enter')) return;
    const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const known = KEYS.find(([keys]) => keys.includes(pressed));
    if (!known) return;
    const [, , act, anywhere] = known,
      bench = app.page === 'scene' && app.bench?.source ? app.bench : null;
    if (!anywhere && !bench) return;
    event.preventDefault();
    act({ app, bench }, event);
  });
}
