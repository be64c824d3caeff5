// SPDX-License-Identifier: Apache-2.0
// Walls in the way of the view become glass: a fixed shape fades while it hides a good part of what moves.
import * as THREE from 'three';
import { isMoving } from './model.js';

const SAMPLES = 24,
  HIDDEN = 0.08,
  GLASS = 0.1;
const eye = new THREE.Vector3(),
  goal = new THREE.Vector3(),
  inverse = new THREE.Matrix4(),
  matrix = new THREE.Matrix4();

// Does the segment from a to b meet the box? Slabs, one axis after the other.
function blocks(box, a, b) {
  let from = 0,
    to = 0.999;
  for (const axis of ['x', 'y', 'z']) {
    const d = b[axis] - a[axis];
    if (Math.abs(d) < 1e-12) {
      if (a[axis] < box.min[axis] || a[axis] > box.max[axis]) return false;
      continue;
    }
    const t0 = (box.min[axis] - a[axis]) / d,
      t1 = (box.max[axis] - a[axis]) / d;
    from = Math.max(from, Math.min(t0, t1));
    to = Math.min(to, Math.max(t0, t1));
    if (from > to) return false;
  }
  return true;
}

export class Cutaway {
  // walls: instanced meshes of one instance each.
  constructor(model, walls) {
    this.walls = walls;
    const moving = model.bodies.map((body, i) => (isMoving(body) ? i : -1)).filter((i) => i >= 0);
    const by = Math.max(1, moving.length / SAMPLES);
    this.samples = Array.from({ length: Math.min(SAMPLES, moving.length) }, (_, k) => moving[Math.floor(k * by)]);
    for (const mesh of walls) mesh.geometry.computeBoundingBox();
  }

  update(camera, poses) {
    for (const mesh of this.walls) {
      mesh.getMatrixAt(0, matrix);
      inverse.copy(matrix).invert();
      eye.copy(camera.position).applyMatrix4(inverse);
      let hidden = 0;
      for (const body of this.samples) {
        goal.fromArray(poses, 7 * body).applyMatrix4(inverse);
        if (blocks(mesh.geometry.boundingBox, eye, goal)) hidden++;
      }
      this.#glass(mesh, hidden > HIDDEN * this.samples.length);
    }
  }

  #glass(mesh, on) {
    if (mesh.userData.glass === on) return;
    mesh.userData.glass = on;
    mesh.material.transparent = on;
    mesh.material.opacity = on ? GLASS : 1;
    mesh.material.depthWrite = !on;
    mesh.material.needsUpdate = true;
  }
}
