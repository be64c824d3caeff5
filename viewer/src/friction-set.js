// SPDX-License-Identifier: Apache-2.0
// The friction set of the selected contact: all forces that friction can give there, at the scale of the arrows, so
// that the arrow of a contact that sticks ends inside and that of one that slips on the edge; and the way it slides.
import * as THREE from 'three';
import { CONTACT, splitForce } from './model.js';

const place = new THREE.Vector3(),
  along = new THREE.Vector3(),
  sideways = [0, 0, 0];

const over = (parameters) => ({ transparent: true, depthTest: false, depthWrite: false, ...parameters });

export class FrictionSet {
  constructor() {
    this.group = new THREE.Group();
    this.group.visible = false;
    this.area = new THREE.Mesh(
      new THREE.BufferGeometry(),
      new THREE.MeshBasicMaterial(over({ opacity: 0.22, side: THREE.DoubleSide })),
    );
    this.edge = new THREE.LineLoop(new THREE.BufferGeometry(), new THREE.LineBasicMaterial(over({ opacity: 0.95 })));
    this.way = new THREE.ArrowHelper(new THREE.Vector3(1, 0, 0), place, 1);
    for (const part of [this.way.line, this.way.cone]) Object.assign(part.material, over({ opacity: 0.95 }));
    for (const [order, part] of [this.area, this.edge, this.way.line, this.way.cone].entries()) {
      part.renderOrder = 13 + order;
      part.frustumCulled = false;
    }
    this.group.add(this.area, this.edge, this.way);
  }

  // contacts: what draws the arrows; it says which contact is selected, and the scale.
  show(frame, contacts, theme) {
    const { selected, unit, reference } = contacts,
      set = frame.set;
    const there = set && contacts.arrowsOn && selected >= 0 && selected < frame.contacts.length / CONTACT.stride;
    this.group.visible = Boolean(there);
    if (!there) return;
    const { normal } = splitForce(frame.contacts, selected, sideways),
      scale = (unit * 9 * Math.max(normal, 0)) / reference;
    place.fromArray(frame.contacts, selected * CONTACT.stride + CONTACT.position);
    this.#outline(set.edge, scale);
    this.area.material.color.set(theme.accent);
    this.edge.material.color.set(theme.accent);
    const speed = along.fromArray(set.velocity).length();
    this.way.visible = speed > 1e-4;
    if (!this.way.visible) return;
    this.way.position.copy(place);
    this.way.setDirection(along.divideScalar(speed));
    this.way.setLength(6 * unit, 1.6 * unit, 0.8 * unit);
    this.way.setColor(theme.joint);
  }

  #outline(edge, scale) {
    const count = edge.length / 3,
      points = new Float32Array(3 * (count + 1)),
      index = [];
    place.toArray(points, 0);
    for (let i = 0; i < count; i++) {
      for (let k = 0; k < 3; k++) points[3 * (i + 1) + k] = points[k] + scale * edge[3 * i + k];
      index.push(0, i + 1, ((i + 1) % count) + 1);
    }
    this.area.geometry.setAttribute('position', new THREE.BufferAttribute(points, 3));
    this.area.geometry.setIndex(index);
    this.edge.geometry.setAttribute('position', new THREE.BufferAttribute(points.slice(3), 3));
  }

  dispose() {
    for (const part of [this.area, this.edge]) {
      part.geometry.dispose();
      part.material.dispose();
    }
    this.way.dispose();
  }
}
