// SPDX-License-Identifier: Apache-2.0
// Contact forces as pressure on surfaces. Each contact spreads its normal force over a disc around it,
//
//   p(x) = Σ f 3/(π r²) (1 − |x − c|²/r²)²        within the radius r
//
// whose integral over a flat surface is f. The sum is made where it is seen, by the shader of every body's material:
// rigid and deformable surfaces show it alike, whatever their triangles. Contacts that lie close together are taken
// as one, and of those the strongest.
import * as THREE from 'three';
import { viridisColors } from './palette.js';

const MOST = 96; // contacts that a shader sums over
const CLOSE = 0.35; // radii: contacts closer than this are one

export class Pressure {
  constructor() {
    this.uniforms = {
      pressureCount: { value: 0 },
      pressureAt: { value: Array.from({ length: MOST }, () => new THREE.Vector4()) },
      pressureRadius: { value: 1 },
      pressureTop: { value: 1 },
      pressureRamp: { value: viridisColors },
    };
  }

  // Lets the material show it.
  attach(material) {
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = shader.vertexShader
        .replace('#include <common>', '#include <common>\nvarying vec3 pressurePlace;')
        .replace('#include <project_vertex>', `${PLACE}\n#include <project_vertex>`);
      shader.fragmentShader = shader.fragmentShader
        .replace('#include <common>', `#include <common>\n${DECLARE}`)
        .replace('#include <color_fragment>', '#include <color_fragment>\nshowPressure(diffuseColor);');
    };
    material.customProgramCacheKey = () => 'pressure';
  }

  // contacts: [{ at: [x, y, z], force }], force in N; radius in m. Returns the largest pressure at a contact, Pa.
  set(contacts, radius) {
    const { pressureCount, pressureAt, pressureRadius, pressureTop } = this.uniforms;
    const spots = gather(contacts, CLOSE * radius).slice(0, MOST);
    spots.forEach((s, i) => pressureAt.value[i].set(...s.at, s.force));
    pressureCount.value = spots.length;
    pressureRadius.value = radius;
    let top = 0;
    for (const s of spots) top = Math.max(top, pressureOf(spots, s.at, radius));
    pressureTop.value = top || 1;
    return top;
  }

  clear() {
    this.uniforms.pressureCount.value = 0;
  }
}

// Contacts within `close` of a stronger one become part of it, at the centre of their forces; the strongest first.
export function gather(contacts, close) {
  const spots = [];
  for (const { at, force } of [...contacts].sort((a, b) => b.force - a.force)) {
    if (!(force > 0)) continue;
    const near = spots.find((s) => Math.hypot(...s.at.map((x, k) => x - at[k])) < close);
    if (!near) {
      spots.push({ at: [...at], force });
      continue;
    }
    const share = force / (near.force + force);
    near.at = near.at.map((x, k) => x + share * (at[k] - x));
    near.force += force;
  }
  return spots.sort((a, b) => b.force - a.force);
}

export function pressureOf(spots, x, radius) {
  let sum = 0;
  for (const { at, force } of spots) {
    const d = Math.hypot(...at.map((c, k) => c - x[k])) / radius;
    if (d < 1) sum += ((3 * force) / (Math.PI * radius * radius)) * (1 - d * d) ** 2;
  }
  return sum;
}

const PLACE = `
  vec4 pressureWorld = vec4(transformed, 1.0);
  #ifdef USE_INSTANCING
    pressureWorld = instanceMatrix * pressureWorld;
  #endif
  pressurePlace = (modelMatrix * pressureWorld).xyz;`;

const DECLARE = `
  varying vec3 pressurePlace;
  uniform int pressureCount;
  uniform vec4 pressureAt[${MOST}];
  uniform float pressureRadius, pressureTop;
  uniform vec3 pressureRamp[9];
  void showPressure(inout vec4 shown) {
    if (pressureCount == 0) return;
    float sum = 0.0;
    for (int i = 0; i < pressureCount; i++) {
      vec3 d = (pressurePlace - pressureAt[i].xyz) / pressureRadius;
      float near = max(0.0, 1.0 - dot(d, d));
      sum += pressureAt[i].w * near * near;
    }
    float t = clamp(sum * 3.0 / (3.14159265 * pressureRadius * pressureRadius * pressureTop), 0.0, 1.0);
    float at = t * 8.0;
    int k = int(min(floor(at), 7.0));
    shown.rgb = mix(shown.rgb, mix(pressureRamp[k], pressureRamp[k + 1], at - float(k)), smoothstep(0.0, 0.08, t));
  }`;
