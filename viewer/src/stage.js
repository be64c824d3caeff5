// SPDX-License-Identifier: Apache-2.0
// One world as a three.js scene: bodies, ground, contacts, light. Views look at stages; a stage knows no camera.
import * as THREE from 'three';
import { Bodies, Outline } from './bodies.js';
import { Contacts } from './contacts.js';
import { FrictionSet } from './friction-set.js';
import { Ground } from './ground.js';
import { Joints, anchorOf } from './joints.js';
import { reach } from './geometry.js';
import { CONTACT, isDeformable, isMoving, mixPoses } from './model.js';
import { themes } from './palette.js';

export class Stage {
  constructor() {
    this.scene = new THREE.Scene();
    this.theme = themes.light;
    this.look = { contacts: true, forces: true, joints: true, glass: false, heat: 'none' };
    this.contacts = new Contacts();
    this.friction = new FrictionSet();
    this.joints = new Joints();
    this.outline = new Outline();
    this.sky = new THREE.HemisphereLight('#fff', '#888', 1.5);
    this.sun = new THREE.DirectionalLight('#fff4e6', 2.2);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 5;
    this.sun.shadow.bias = -0.0008;
    this.scene.add(this.sky, this.sun, this.sun.target);
    this.selected = -1;
  }

  setModel(model, frame) {
    this.clear();
    this.model = model;
    this.bodies = new Bodies(model);
    this.painted = null; // the theme that the bodies show
    this.poses = new Float32Array(7 * model.bodies.length);
    this.measure(frame);
    this.ground = new Ground(model, frame, this.bounds);
    this.contacts.unit = this.bounds.unit;
    this.contacts.fresh = true;
    this.joints.setModel(model, this.bounds.unit);
    this.scene.add(this.ground.group, this.bodies.group, this.joints.group, this.contacts.group, this.friction.group, this.outline.group);
    this.#light();
    this.setTheme(this.theme);
    this.setLook({});
    this.select(-1);
    this.show(frame);
  }

  // A ball around what moves, the size of a contact's mark beside it, and from where to look: one body alone wants more
  // room around it than many.
  measure(frame) {
    const box = new THREE.Box3(),
      wide = new THREE.Box3(),
      point = new THREE.Vector3(),
      sizes = [],
      balls = [],
      still = [];
    this.model.bodies.forEach((body, index) => {
      if (isDeformable(body)) return;
      const far = Math.max(0, ...body.shapes.map(reach));
      if (!far) return;
      point.fromArray(frame.poses, 7 * index);
      wide.expandByPoint(point.clone().addScalar(far)).expandByPoint(point.clone().addScalar(-far));
      if (!isMoving(body)) return void still.push({ center: point.clone(), radius: far });
      box.expandByPoint(point.clone().addScalar(0.7 * far)).expandByPoint(point.clone().addScalar(-0.7 * far));
      sizes.push(far);
      balls.push({ center: point.clone(), radius: far });
    });
    for (let i = 0; frame.nodes && i < frame.nodes.length; i += 3) {
      box.expandByPoint(point.fromArray(frame.nodes, i));
      if (i % 30 === 0) balls.push({ center: point.clone(), radius: 0 });
    }
    const chosen = box.isEmpty() ? wide : box;
    const ball = chosen.isEmpty()
      ? new THREE.Sphere(new THREE.Vector3(), 1)
      : chosen.getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(ball.radius, 1e-6);
    for (const joint of this.model.joints ?? [])
      for (const end of ['a', 'b'])
        balls.push({ center: anchorOf(frame.poses, joint, end, new THREE.Vector3()), radius: 0 });
    sizes.sort((a, b) => a - b);
    const typical = sizes.length ? sizes[sizes.length >> 1] : 0.3 * radius;
    for (const near of still)
      if (near.radius <= 1.6 * radius && near.center.distanceTo(ball.center) < 2.5 * radius) balls.push(near);
    if (!balls.length) balls.push({ center: ball.center, radius });
    this.bounds = {
      center: ball.center,
      radius,
      balls,
      direction: this.#side(frame),
      room: (frame.nodes ? 0.25 : 0) + 0.6 / balls.length,
      unit: Math.min(0.11 * typical, 0.03 * radius),
    };
  }

  // Where to look from: a little from the right and above; at a slope from its side, so that one sees it is one.
  #side(frame) {
    const normal = new THREE.Vector3(),
      turn = new THREE.Quaternion();
    for (const [index, body] of this.model.bodies.entries())
      for (const shape of body.shapes || []) {
        if (shape.type !== 'plane') continue;
        const [w, x, y, z] = frame.poses.subarray(7 * index + 3, 7 * index + 7);
        normal
          .set(...shape.normal)
          .normalize()
          .applyQuaternion(turn.set(x, y, z, w));
        const slope = Math.hypot(normal.x, normal.y);
        if (normal.z < 0.2 || slope < 0.05) continue;
        const across = [normal.y / slope, -normal.x / slope];
        return [across[0] + (0.35 * normal.x) / slope, across[1] + (0.35 * normal.y) / slope, 0.28];
      }
    return [0.55, -1, 0.5];
  }

  #light() {
    const { center, radius } = this.bounds,
      reachOfLight = 2.2 * radius;
    this.sun.target.position.copy(center);
    this.sun.position.copy(center).add(new THREE.Vector3(-0.45, -0.75, 1.5).multiplyScalar(3 * radius));
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -reachOfLight;
    camera.right = camera.top = reachOfLight;
    camera.near = 0.1 * radius;
    camera.far = 12 * radius;
    camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.008 * radius;
    this.scene.fog = new THREE.Fog(this.theme.fog, 9 * radius, 34 * radius);
  }

  setShadows(size) {
    this.sun.shadow.mapSize.set(size, size);
    this.sun.shadow.map?.dispose();
    this.sun.shadow.map = null;
  }

  setTheme(theme) {
    this.theme = theme;
    const dark = theme === themes.dark;
    this.scene.background = new THREE.Color(theme.background);
    if (this.scene.fog) this.scene.fog.color.set(theme.fog);
    this.sky.color.set(theme.sky);
    this.sky.groundColor.set(theme.earth);
    this.sky.intensity = dark ? 1.75 : 2.0;
    this.sun.intensity = dark ? 2.3 : 2.1;
    this.outline.material.color.set(theme.accent);
    this.ground?.paint(theme);
    this.joints.paint(theme);
    this.#recolor();
  }

  // { contacts, forces, joints, glass, heat }: what is drawn, and what colours mean: none, penetration, residual, force or pressure.
  setLook(look) {
    Object.assign(this.look, look);
    this.contacts.discsOn = this.look.contacts && this.look.heat !== 'pressure'; // they would cover it
    this.contacts.arrowsOn = this.look.forces && this.look.heat !== 'pressure';
    this.joints.group.visible = this.look.joints;
    if (this.frame) this.joints.place(this.poses);
    this.bodies?.setGlass(this.look.glass);
    if (this.frame) this.#recolor();
  }

  select(body, contact = -1) {
    this.selected = body;
    this.contacts.selected = contact;
    this.outline.follow(this.bodies, body);
    this.painted = null;
    if (this.frame) this.#recolor();
  }

  // Shows frame a, or what lies between a and b.
  show(a, b = null, alpha = 0) {
    mixPoses(a.poses, b?.poses, alpha, this.poses);
    this.bodies.place(this.poses, alpha > 0.5 && b?.nodes ? b.nodes : a.nodes);
    this.ground.place(this.poses);
    this.outline.place();
    this.joints.place(this.poses);
    if (a === this.frame) return;
    this.frame = a;
    this.#recolor();
  }

  #recolor() {
    if (!this.bodies || !this.frame) return;
    const pressed = this.look.heat === 'pressure',
      heat = pressed ? null : this.#heat();
    if (pressed) this.heatTop = this.#press();
    else this.bodies.pressure.clear();
    this.contacts.show(this.frame.contacts, this.theme, heat?.contacts);
    this.friction.show(this.frame, this.contacts, this.theme);
    if (heat || this.painted !== this.theme) this.bodies.paint(this.theme, heat?.bodies, this.selected);
    this.painted = heat ? null : this.theme;
  }

  // Heat of contacts and, as the largest of its contacts, of bodies: 0 … 1 up to the frame's largest value.
  #heat() {
    if (this.look.heat === 'none') {
      this.heatTop = null;
      return null;
    }
    const data = this.frame.contacts,
      count = data.length / CONTACT.stride;
    const contacts = new Float32Array(count),
      bodies = new Float32Array(this.model.bodies.length);
    let top = 0;
    for (let i = 0; i < count; i++) {
      contacts[i] = heatOf(data, i * CONTACT.stride, this.look.heat);
      top = Math.max(top, contacts[i]);
    }
    for (let i = 0; i < count; i++) {
      contacts[i] = share(contacts[i] / (top || 1), this.look.heat);
      for (const body of [data[i * CONTACT.stride + CONTACT.a], data[i * CONTACT.stride + CONTACT.b]])
        if (body >= 0) bodies[body] = Math.max(bodies[body], contacts[i]);
    }
    this.heatTop = top;
    return { contacts, bodies };
  }

  // Normal forces as pressure on the surfaces of all bodies. The largest, Pa.
  #press() {
    const data = this.frame.contacts,
      contacts = [];
    for (let c = 0; c < data.length; c += CONTACT.stride) {
      const at = [...data.subarray(c + CONTACT.position, c + CONTACT.position + 3)];
      let force = 0;
      for (let k = 0; k < 3; k++) force += data[c + CONTACT.force + k] * data[c + CONTACT.normal + k];
      contacts.push({ at, force });
    }
    return this.bodies.pressure.set(contacts, SPREAD * this.bounds.unit);
  }

  // Before a picture is taken from there.
  prepare(camera) {
    if (!this.look.glass) this.bodies?.cutaway.update(camera, this.poses);
  }

  clear() {
    this.frame = null;
    this.bodies?.dispose();
    this.ground?.dispose();
    for (const part of [this.ground?.group, this.bodies?.group, this.joints.group, this.contacts.group, this.friction.group, this.outline.group])
      if (part) this.scene.remove(part);
    this.bodies = this.ground = null;
  }

  dispose() {
    this.clear();
    this.contacts.dispose();
    this.friction.dispose();
    this.joints.dispose();
    this.sun.shadow.map?.dispose();
  }
}

const SPREAD = 6; // discs of contacts: the radius that a force is spread over

// Residuals go by powers of ten, two of them.
const share = (x, kind) => (kind === 'residual' ? Math.max(0, 1 + 0.5 * Math.log10(x)) : x);

function heatOf(data, c, kind) {
  if (kind === 'penetration') return Math.max(0, -data[c + CONTACT.gap]);
  if (kind === 'residual') return data[c + CONTACT.residual] || 0;
  return Math.hypot(data[c + CONTACT.force], data[c + CONTACT.force + 1], data[c + CONTACT.force + 2]);
}
