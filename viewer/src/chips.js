// SPDX-License-Identifier: Apache-2.0
// Choosing several solvers of the table.
import { h } from './dom.js';
import { lineColor } from './chart.js';

export const FAVOURITES = ['auto', 'bgs', 'nncg', 'prox-gs', 'newton-ac', 'admm', 'apgd', 'ipm'];

export class Chips {
  // refuses(name): null, or why it cannot be chosen.
  constructor(solvers, chosen, refuses, onchange) {
    this.solvers = solvers;
    this.chosen = chosen.filter((name) => !refuses(name));
    this.refuses = refuses;
    this.onchange = onchange;
    this.element = h('div.chips');
    this.#draw();
  }

  #draw() {
    this.element.replaceChildren(
      ...this.solvers.map(({ name, summary }) => {
        const why = this.refuses(name),
          place = this.chosen.indexOf(name);
        return h(
          'button.chip',
          {
            type: 'button',
            disabled: Boolean(why),
            title: why || summary,
            'aria-pressed': String(place >= 0),
            style: place >= 0 ? { '--chip': lineColor(place) } : {},
            dataset: { solver: name },
            onclick: () => this.#flip(name),
          },
          name,
        );
      }),
    );
  }

  #flip(name) {
    const place = this.chosen.indexOf(name);
    if (place >= 0) this.chosen.splice(place, 1);
    else this.chosen.push(name);
    this.#draw();
    this.onchange?.();
  }
}
