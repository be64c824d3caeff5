// SPDX-License-Identifier: Apache-2.0
// The bodies of a model: one instanced mesh per geometry for rigid ones, one mesh each for deformable ones.
import * as THREE from 'three';
import { Cutaway } from './cutaway.js';
import { describe, stripesTexture } from './geometry.js';
import { bodyColor, heatColor } from './palette.js';
import { isDeformable, isOpen, nodeOffsets } from './model.js';
import { Pressure } from './pressure.js';

const MOST_WALLS = 64;
const poseMatrix = new THREE.Matrix4(),
  worldMatrix = new THREE.Matrix4();
const position = new THREE.Vector3(),
  rotation = new THREE.Quaternion(),
  one = new THREE.Vector3(1, 1, 1);
const color = new THREE.Color(),
  accent = new THREE.Color();

export function readPose(poses, body, out) {
  const i = 7 * body;
  position.set(poses[i], poses[i + 1], poses[i + 2]);
  rotation.set(poses[i + 4], poses[i + 5], poses[i + 6], poses[i + 3]);
  return out.compose(position, rotation, one);
}

function localMatrix(shape, scale) {
  const q = shape.orientation || [1, 0, 0, 0],
    p = shape.position || [0, 0, 0];
  return new THREE.Matrix4().compose(
    new THREE.Vector3(...p),
    new THREE.Quaternion(q[1], q[2], q[3], q[0]),
    new THREE.Vector3(...scale),
  );
}

export class Bodies {
  constructor(model) {
    this.model = model;
    this.group = new THREE.Group();
    this.batches = []; // { mesh, bodies: [index], locals: [Matrix4] }
    this.soft = []; // { mesh, body, first }
    this.materials = [];
    this.pressure = new Pressure();
    this.shapesOf = model.bodies.map(() => []); // per body: { batch, instance }
    this.#buildRigid();
    this.#buildSoft();
    this.cutaway = new Cutaway(
      model,
      this.batches.filter((batch) => batch.wall).map((batch) => batch.mesh),
    );
  }

  #material(options) {
    const material = new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0, ...options });
    this.materials.push(material);
    this.pressure.attach(material);
    return material;
  }

  #buildRigid() {
    const byKey = new Map(),
      count = this.model.bodies.length,
      detail = count < 150 ? 2 : count < 500 ? 1 : 0;
    let walls = 0;
    this.model.bodies.forEach((body, index) => {
      if (isDeformable(body)) return;
      for (const shape of body.shapes) {
        const look = describe(shape, detail);
        if (!look) continue;
        const wall = body.kind === 'fixed' && walls++ < MOST_WALLS,
          key = wall ? `wall ${walls}` : look.key; // a wall fades by itself
        if (!byKey.has(key)) byKey.set(key, { look, wall, bodies: [], locals: [] });
        const batch = byKey.get(key);
        batch.bodies.push(index);
        batch.locals.push(localMatrix(shape, look.scale));
      }
    });
    for (const { look, wall, bodies, locals } of byKey.values()) {
      const material = this.#material(look.striped ? { map: stripesTexture() } : {});
      const mesh = new THREE.InstancedMesh(look.make(), material, bodies.length);
      mesh.castShadow = !wall;
      mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      const batch = { mesh, bodies, locals, wall };
      mesh.userData.batch = batch;
      bodies.forEach((body, instance) => this.shapesOf[body].push({ batch, instance }));
      this.batches.push(batch);
      this.group.add(mesh);
    }
  }

  #buildSoft() {
    const offsets = nodeOffsets(this.model);
    this.model.bodies.forEach((body, index) => {
      if (!isDeformable(body)) return;
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * body.nodeCount), 3));
      geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(body.triangles), 1));
      const material = this.#material({
        side: isOpen(body) ? THREE.DoubleSide : THREE.FrontSide,
        roughness: 0.8,
      });
      const mesh = new THREE.Mesh(geometry, material);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      mesh.userData.body = index;
      this.soft.push({ mesh, body: index, first: offsets[index] });
      this.group.add(mesh);
    });
  }

  // Puts everything in its place. nodes may be null when the model has no deformable body.
  place(poses, nodes) {
    for (const { mesh, bodies, locals } of this.batches) {
      for (let i = 0; i < bodies.length; i++) {
        readPose(poses, bodies[i], poseMatrix);
        worldMatrix.multiplyMatrices(poseMatrix, locals[i]);
        worldMatrix.toArray(mesh.instanceMatrix.array, 16 * i);
      }
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null; // else picking looks where the bodies were
    }
    for (const { mesh, first } of this.soft) {
      if (!nodes) continue;
      const target = mesh.geometry.attributes.position;
      target.array.set(nodes.subarray(3 * first, 3 * first + target.array.length));
      target.needsUpdate = true;
      mesh.geometry.computeVertexNormals();
      mesh.geometry.boundingSphere = null;
    }
  }

  // heat: null, or one number 0 … 1 per body. The one that is selected leans towards the accent.
  paint(theme, heat, selected = -1) {
    for (const { mesh, bodies } of this.batches) {
      for (let i = 0; i < bodies.length; i++) mesh.setColorAt(i, this.#colorOf(theme, bodies[i], heat, selected));
      mesh.instanceColor.needsUpdate = true;
    }
    for (const { mesh, body } of this.soft) mesh.material.color.copy(this.#colorOf(theme, body, heat, selected));
  }

  #colorOf(theme, index, heat, selected) {
    const body = this.model.bodies[index];
    if (heat && body.kind !== 'fixed') return heatColor(heat[index], color);
    color.set(bodyColor(theme, body, index));
    return index === selected ? color.lerp(accent.set(theme.accent), 0.55) : color;
  }

  // Translucent bodies show the contacts between them.
  setGlass(on) {
    for (const { mesh } of this.batches) mesh.userData.glass = undefined; // walls decide anew
    for (const material of this.materials) {
      material.transparent = on;
      material.opacity = on ? 0.28 : 1;
      material.depthWrite = !on;
      material.needsUpdate = true;
    }
  }

  // The first body on a ray: { body, point }, or null.
  pick(raycaster) {
    const solid = this.group.children.filter((mesh) => !mesh.userData.glass);
    const hit = raycaster.intersectObjects(solid, false)[0];
    if (!hit) return null;
    const body = hit.object.userData.batch
      ? hit.object.userData.batch.bodies[hit.instanceId]
      : hit.object.userData.body;
    return { body, point: hit.point };
  }

  dispose() {
    for (const { mesh } of [...this.batches, ...this.soft]) mesh.geometry.dispose();
    for (const { mesh } of this.batches) mesh.dispose();
    for (const material of this.materials) material.dispose();
  }
}

// The outline of one body: its own triangles, turned inside out and grown by a constant width on the screen.
export class Outline {
  constructor() {
    this.group = new THREE.Group();
    this.material = new THREE.MeshBasicMaterial({ side: THREE.BackSide });
    this.material.onBeforeCompile = (shader) => {
      shader.vertexShader = shader.vertexShader.replace(
        '#include <project_vertex>',
        `#include <project_vertex>
        vec4 grown = projectionMatrix * modelViewMatrix * vec4(transformed + normalize(position + vec3(1e-9)), 1.0);
        vec2 away = grown.xy / grown.w - gl_Position.xy / gl_Position.w;
        gl_Position.xy += 0.006 * normalize(away + vec2(1e-9)) * gl_Position.w;`,
      );
    };
  }

  follow(bodies, index) {
    this.group.clear();
    if (!bodies || index < 0) return;
    for (const { batch, instance } of bodies.shapesOf[index]) {
      const mesh = new THREE.Mesh(batch.mesh.geometry, this.material);
      mesh.matrixAutoUpdate = false;
      mesh.frustumCulled = false;
      mesh.userData = { batch, instance };
      this.group.add(mesh);
    }
    for (const { mesh, body } of bodies.soft) {
      if (body !== index) continue;
      const copy = new THREE.Mesh(mesh.geometry, this.material);
      copy.frustumCulled = false;
      this.group.add(copy);
    }
    this.place();
  }

  place() {
    for (const mesh of this.group.children) {
      if (!mesh.userData.batch) continue;
      mesh.matrix.fromArray(mesh.userData.batch.mesh.instanceMatrix.array, 16 * mesh.userData.instance);
      mesh.matrixWorldNeedsUpdate = true;
    }
  }
}
