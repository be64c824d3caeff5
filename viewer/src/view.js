// SPDX-License-Identifier: Apache-2.0
// A canvas that looks at one stage, or at several side by side through the same camera. Draws only when something
// changed.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';

// Places a camera so that every ball of the bounds is in the picture, as near as that allows; returns what it looks at.
// free: the part of the picture that nothing lies over: shares of its width and height, and how far, as shares of them,
// its middle is to the left of the picture's and below it.
export function lookAt(camera, bounds, room, free = { x: 1, y: 1, left: 0, down: 0 }) {
  const back = new THREE.Vector3(...bounds.direction).normalize();
  const right = new THREE.Vector3().crossVectors(camera.up, back).normalize(),
    up = new THREE.Vector3().crossVectors(back, right);
  const tanWhole = Math.tan((camera.fov * Math.PI) / 360),
    tanY = tanWhole * free.y,
    tanX = tanWhole * camera.aspect * free.x;
  const target = bounds.center.clone(),
    offset = new THREE.Vector3();
  let distance = 0;
  // Twice: the second time around the middle of what the first picture shows.
  for (let pass = 0; pass < 2; pass++) {
    const reach = { x: [0, 0], y: [0, 0] };
    distance = 0;
    for (const { center, radius } of bounds.balls) {
      offset.copy(center).sub(target);
      const x = offset.dot(right),
        y = offset.dot(up),
        near = offset.dot(back);
      const r = 0.92 * radius;
      distance = Math.max(distance, (Math.abs(x) + r) / tanX + near, (Math.abs(y) + r) / tanY + near);
      reach.x = [Math.min(reach.x[0], x - r), Math.max(reach.x[1], x + r)];
      reach.y = [Math.min(reach.y[0], y - r), Math.max(reach.y[1], y + r)];
    }
    if (pass === 0)
      target.addScaledVector(right, (reach.x[0] + reach.x[1]) / 2).addScaledVector(up, (reach.y[0] + reach.y[1]) / 2);
  }
  const whole = 2 * tanWhole * distance * room; // height of the picture there
  target.addScaledVector(up, free.down * whole).addScaledVector(right, free.left * camera.aspect * whole);
  camera.position.copy(target).addScaledVector(back, distance * room);
  camera.near = bounds.radius / 200;
  camera.far = bounds.radius * 60;
  camera.lookAt(target);
  camera.updateProjectionMatrix();
  return target;
}

export class View {
  // covered: pixels at the edges that something else lies over.
  constructor(host, covered = { left: 0, right: 0, above: 0, below: 0 }) {
    this.host = host;
    this.covered = covered;
    this.stages = [];
    this.quality = 1;
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: false, powerPreference: 'high-performance' });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.NoToneMapping;
    this.renderer.autoClear = false;
    this.canvas = this.renderer.domElement;
    this.canvas.className = 'view-canvas';
    this.canvas.tabIndex = 0;
    host.prepend(this.canvas);
    this.camera = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = Math.PI * 0.94;
    this.controls.addEventListener('change', () => this.invalidate());
    this.raycaster = new THREE.Raycaster();
    this.dirty = true;
    new ResizeObserver(() => this.#resize()).observe(host);
    this.#resize();
  }

  // The grid of tiles, for labels that lie over them: columns and rows.
  get layout() {
    const count = Math.max(this.stages.length, 1),
      wide = this.width / this.height;
    let columns = 1;
    while (
      columns < count &&
      (columns + 1) * Math.ceil(count / (columns + 1)) <= columns * Math.ceil(count / columns) + columns &&
      this.width / (columns + 1) > 150 &&
      columns / Math.ceil(count / columns) < wide / 1.1
    )
      columns++;
    return { columns, rows: Math.ceil(count / columns) };
  }

  setStages(stages) {
    this.stages = stages;
    this.#resize();
  }

  invalidate() {
    this.dirty = true;
  }

  // Machines that draw slowly get fewer pixels, then coarser shadows, rather than a slow page.
  #watch(now) {
    const elapsed = now - (this.drawnAt || now);
    this.drawnAt = now;
    this.slow = elapsed > 70 && elapsed < 2000 ? (this.slow || 0) + 1 : 0;
    if (this.slow < 8 || this.quality <= 0.5) return;
    this.slow = 0;
    this.quality *= 0.7;
    for (const stage of this.stages) stage.setShadows(this.quality < 0.6 ? 512 : 1024);
    this.#resize();
  }

  #resize() {
    this.width = Math.max(this.host.clientWidth, 1);
    this.height = Math.max(this.host.clientHeight, 1);
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2) * this.quality);
    this.renderer.setSize(this.width, this.height, false);
    this.onlayout?.();
    this.invalidate();
  }

  // Looks at everything that moves.
  frame(bounds) {
    const { columns, rows } = this.layout;
    this.camera.aspect = this.width / columns / (this.height / rows);
    const { left, right, above, below } = this.covered,
      tall = Math.min(1, this.height / 3 / (above + below || 1)); // never more than a third of it
    const target = lookAt(this.camera, bounds, 1.1 + bounds.room, {
      x: 1 - (left + right) / Math.max(this.width, 300),
      y: 1 - (tall * (above + below)) / this.height,
      left: (0.5 * (right - left)) / Math.max(this.width, 300),
      down: (0.5 * tall * (above - below)) / this.height,
    });
    this.controls.target.copy(target);
    this.controls.minDistance = bounds.radius / 30;
    this.controls.maxDistance = bounds.radius * 12;
    this.controls.update();
    this.invalidate();
  }

  // A ray through a place on the canvas, in pixels.
  ray(x, y) {
    const { columns, rows } = this.layout,
      w = this.width / columns,
      hgt = this.height / rows;
    const tile = { x: ((x % w) / w) * 2 - 1, y: 1 - ((y % hgt) / hgt) * 2 };
    this.raycaster.setFromCamera(new THREE.Vector2(tile.x, tile.y), this.camera);
    return this.raycaster;
  }

  render() {
    this.controls.update();
    if (!this.dirty || !this.stages.length) {
      this.drawnAt = 0;
      return;
    }
    this.dirty = false;
    this.#watch(performance.now());
    const { columns, rows } = this.layout;
    const w = Math.floor(this.width / columns),
      hgt = Math.floor(this.height / rows);
    this.camera.aspect = w / hgt;
    this.camera.updateProjectionMatrix();
    this.renderer.setScissorTest(true);
    this.stages.forEach((stage, i) => {
      const x = (i % columns) * w,
        y = this.height - (Math.floor(i / columns) + 1) * hgt;
      this.renderer.setViewport(x, y, w, hgt);
      this.renderer.setScissor(x, y, w, hgt);
      this.renderer.setClearColor(stage.scene.background);
      this.renderer.clear();
      if (!stage.model) return;
      stage.prepare(this.camera);
      this.renderer.render(stage.scene, this.camera);
    });
  }

  dispose() {
    this.controls.dispose();
    this.renderer.dispose();
    this.canvas.remove();
  }
}
