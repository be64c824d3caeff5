// SPDX-License-Identifier: Apache-2.0
// What lies over the view: the name of the scene, the certificate of the step, what colours mean, and what to draw.
import { h, iconButton, replace } from './dom.js';
import { number } from './format.js';
import { certificate } from './certificate.js';
import { SCALAR } from './model.js';
import { viridisCss } from './palette.js';

export const HEATS = ['none', 'penetration', 'residual', 'force', 'pressure'];

export class Hud {
  // actions: { toggle(name), nextHeat(), frame(), plots(), panel(), interrupt() }
  constructor(actions) {
    this.actions = actions;
    this.title = h('h2');
    this.badge = h('span.badge');
    this.rate = h('span.rate');
    this.about = h('p.about');
    this.legend = h('div.legend');
    this.waitingText = h('span');
    this.waiting = h(
      'div.waiting',
      { hidden: true },
      h('div.spinner'),
      this.waitingText,
      h('button', { type: 'button', onclick: () => actions.interrupt() }, 'Stop'),
    );
    const tool = (name, title, key, act) => iconButton(name, `${title}  ${key}`, act);
    this.tools = {
      contacts: tool('contact', 'contacts', 'C', () => actions.toggle('contacts')),
      forces: tool('arrow', 'forces', 'F', () => actions.toggle('forces')),
      heat: tool('heat', 'heat', 'H', () => actions.nextHeat()),
      joints: tool('joint', 'joints', 'J', () => actions.toggle('joints')),
      glass: tool('glass', 'see through bodies', 'X', () => actions.toggle('glass')),
      frame: tool('frame', 'look at everything', 'Z', () => actions.frame()),
      plots: tool('chart', 'plots', 'P', () => actions.plots()),
      panel: tool('panel', 'panel', 'I', () => actions.panel()),
    };
    this.element = h(
      'div.hud',
      null,
      h('div.hud-title', null, this.title, h('div.hud-line', null, this.badge, this.rate), this.about),
      h('div.tools', { role: 'toolbar' }, Object.values(this.tools)),
      this.legend,
      this.waiting,
    );
  }

  setTitle(title, about) {
    this.title.textContent = title;
    this.about.textContent = about || '';
  }

  // Tools for what the scene has not are not there.
  setModel(model) {
    this.tools.joints.hidden = !(this.jointed = Boolean(model.joints?.length));
    this.heatShown = undefined;
  }

  // A step that takes long says so, and can be stopped.
  wait(seconds, step) {
    this.waiting.hidden = !seconds;
    if (seconds) this.waitingText.textContent = `step ${step}: ${seconds.toFixed(0)} s so far`;
  }

  setLook(look) {
    for (const name of ['contacts', 'forces', 'joints', 'glass']) this.tools[name].setAttribute('aria-pressed', look[name]);
    this.tools.heat.setAttribute('aria-pressed', look.heat !== 'none');
    this.look = { ...look };
    this.heatShown = undefined;
  }

  // The judge's word on a frame.
  tick(frame, tolerances, player, heatTop) {
    const contacts = frame.scalars[SCALAR.contacts],
      { good, judged, text } = certificate(frame.scalars, tolerances);
    const word = judged ? `${good ? '✓' : '!'} residual ${text}` : text;
    this.badge.className = `badge ${good || !contacts ? 'good' : judged ? 'poor' : ''}`;
    this.badge.textContent = contacts ? word : '✓ nothing touches';
    this.badge.title = good ? 'the judge confirms the tolerance' : judged ? 'the judge finds the tolerance missed' : 'the judge looks at some of the steps only';
    const slow = player.playing && player.source.live && player.rate < 0.9 * player.speed;
    this.rate.textContent = [
      frame.used,
      contacts ? `${number(frame.scalars[SCALAR.iterations])} iterations` : '',
      `${contacts} contacts`,
      slow ? `${number(player.rate, 2)}× real time` : '',
    ]
      .filter(Boolean)
      .join(' · ');
    this.#legend(heatTop);
  }

  #legend(top) {
    const { look } = this,
      key = look.heat === 'none' ? `${look.contacts}${look.forces}${look.joints}` : `${look.heat}${number(top, 2)}`;
    if (key === this.heatShown) return;
    this.heatShown = key;
    if (look.heat !== 'none') {
      const unit = { penetration: ' m', force: ' N', residual: '', pressure: ' Pa' }[look.heat];
      replace(
        this.legend,
        h('span', null, look.heat),
        h('span', null, look.heat === 'residual' && top > 0 ? `≤ ${number(top / 100, 2)}` : '0'),
        h('span.ramp', { style: { background: viridisCss } }),
        h('span', null, `${number(top || 0, 2)}${unit}`),
      );
    } else {
      const shown = look.contacts || look.forces ? ['stick', 'slip', 'open'] : [];
      if (this.jointed && look.joints) shown.push('joint');
      replace(
        this.legend,
        shown.map((what) => h(`span.key.${what}`, null, what)),
      );
    }
  }
}
