// SPDX-License-Identifier: Apache-2.0
// Planes: a disc that fades into the background, with a grid of round numbers of metres.
import * as THREE from 'three';
import { readPose } from './bodies.js';

const vertexShader = `
  varying vec2 at;
  #include <common>
  #include <shadowmap_pars_vertex>
  void main() {
    at = position.xy;
    #include <beginnormal_vertex>
    #include <defaultnormal_vertex>
    #include <begin_vertex>
    #include <project_vertex>
    #include <worldpos_vertex>
    #include <shadowmap_vertex>
  }`;

// Two grids, one ten times the other, with lines as wide as a pixel; and the shadow.
const fragmentShader = `
  uniform vec3 base, line;
  uniform float cell, radius;
  varying vec2 at;
  #include <common>
  #include <packing>
  #include <lights_pars_begin>
  #include <shadowmap_pars_fragment>
  #include <shadowmask_pars_fragment>
  float lines(vec2 p) {
    vec2 width = fwidth(p), near = abs(fract(p - 0.5) - 0.5) / max(width, vec2(1e-6));
    float thin = 1.0 - min(min(near.x, near.y), 1.0);
    return thin * (1.0 - smoothstep(0.15, 0.6, max(width.x, width.y)));
  }
  void main() {
    float fade = 1.0 - smoothstep(0.25, 1.0, length(at) / radius);
    float grid = max(0.22 * lines(at / cell), 0.5 * lines(at / (5.0 * cell)));
    vec3 color = mix(base, line, grid);
    color *= mix(0.62, 1.0, getShadowMask());
    gl_FragColor = vec4(color, fade);
    #include <colorspace_fragment>
  }`;

const roundDown = (x) => {
  const power = 10 ** Math.floor(Math.log10(x)),
    lead = x / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
};

export class Ground {
  constructor(model, frame, bounds) {
    this.group = new THREE.Group();
    this.discs = [];
    const radius = 14 * bounds.radius;
    model.bodies.forEach((body, index) => {
      for (const shape of body.shapes || []) if (shape.type === 'plane') this.#add(index, shape, radius, bounds, frame);
    });
  }

  #add(body, shape, radius, bounds, frame) {
    const uniforms = THREE.UniformsUtils.merge([
      THREE.UniformsLib.lights,
      {
        base: { value: new THREE.Color() },
        line: { value: new THREE.Color() },
        cell: { value: roundDown(bounds.radius / 4) },
        radius: { value: radius },
      },
    ]);
    const material = new THREE.ShaderMaterial({
      uniforms,
      vertexShader,
      fragmentShader,
      lights: true,
      transparent: true,
      side: THREE.FrontSide,
    });
    material.extensions = { derivatives: true };
    const mesh = new THREE.Mesh(new THREE.CircleGeometry(radius, 96), material);
    mesh.receiveShadow = true;
    mesh.renderOrder = -1;
    mesh.matrixAutoUpdate = false;
    // The disc is centred on the point of the plane below what moves, to a whole cell so that the grid stays put.
    const normal = new THREE.Vector3(...shape.normal).normalize();
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    const pose = readPose(frame.poses, body, new THREE.Matrix4());
    const center = bounds.center.clone().applyMatrix4(pose.clone().invert()).applyQuaternion(turn.clone().invert());
    const cell = 5 * uniforms.cell.value;
    const local = new THREE.Vector3(
      Math.round(center.x / cell) * cell,
      Math.round(center.y / cell) * cell,
      shape.offset || 0,
    );
    this.discs.push({
      mesh,
      body,
      local: new THREE.Matrix4().compose(local.applyQuaternion(turn), turn, new THREE.Vector3(1, 1, 1)),
    });
    this.group.add(mesh);
  }

  place(poses) {
    for (const { mesh, body, local } of this.discs) {
      readPose(poses, body, mesh.matrix).multiply(local);
      mesh.matrixWorldNeedsUpdate = true;
    }
  }

  paint(theme) {
    for (const { mesh } of this.discs) {
      mesh.material.uniforms.base.value.set(theme.ground);
      mesh.material.uniforms.line.value.set(theme.grid);
    }
  }

  dispose() {
    for (const { mesh } of this.discs) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
  }
}
