// SPDX-License-Identifier: Apache-2.0
// The scene as text. A text that is refused changes nothing: its message stands below, and the cursor at the place.
import { h } from './dom.js';

export class Editor {
  // run(text, keep): a promise that is refused with { message, line, column }.
  constructor(run) {
    this.run = run;
    this.gutter = h('pre.gutter', { 'aria-hidden': 'true' });
    this.text = h('textarea', {
      spellcheck: false,
      wrap: 'off',
      autocomplete: 'off',
      'aria-label': 'scene as JSON',
      oninput: () => this.#number(),
      onscroll: () => {
        this.gutter.scrollTop = this.text.scrollTop;
      },
    });
    this.text.setAttribute('autocapitalize', 'off');
    this.text.addEventListener('keydown', (event) => this.#keys(event));
    this.message = h('p.message', { role: 'status' });
    this.keep = h('input', { type: 'checkbox' });
    this.element = h(
      'div.editor',
      null,
      h('div.editor-text', null, this.gutter, this.text),
      this.message,
      h(
        'div.buttons-row',
        null,
        h('button.primary', { type: 'button', title: 'Ctrl Enter', onclick: () => this.apply() }, 'Run this scene'),
        h('label.check', { title: 'bodies of the same name go on from where they are' }, this.keep, 'keep poses'),
      ),
    );
  }

  setText(text) {
    this.text.value = text;
    this.#say('', '');
    this.#number();
  }

  #number(wrong = 0) {
    const lines = this.text.value.split('\n').length;
    this.gutter.replaceChildren(
      ...Array.from({ length: lines }, (_, i) => h(i + 1 === wrong ? 'span.wrong' : 'span', null, `${i + 1}\n`)),
    );
  }

  #keys(event) {
    event.stopPropagation();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.apply();
    } else if (event.key === 'Tab' && !event.shiftKey) {
      event.preventDefault();
      this.text.setRangeText('  ', this.text.selectionStart, this.text.selectionEnd, 'end');
      this.#number();
    } else if (event.key === 'Escape') this.text.blur();
  }

  #say(kind, words) {
    this.message.className = `message ${kind}`;
    this.message.textContent = words;
  }

  async apply() {
    this.#say('busy', 'Reading…');
    try {
      await this.run(this.text.value, this.keep.checked);
      this.#number();
      this.#say('good', 'Running.');
    } catch (error) {
      const place = /:(\d+):(\d+):/.exec(error.message) || [];
      const line = error.line ?? Number(place[1] || 0),
        column = error.column ?? Number(place[2] || 0);
      this.#number(line);
      this.#say('bad', error.message);
      if (line) this.#goTo(line, column);
    }
  }

  #goTo(line, column) {
    const lines = this.text.value.split('\n');
    const at = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + Math.max(column - 1, 0);
    this.text.focus();
    this.text.setSelectionRange(at, at + 1);
    const height = parseFloat(getComputedStyle(this.text).lineHeight) || 18;
    this.text.scrollTop = Math.max(0, (line - 5) * height);
  }
}
