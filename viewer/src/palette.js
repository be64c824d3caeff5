// SPDX-License-Identifier: Apache-2.0
// Colours of the view. Bodies are muted, so that contacts speak: blue holds, orange slides, grey is apart, which
// every common kind of colour vision tells apart (after Okabe and Ito); joints are purple.
import * as THREE from 'three';

export const themes = {
  light: {
    background: '#f3f4f6',
    ground: '#e9ebef',
    grid: '#8d96a5',
    fog: '#f3f4f6',
    sky: '#ffffff',
    earth: '#c9c3ba',
    fixed: '#b9bfc9',
    kinematic: '#8fa3bf',
    accent: '#2563eb',
    joint: '#a8408a',
    states: ['#8a919e', '#0072b2', '#e06c00'],
    bodies: ['#d9c7a7', '#a9bcd0', '#b7cbb2', '#d6ada0', '#bdb2d1', '#e3d9c8', '#9fb8b5'],
  },
  dark: {
    background: '#12151b',
    ground: '#1b1f27',
    grid: '#4a5363',
    fog: '#12151b',
    sky: '#d5deee',
    earth: '#4b4a52',
    fixed: '#5b6371',
    kinematic: '#5f7797',
    accent: '#6ea8ff',
    joint: '#e58cc8',
    states: ['#9aa3b2', '#45b2f0', '#ff9d2e'],
    bodies: ['#c9b48d', '#8fa9c4', '#9db996', '#c6978a', '#a79ac2', '#d2c6b0', '#86a6a2'],
  },
};

// Viridis, from nine of its colours.
const viridis = ['#440154', '#482878', '#3e4989', '#31688e', '#26828e', '#1f9e89', '#6ece58', '#b5de2b', '#fde725'].map(
  (hex) => new THREE.Color(hex),
);
export const viridisColors = viridis;
export const viridisCss = `linear-gradient(90deg, ${viridis.map((c) => `#${c.getHexString()}`).join(',')})`;

export function heatColor(x, out) {
  const t = Math.min(Math.max(x, 0), 1) * (viridis.length - 1);
  const i = Math.min(Math.floor(t), viridis.length - 2);
  return out.copy(viridis[i]).lerp(viridis[i + 1], t - i);
}

// Neighbours in order get different colours, and the same ones every time.
export function bodyColor(theme, body, index) {
  if (body.kind === 'fixed') return theme.fixed;
  if (body.kind === 'kinematic' || body.kind === 'animated') return theme.kinematic;
  if (body.kind === 'cloth') return theme.bodies[3];
  return theme.bodies[(index * 5 + (index >> 3) * 3) % theme.bodies.length];
}
