// SPDX-License-Identifier: Apache-2.0
// Play, step, scrub, speed.
import { h, icon, iconButton, replace, select } from './dom.js';
import { fixed } from './format.js';
import { SPEEDS } from './player.js';

export class Transport {
  constructor(player, { onreset }) {
    this.player = player;
    this.playButton = h('button.play', { type: 'button', onclick: () => player.setPlaying(!player.playing) });
    this.range = h('input.scrub', {
      type: 'range',
      min: 0,
      max: 0,
      step: 1,
      'aria-label': 'time',
      oninput: () => {
        player.setPlaying(false);
        player.seek(Number(this.range.value));
      },
    });
    this.clock = h('output.clock');
    this.speed = select(
      SPEEDS.map((speed) => ({ value: String(speed), label: `${speed}×` })),
      '1',
      (value) => player.setSpeed(Number(value)),
    );
    this.speed.title = 'speed  , .';
    this.end = h(
      'button.to-live',
      {
        type: 'button',
        title: 'to the newest step  End',
        onclick: () => {
          player.seek(player.source.last);
          player.setPlaying(true);
        },
      },
      h('span.dot'),
      h('span', null, 'live'),
    );
    this.element = h(
      'div.transport',
      null,
      h(
        'div.buttons',
        null,
        iconButton('reset', 'start again  R', onreset),
        iconButton('back', 'one step back  ←', () => player.step(-1)),
        this.playButton,
        iconButton('forward', 'one step  →', () => player.step(1)),
      ),
      this.range,
      this.clock,
      this.speed,
      this.end,
    );
  }

  // What changes rarely.
  update() {
    const { player } = this;
    replace(this.playButton, icon(player.playing ? 'pause' : 'play'));
    this.playButton.title = player.playing ? 'pause  space' : 'play  space';
    this.playButton.setAttribute('aria-label', player.playing ? 'pause' : 'play');
    this.speed.value = String(player.speed);
    this.end.hidden = !player.source?.live;
  }

  // What changes with every picture.
  tick() {
    const { player } = this,
      { source } = player;
    if (!source) return;
    const index = player.index;
    if (Number(this.range.min) !== source.first) this.range.min = source.first;
    if (Number(this.range.max) !== source.last) this.range.max = source.last;
    this.range.value = index;
    const span = Math.max(source.last - source.first, 1);
    this.range.style.setProperty('--done', `${(100 * (index - source.first)) / span}%`);
    const frame = source.frame(index);
    this.clock.textContent = `${fixed(player.time, 2)} s`;
    this.clock.title = `step ${frame.step}`;
    this.end.classList.toggle('on', player.following);
  }
}
