// SPDX-License-Identifier: Apache-2.0
// Contacts as discs, coloured by state or by heat, and their forces as arrows: normal and friction. They are drawn
// over the bodies, for the places where bodies touch are hidden by the bodies.
import * as THREE from 'three';
import { CONTACT, splitForce } from './model.js';
import { heatColor } from './palette.js';

const normal = new THREE.Vector3(),
  tip = new THREE.Vector3(),
  sideways = [0, 0, 0];
const place = new THREE.Vector3(),
  direction = new THREE.Vector3(),
  size = new THREE.Vector3();
const turn = new THREE.Quaternion(),
  matrix = new THREE.Matrix4(),
  color = new THREE.Color();
const zAxis = new THREE.Vector3(0, 0, 1),
  nothing = new THREE.Matrix4().makeScale(0, 0, 0);

function instanced(geometry, capacity, opacity, order) {
  const material = new THREE.MeshBasicMaterial({
    transparent: true,
    opacity,
    depthTest: false,
    depthWrite: false,
    side: THREE.DoubleSide,
  });
  const mesh = new THREE.InstancedMesh(geometry, material, capacity);
  mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
  mesh.frustumCulled = false;
  mesh.renderOrder = order;
  mesh.setColorAt(0, color.set('#fff'));
  mesh.count = 0;
  return mesh;
}

export class Contacts {
  constructor() {
    this.group = new THREE.Group();
    this.capacity = 0;
    this.unit = 0.1; // m: radius of a disc
    this.reference = 1; // N: the force whose arrow has `arrowLength`
    this.discsOn = this.arrowsOn = true;
    this.selected = -1;
  }

  #grow(count) {
    if (this.capacity && count <= this.capacity) return;
    this.dispose();
    this.group.clear();
    this.capacity = Math.max(64, 2 * count);
    this.discs = instanced(new THREE.CircleGeometry(1, 20), this.capacity, 0.78, 10);
    this.rims = instanced(new THREE.RingGeometry(0.86, 1.06, 20), this.capacity, 0.95, 11);
    const shaft = new THREE.CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    const head = new THREE.ConeGeometry(1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    this.shafts = instanced(shaft, 2 * this.capacity, 0.95, 12);
    this.heads = instanced(head, 2 * this.capacity, 0.95, 12);
    this.group.add(this.discs, this.rims, this.shafts, this.heads);
  }

  // data: Frame.contacts. heat: null, or a number 0 … 1 per contact.
  show(data, theme, heat) {
    const count = data.length / CONTACT.stride;
    this.#grow(count);
    this.#track(data, count);
    const states = theme.states;
    const arrows = { count: 0 };
    for (let i = 0; i < count; i++) {
      const c = i * CONTACT.stride;
      normal.fromArray(data, c + CONTACT.normal);
      place.fromArray(data, c + CONTACT.position);
      turn.setFromUnitVectors(zAxis, normal);
      const grow = this.unit * (i === this.selected ? 1.7 : 1);
      this.discs.setMatrixAt(i, matrix.compose(place, turn, size.set(grow, grow, grow)));
      this.rims.setMatrixAt(i, matrix);
      const state = data[c + CONTACT.state] | 0;
      if (heat) heatColor(heat[i], color);
      else color.set(states[state]);
      this.discs.setColorAt(i, color);
      this.rims.setColorAt(i, i === this.selected ? color.set(theme.accent) : color);
      if (!this.arrowsOn || state === 0) continue;
      const force = splitForce(data, i, sideways);
      this.#arrow(arrows, normal, force.normal, color.set(states[1]).lerp(white, 0.25));
      if (force.friction > 0)
        this.#arrow(
          arrows,
          direction.fromArray(sideways).divideScalar(force.friction),
          force.friction,
          color.set(states[2]),
        );
    }
    this.#finish(count, arrows.count);
  }

  #arrow(arrows, along, force, paint) {
    const length = (this.unit * 9 * force) / this.reference;
    if (!(length > 0.35 * this.unit)) return;
    const i = arrows.count++,
      width = this.unit * 0.16,
      head = Math.min(this.unit * 1.1, 0.5 * length);
    turn.setFromUnitVectors(zAxis, along);
    this.shafts.setMatrixAt(i, matrix.compose(place, turn, size.set(width, width, length - head)));
    this.shafts.setColorAt(i, paint);
    tip
      .copy(along)
      .multiplyScalar(length - head)
      .add(place);
    this.heads.setMatrixAt(i, matrix.compose(tip, turn, size.set(width * 2.6, width * 2.6, head)));
    this.heads.setColorAt(i, paint);
  }

  // Arrows keep their scale while a scene settles, and follow slowly when forces change.
  #track(data, count) {
    let largest = 0;
    for (let i = 0; i < count; i++) largest = Math.max(largest, splitForce(data, i, sideways).normal);
    if (largest <= 0) return;
    this.reference = this.fresh ? largest : this.reference + (largest - this.reference) * 0.08;
    this.fresh = false;
  }

  #finish(count, arrows) {
    this.discs.count = this.rims.count = this.discsOn ? count : 0;
    this.shafts.count = this.heads.count = this.arrowsOn ? arrows : 0;
    for (const mesh of this.group.children) {
      if (!mesh.count) {
        mesh.setMatrixAt(0, nothing);
        mesh.visible = false;
        continue;
      }
      mesh.visible = true;
      mesh.instanceMatrix.needsUpdate = true;
      mesh.instanceColor.needsUpdate = true;
    }
  }

  dispose() {
    for (const mesh of this.group.children) {
      mesh.geometry.dispose();
      mesh.material.dispose();
      mesh.dispose();
    }
  }
}

const white = new THREE.Color('#ffffff');

// The contact nearest to a place on the screen, within `radius` pixels; −1: none.
export function nearestContact(data, camera, x, y, width, height, radius) {
  let best = -1,
    closest = radius;
  for (let i = 0; i < data.length / CONTACT.stride; i++) {
    place.fromArray(data, i * CONTACT.stride + CONTACT.position).project(camera);
    if (place.z > 1) continue;
    const distance = Math.hypot((place.x * 0.5 + 0.5) * width - x, (0.5 - place.y * 0.5) * height - y);
    if (distance < closest) [best, closest] = [i, distance];
  }
  return best;
}
