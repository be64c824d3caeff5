// SPDX-License-Identifier: Apache-2.0
// Where one is in time. A source is a replay or a live world: { first, last, frame(i), timeOf(i), indexAt(t), live }.

export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];

export class Player {
  constructor() {
    this.source = null;
    this.time = 0;
    this.playing = false;
    this.following = true; // at the front of a live world, and not in its past
    this.speed = 1;
    this.rate = 1; // simulated seconds per second, as it turned out
    this.onchange = () => {};
  }

  setSource(source, playing) {
    this.source = source;
    this.time = source ? source.timeOf(source.first) : 0;
    this.following = true;
    this.setPlaying(playing);
  }

  get index() {
    return this.source.indexAt(this.time);
  }

  setPlaying(playing) {
    if (playing && this.source && !this.source.live && this.index >= this.source.last)
      this.time = this.source.timeOf(this.source.first);
    this.playing = playing;
    this.onchange();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.onchange();
  }

  nudgeSpeed(by) {
    const at = SPEEDS.findIndex((speed) => speed >= this.speed - 1e-9);
    this.setSpeed(SPEEDS[Math.min(Math.max(at + by, 0), SPEEDS.length - 1)]);
  }

  seek(index) {
    const { source } = this;
    this.time = source.timeOf(Math.min(Math.max(index, source.first), source.last));
    this.following = index >= source.last;
    this.onchange();
  }

  seekTime(t) {
    this.seek(this.source.indexAt(t));
  }

  async step(by) {
    this.setPlaying(false);
    const { source } = this;
    if (source.live && this.index + by > source.last) await source.advance(this.index + by - source.last, 2000);
    if (source === this.source) this.seek(this.index + by);
  }

  // Called for every picture. True when what is shown has changed.
  tick(elapsed) {
    const { source } = this;
    if (!source) return false;
    const start = source.timeOf(source.first),
      end = source.timeOf(source.last),
      before = this.time;
    this.time = Math.max(this.time, start);
    if (!this.playing) return before !== this.time;
    const wanted = this.time + Math.min(elapsed, 0.25) * this.speed;
    if (source.live) {
      source.pump(wanted + 2 * source.options.dt);
      if (source.error) this.setPlaying(false);
    } else if (wanted >= end) {
      this.time = end;
      this.setPlaying(false);
      return true;
    }
    this.time = Math.min(wanted, end);
    if (this.time >= end - 1e-12) this.following = true;
    if (elapsed > 0) this.rate += ((this.time - before) / elapsed - this.rate) * Math.min(1, 2 * elapsed);
    return this.time !== before;
  }

  // The frames on both sides of now: [a, b, share of b].
  now() {
    const { source } = this,
      i = this.index,
      a = source.frame(i);
    if (i >= source.last) return [a, null, 0];
    const b = source.frame(i + 1);
    return [a, b, (this.time - a.time) / (b.time - a.time || 1)];
  }
}
