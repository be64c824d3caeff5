// SPDX-License-Identifier: Apache-2.0
// Draws small pictures with one renderer of its own: one still after the other, or many of one scene.
import * as THREE from 'three';
import { Stage } from './stage.js';
import { theme } from './theme.js';
import { lookAt } from './view.js';

export const WIDTH = 400,
  HEIGHT = 260;

export class Photographer {
  constructor() {
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.setSize(WIDTH, HEIGHT, false);
    this.renderer.setPixelRatio(1);
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.camera = new THREE.PerspectiveCamera(32, WIDTH / HEIGHT, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
  }

  open(model, first) {
    this.stage?.dispose();
    this.stage = new Stage();
    this.stage.setShadows(512);
    this.stage.setTheme(theme());
    this.stage.setModel(model, first);
    this.stage.setLook({ contacts: false, forces: false });
  }

  draw(frame, canvas) {
    const { stage, camera } = this,
      pen = canvas.getContext('2d');
    stage.show(frame);
    lookAt(camera, stage.bounds, 1.12 + stage.bounds.room);
    stage.prepare(camera);
    this.renderer.render(stage.scene, camera);
    pen.clearRect(0, 0, WIDTH, HEIGHT);
    pen.drawImage(this.renderer.domElement, 0, 0);
  }

  take({ model, first, frame }, canvas) {
    this.open(model, first);
    this.draw(frame, canvas);
  }

  dispose() {
    this.stage?.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}

// The moment of a replay that stands for it.
export const still = (replay, source) => source.frame(source.indexAt(source.timeOf(source.last) * replay.moment));

// Plays a replay on its card, over and over, until the function it returns is called.
export function tease(replay, source, canvas) {
  const photographer = new Photographer(),
    began = performance.now(),
    length = source.timeOf(source.last) + 0.5; // it rests a moment at the end
  let going = true;
  photographer.open(source.model, source.frame(0));
  const beat = (now) => {
    if (!going) return;
    photographer.draw(source.frame(source.indexAt(((now - began) / 1000) % length)), canvas);
    requestAnimationFrame(beat);
  };
  requestAnimationFrame(beat);
  return () => {
    going = false;
    photographer.draw(still(replay, source), canvas);
    photographer.dispose();
  };
}
