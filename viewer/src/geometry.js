// SPDX-License-Identifier: Apache-2.0
// Shapes of Tribo as triangles of three.js. Bodies that look alike share one geometry, told by its key.
import * as THREE from 'three';
import { RoundedBoxGeometry } from 'three/addons/geometries/RoundedBoxGeometry.js';
import { ConvexGeometry } from 'three/addons/geometries/ConvexGeometry.js';
import { toCreasedNormals } from 'three/addons/utils/BufferGeometryUtils.js';

const crease = (35 * Math.PI) / 180;
const meshKeys = new WeakMap(); // vertices → key
let meshCount = 0;

const upright = (geometry) => geometry.rotateX(Math.PI / 2); // three.js builds along y, Tribo along z

function triangles(vertices, indices) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(Float32Array.from(vertices), 3));
  geometry.setIndex(Array.from(indices));
  return indices.length < 150000 ? toCreasedNormals(geometry, crease) : (geometry.computeVertexNormals(), geometry);
}

function hull(vertices) {
  const points = [];
  for (let i = 0; i < vertices.length; i += 3)
    points.push(new THREE.Vector3(vertices[i], vertices[i + 1], vertices[i + 2]));
  return toCreasedNormals(new ConvexGeometry(points), crease);
}

function meshKey(vertices) {
  if (!meshKeys.has(vertices)) meshKeys.set(vertices, `mesh ${meshCount++}`);
  return meshKeys.get(vertices);
}

// { key, scale: [x, y, z], striped, make() } of a shape; null for planes, which are ground and no solid. Round
// shapes are striped, so that one sees them roll. detail: 0, 1, 2; many bodies are drawn with fewer triangles each.
export function describe(shape, detail = 2) {
  const one = [1, 1, 1],
    around = [16, 24, 40][detail],
    along = [8, 14, 24][detail];
  switch (shape.type) {
    case 'sphere':
      return {
        key: 'sphere',
        striped: true,
        scale: [shape.radius, shape.radius, shape.radius],
        make: () => upright(new THREE.SphereGeometry(1, around, along)),
      };
    case 'box': {
      const [x, y, z] = shape.size;
      const bevel = 0.035 * Math.min(x, y, z);
      return {
        key: `box ${x} ${y} ${z}`,
        scale: one,
        make: () => (detail ? new RoundedBoxGeometry(x, y, z, 1, bevel) : new THREE.BoxGeometry(x, y, z)),
      };
    }
    case 'capsule':
      return {
        key: `capsule ${shape.radius} ${shape.length}`,
        striped: true,
        scale: one,
        make: () => upright(new THREE.CapsuleGeometry(shape.radius, shape.length, along >> 2, around)),
      };
    case 'cylinder':
      return {
        key: 'cylinder',
        striped: true,
        scale: [shape.radius, shape.radius, shape.length],
        make: () => upright(new THREE.CylinderGeometry(1, 1, 1, around)),
      };
    case 'convex':
      return {
        key: meshKey(shape.vertices),
        scale: one,
        make: () => (shape.triangles?.length ? triangles(shape.vertices, shape.triangles) : hull(shape.vertices)),
      };
    case 'mesh':
    case 'sdf':
      return { key: meshKey(shape.vertices), scale: one, make: () => triangles(shape.vertices, shape.triangles) };
    default:
      return null;
  }
}

// How far a shape reaches from its body's origin; 0 for planes.
export function reach(shape) {
  const at = Math.hypot(...(shape.position || [0, 0, 0]));
  switch (shape.type) {
    case 'sphere':
      return at + shape.radius;
    case 'box':
      return at + Math.hypot(...shape.size) / 2;
    case 'capsule':
      return at + shape.radius + shape.length / 2;
    case 'cylinder':
      return at + Math.hypot(shape.radius, shape.length / 2);
    case 'plane':
      return 0;
    default: {
      let far = 0;
      for (let i = 0; i < shape.vertices.length; i += 3)
        far = Math.max(far, Math.hypot(shape.vertices[i], shape.vertices[i + 1], shape.vertices[i + 2]));
      return at + far;
    }
  }
}

// Two shades in eight sectors: multiplies the colour of round bodies.
let stripes = null;
export function stripesTexture() {
  if (stripes) return stripes;
  const canvas = document.createElement('canvas');
  canvas.width = 256;
  canvas.height = 128;
  const pen = canvas.getContext('2d');
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, 256, 128);
  pen.fillStyle = '#d9dbe0';
  for (let i = 0; i < 4; i++) pen.fillRect(i * 64, i % 2 ? 64 : 0, 64, 64);
  stripes = new THREE.CanvasTexture(canvas);
  stripes.colorSpace = THREE.SRGBColorSpace;
  stripes.anisotropy = 4;
  return stripes;
}
