// SPDX-License-Identifier: Apache-2.0
// Joints as glyphs: where they hold, and along what they let go. A ball is a ball; a hinge a pin along its axis; a slider
// a rail with a carriage; a weld a diamond; a distance joint a rod between its anchors. They are drawn over the bodies,
// for anchors lie inside them.
import * as THREE from 'three';
import { readPose } from './bodies.js';
import { reach } from './geometry.js';

const a = new THREE.Vector3(),
  b = new THREE.Vector3(),
  axis = new THREE.Vector3(),
  from = new THREE.Vector3(),
  to = new THREE.Vector3(),
  size = new THREE.Vector3();
const pose = new THREE.Matrix4(),
  matrix = new THREE.Matrix4(),
  turn = new THREE.Quaternion(),
  zAxis = new THREE.Vector3(0, 0, 1);

// How many pieces of each kind a type is made of.
const PIECES = {
  ball: { balls: 1 },
  hinge: { bars: 1, balls: 1 },
  slider: { bars: 1, balls: 2, diamonds: 1 },
  weld: { diamonds: 1 },
  distance: { bars: 1, balls: 2 },
};

const geometries = {
  balls: () => new THREE.SphereGeometry(1, 20, 14),
  bars: () => new THREE.CylinderGeometry(1, 1, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5),
  diamonds: () => new THREE.OctahedronGeometry(1),
};

// Where a joint holds one of its bodies ('a' or 'b'), in the world; `pose` is then that body's.
export function anchorOf(poses, joint, end, out) {
  if (joint[end] < 0) pose.identity();
  else readPose(poses, joint[end], pose);
  return out.fromArray(joint[`anchor_${end}`]).applyMatrix4(pose);
}

// As large as suits the smaller of its bodies.
function unitOf(model, joint, least) {
  const sizes = [joint.a, joint.b]
    .filter((body) => body >= 0)
    .map((body) => Math.max(0, ...model.bodies[body].shapes.map(reach)))
    .filter((size) => size > 0);
  return Math.max(least, sizes.length ? 0.05 * Math.min(...sizes) : 0);
}

export class Joints {
  constructor() {
    this.group = new THREE.Group();
    this.joints = [];
    this.material = new THREE.MeshBasicMaterial({
      transparent: true,
      opacity: 0.8,
      depthTest: false,
      depthWrite: false,
    });
  }

  setModel(model, unit) {
    this.dispose();
    this.joints = (model.joints ?? []).filter((joint) => PIECES[joint.type]);
    this.units = this.joints.map((joint) => unitOf(model, joint, unit));
    this.meshes = {};
    for (const kind of Object.keys(geometries)) {
      const count = this.joints.reduce((sum, joint) => sum + (PIECES[joint.type][kind] ?? 0), 0);
      if (!count) continue;
      const mesh = new THREE.InstancedMesh(geometries[kind](), this.material, count);
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.renderOrder = 9; // below the contacts
      this.meshes[kind] = mesh;
      this.group.add(mesh);
    }
  }

  get count() {
    return this.joints.length;
  }

  paint(theme) {
    this.material.color.set(theme.joint);
  }

  place(poses) {
    if (!this.joints.length || !this.group.visible) return;
    this.next = { balls: 0, bars: 0, diamonds: 0 };
    this.joints.forEach((joint, i) => {
      this.unit = this.units[i];
      anchorOf(poses, joint, 'b', b);
      anchorOf(poses, joint, 'a', a);
      if (joint.axis) axis.fromArray(joint.axis).transformDirection(pose);
      this[joint.type](joint);
    });
    for (const mesh of Object.values(this.meshes)) mesh.instanceMatrix.needsUpdate = true;
  }

  #put(kind, place, width, length = width) {
    matrix.compose(place, turn, size.set(width, width, length));
    this.meshes[kind].setMatrixAt(this.next[kind]++, matrix);
  }

  #ball(place, radius) {
    turn.identity();
    this.#put('balls', place, radius * this.unit);
  }

  #bar(start, end, radius) {
    axis.copy(end).sub(start);
    const length = axis.length();
    turn.setFromUnitVectors(zAxis, axis.divideScalar(length || 1));
    this.#put('bars', start, radius * this.unit, length);
  }

  #along(place, amount, out) {
    return out.copy(place).addScaledVector(axis, amount);
  }

  ball() {
    this.#ball(b, 1.1);
  }

  hinge() {
    this.#along(b, -4 * this.unit, from);
    this.#along(b, 4 * this.unit, to);
    this.#bar(from, to, 0.45);
    this.#ball(b, 0.95);
  }

  // The rail goes from one limit to the other; without them, some way to both sides.
  slider(joint) {
    const reach = 6 * this.unit + a.distanceTo(b),
      [low, high] = joint.limits ?? [null, null];
    this.#along(a, low ?? -reach, from);
    this.#along(a, high ?? reach, to);
    this.#bar(from, to, 0.3);
    this.#ball(from, 0.55);
    this.#ball(to, 0.55);
    turn.identity();
    this.#put('diamonds', b, 1.5 * this.unit);
  }

  weld() {
    turn.identity();
    this.#put('diamonds', b, 1.4 * this.unit);
  }

  distance() {
    this.#bar(a, b, 0.25);
    this.#ball(a, 0.7);
    this.#ball(b, 0.7);
  }

  dispose() {
    for (const mesh of this.group.children) {
      mesh.geometry.dispose();
      mesh.dispose();
    }
    this.group.clear();
  }
}
