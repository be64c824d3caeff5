// SPDX-License-Identifier: Apache-2.0
// The line from a held point of a body to the pointer.
import * as THREE from 'three';

export class Tether {
  constructor() {
    this.geometry = new THREE.BufferGeometry().setAttribute(
      'position',
      new THREE.BufferAttribute(new Float32Array(6), 3),
    );
    this.line = new THREE.Line(this.geometry, new THREE.LineBasicMaterial({ depthTest: false, transparent: true }));
    this.knob = new THREE.Mesh(
      new THREE.SphereGeometry(1, 16, 12),
      new THREE.MeshBasicMaterial({ depthTest: false, transparent: true }),
    );
    this.group = new THREE.Group();
    this.group.add(this.line, this.knob);
    for (const part of this.group.children) {
      part.renderOrder = 20;
      part.frustumCulled = false;
    }
    this.group.visible = false;
  }

  show(from, to, size, color) {
    this.group.visible = true;
    this.geometry.attributes.position.array.set([...from, ...to]);
    this.geometry.attributes.position.needsUpdate = true;
    this.knob.position.set(...to);
    this.knob.scale.setScalar(size);
    this.line.material.color.set(color);
    this.knob.material.color.set(color);
  }

  hide() {
    this.group.visible = false;
  }
}
