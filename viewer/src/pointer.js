// SPDX-License-Identifier: Apache-2.0
// Pointing at the view: a click selects a contact or a body; pulling a body that moves drags it with a spring, in the
// plane that faces the camera; anything else turns the camera.
import * as THREE from 'three';
import { nearestContact } from './contacts.js';
import { isMoving } from './model.js';

const CLICK = 5; // px: less than this is no pull

export class Pointer {
  // host: { stage(), source(), canDrag(), onselect({ body, contact }), ondrag(kind, …) }
  constructor(view, host) {
    this.view = view;
    this.host = host;
    this.down = null;
    const canvas = view.canvas;
    canvas.addEventListener('pointerdown', (event) => this.#press(event), true);
    canvas.addEventListener('pointermove', (event) => this.#move(event), true);
    for (const name of ['pointerup', 'pointercancel'])
      canvas.addEventListener(name, (event) => this.#release(event), true);
  }

  #place(event) {
    const box = this.view.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #press(event) {
    if (!event.isPrimary || event.button !== 0) return;
    const stage = this.host.stage();
    if (!stage?.bodies) return;
    const [x, y] = this.#place(event),
      hit = stage.bodies.pick(this.view.ray(x, y));
    this.down = { x, y, hit, pulling: false };
    const body = hit && stage.model.bodies[hit.body];
    if (!body || !isMoving(body) || !this.host.canDrag()) return;
    this.down.draggable = true;
    this.view.controls.enabled = false;
    this.view.canvas.setPointerCapture(event.pointerId);
    const away = this.view.camera.getWorldDirection(new THREE.Vector3());
    this.down.plane = new THREE.Plane().setFromNormalAndCoplanarPoint(away, hit.point);
  }

  #move(event) {
    const [x, y] = this.#place(event),
      { down } = this;
    if (!down) return this.#hover(event, x, y);
    if (!down.draggable || !event.isPrimary) return;
    if (!down.pulling && Math.hypot(x - down.x, y - down.y) < CLICK) return;
    const target = this.view.ray(x, y).ray.intersectPlane(down.plane, new THREE.Vector3());
    if (!target) return;
    if (!down.pulling) this.host.ondrag('hold', down.hit.body, down.hit.point.toArray(), target.toArray());
    else this.host.ondrag('move', target.toArray());
    down.pulling = true;
  }

  #hover(event, x, y) {
    if (event.pointerType !== 'mouse' || event.buttons) return;
    const stage = this.host.stage();
    if (!stage?.bodies || stage.model.bodies.length > 1500) return;
    const hit = stage.bodies.pick(this.view.ray(x, y));
    const grab = hit && isMoving(stage.model.bodies[hit.body]) && this.host.canDrag();
    this.view.canvas.style.cursor = grab ? 'grab' : hit ? 'pointer' : '';
  }

  #release(event) {
    const { down } = this;
    if (!down || !event.isPrimary) return;
    this.down = null;
    this.view.controls.enabled = true;
    if (down.pulling) return this.host.ondrag('release');
    const [x, y] = this.#place(event);
    if (event.type !== 'pointerup' || Math.hypot(x - down.x, y - down.y) >= CLICK) return;
    const stage = this.host.stage(),
      near = event.pointerType === 'mouse' ? 9 : 16;
    const contact =
      stage.look.contacts && stage.frame
        ? nearestContact(stage.frame.contacts, this.view.camera, x, y, this.view.width, this.view.height, near)
        : -1;
    this.host.onselect({ contact, body: contact < 0 && down.hit ? down.hit.body : -1 });
  }
}
