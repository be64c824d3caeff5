// A canvas that looks at one stage, or at several side by side through the same camera. Draws only when something
// changed.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';

export class View {
  constructor(host) {
    this.host = host;
    this.stages = [];
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
    const count = Math.max(this.stages.length, 1), wide = this.width / this.height;
    let columns = 1;
    while (columns < count && (columns + 1) * Math.ceil(count / (columns + 1)) <= columns * Math.ceil(count / columns) + columns &&
           this.width / (columns + 1) > 150 && columns / Math.ceil(count / columns) < wide / 1.1) columns++;
    return { columns, rows: Math.ceil(count / columns) };
  }

  setStages(stages) {
    this.stages = stages;
    this.#resize();
  }

  invalidate() {
    this.dirty = true;
  }

  #resize() {
    this.width = Math.max(this.host.clientWidth, 1);
    this.height = Math.max(this.host.clientHeight, 1);
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(this.width, this.height, false);
    this.onlayout?.();
    this.invalidate();
  }

  // Looks at the stage's bounds from a little above.
  frame(bounds, direction = [0.55, -1, 0.5], fill = 1) {
    const { columns, rows } = this.layout;
    const aspect = this.width / columns / (this.height / rows);
    const half = (this.camera.fov * Math.PI) / 360;
    const fit = Math.atan(Math.tan(half) * Math.min(1, aspect));
    const distance = (bounds.radius / Math.sin(fit)) * 0.98 * fill;
    this.controls.target.copy(bounds.center);
    this.camera.position.copy(bounds.center).add(new THREE.Vector3(...direction).normalize().multiplyScalar(distance));
    this.camera.near = bounds.radius / 200;
    this.camera.far = bounds.radius * 60;
    this.controls.minDistance = bounds.radius / 30;
    this.controls.maxDistance = bounds.radius * 12;
    this.controls.update();
    this.invalidate();
  }

  // A ray through a place on the canvas, in pixels.
  ray(x, y) {
    const { columns, rows } = this.layout, w = this.width / columns, hgt = this.height / rows;
    const tile = { x: ((x % w) / w) * 2 - 1, y: 1 - ((y % hgt) / hgt) * 2 };
    this.raycaster.setFromCamera(new THREE.Vector2(tile.x, tile.y), this.camera);
    return this.raycaster;
  }

  render() {
    this.controls.update();
    if (!this.dirty || !this.stages.length) return;
    this.dirty = false;
    const { columns, rows } = this.layout;
    const w = Math.floor(this.width / columns), hgt = Math.floor(this.height / rows);
    this.camera.aspect = w / hgt;
    this.camera.updateProjectionMatrix();
    this.renderer.setScissorTest(true);
    this.stages.forEach((stage, i) => {
      const x = (i % columns) * w, y = this.height - (Math.floor(i / columns) + 1) * hgt;
      this.renderer.setViewport(x, y, w, hgt);
      this.renderer.setScissor(x, y, w, hgt);
      this.renderer.setClearColor(stage.scene.background);
      this.renderer.clear();
      if (stage.model) this.renderer.render(stage.scene, this.camera);
    });
  }

  dispose() {
    this.controls.dispose();
    this.renderer.dispose();
    this.canvas.remove();
  }
}
