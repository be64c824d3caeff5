// SPDX-License-Identifier: Apache-2.0
// Dark and light: as the system says, until the switch says otherwise.
import { themes } from './palette.js';

const listeners = new Set();
const system = window.matchMedia('(prefers-color-scheme: dark)');

const stored = () => {
  try {
    return localStorage.getItem('tribo-theme');
  } catch {
    return null; // a page from disk may be denied storage
  }
};

export const themeName = () => document.documentElement.dataset.theme;
export const theme = () => themes[themeName()];

function apply() {
  document.documentElement.dataset.theme =
    stored() || document.documentElement.dataset.chosen || (system.matches ? 'dark' : 'light');
  for (const listener of listeners) listener(theme());
}

export function toggleTheme() {
  const next = themeName() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.chosen = next;
  try {
    localStorage.setItem('tribo-theme', next);
  } catch {
    // it lasts as long as the page then
  }
  apply();
}

export function onTheme(listener) {
  listeners.add(listener);
  listener(theme());
  return () => listeners.delete(listener);
}

system.addEventListener('change', apply);
apply();

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
