// SPDX-License-Identifier: Apache-2.0
// Building elements, and nothing else of a framework.

// h('button.primary', { onclick: f, title: '…' }, 'text', child, [children])
export function h(tag, props, ...children) {
  const [name, ...classes] = tag.split('.');
  const element = document.createElement(name || 'div');
  if (classes.length) element.className = classes.join(' ');
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'dataset') Object.assign(element.dataset, value);
    else if (key === 'style') for (const [name, to] of Object.entries(value)) element.style.setProperty(name, to);
    else if (key === 'html') element.innerHTML = value;
    else if (key in element && key !== 'list' && key !== 'form') element[key] = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function replace(element, ...children) {
  element.replaceChildren(
    ...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

const paths = {
  play: '<path d="M7 4.5v15l12-7.5z" fill="currentColor" stroke="none"/>',
  pause: '<path d="M7 5h3.5v14H7zM13.5 5H17v14h-3.5z" fill="currentColor" stroke="none"/>',
  forward: '<path d="M6 5v14l9-7zM17 5v14" />',
  back: '<path d="M18 5v14l-9-7zM7 5v14" />',
  reset: '<path d="M4 4v6h6M4.6 10A8 8 0 1 1 4 13.5"/>',
  sun: '<circle cx="12" cy="12" r="4"/><path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M5.6 18.4 7 17M17 7l1.4-1.4"/>',
  moon: '<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z"/>',
  help: '<circle cx="12" cy="12" r="9"/><path d="M9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M12 17h.01"/>',
  contact: '<ellipse cx="12" cy="16" rx="8" ry="3"/><path d="M12 15V4M9 7l3-3 3 3"/>',
  arrow: '<path d="M5 19 19 5M10 5h9v9"/>',
  heat: '<path d="M12 3c1 4 5 5.5 5 10a5 5 0 0 1-10 0c0-2 1-3.5 2-4.5 0 1.5.5 2.5 1.5 3C11 9 10.5 6 12 3z"/>',
  joint: '<circle cx="12" cy="12" r="3"/><path d="M3.5 18.5 9.6 14M20.5 18.5 14.4 14M12 9V3"/>',
  glass: '<path d="M12 3 4 7.5v9L12 21l8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9"/>',
  frame: '<path d="M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5"/>',
  chart: '<path d="M4 4v16h16M7 15l4-5 3 3 5-7"/>',
  panel: '<rect x="3" y="4" width="18" height="16" rx="2"/><path d="M15 4v16"/>',
  snow: '<path d="M12 3v18M4.2 7.5l15.6 9M19.8 7.5l-15.6 9"/>',
  download: '<path d="M12 4v11M7 10.5l5 5 5-5M5 20h14"/>',
  close: '<path d="M6 6l12 12M18 6 6 18"/>',
  flag: '<path d="M5 21V4M5 5h13l-3 4 3 4H5"/>',
  file: '<path d="M6 3h8l4 4v14H6zM14 3v4h4"/>',
  check: '<path d="M5 12.5 10 17.5 19 7"/>',
};

export function icon(name) {
  const span = document.createElement('span');
  span.className = 'icon';
  span.setAttribute('aria-hidden', 'true');
  span.innerHTML = `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">${paths[name] || ''}</svg>`;
  return span;
}

export function iconButton(name, title, onclick, extra) {
  return h('button.icon-button', { title, 'aria-label': title, type: 'button', onclick, ...extra }, icon(name));
}

// A row: label, control.
export const field = (label, control, hint) =>
  h('label.field', { title: hint }, h('span.field-label', null, label), control);

export const select = (options, value, onchange) =>
  h(
    'select',
    { onchange: (event) => onchange(event.target.value) },
    options.map((option) =>
      h(
        'option',
        { value: option.value ?? option, selected: (option.value ?? option) === value, title: option.title },
        option.label ?? option,
      ),
    ),
  );

// 1e-6 rather than 0.000001, which no box has room for.
function brief(x, digits) {
  const short = Number(x.toPrecision(digits));
  return short !== 0 && Math.abs(short) < 1e-4 ? short.toExponential() : String(short);
}

// A slider with its number beside it; `scale: 'log'` moves in powers of ten.
export function slider({ min, max, value, step, scale, digits = 3, oninput }) {
  const log = scale === 'log';
  const to = (x) => (log ? Math.log10(x) : x),
    from = (x) => (log ? 10 ** x : x);
  const number = h('input.number', { type: 'text', inputMode: 'decimal', autocomplete: 'off', spellcheck: false });
  const range = h('input', { type: 'range', min: to(min), max: to(max), step: step ?? (to(max) - to(min)) / 200 });
  const show = (x) => {
    range.value = to(x);
    number.value = brief(x, digits);
  };
  range.addEventListener('input', () => {
    const x = Number(from(Number(range.value)).toPrecision(digits));
    number.value = brief(x, digits);
    oninput(x);
  });
  number.addEventListener('change', () => {
    const x = Number(number.value);
    if (!Number.isFinite(x)) return show(from(Number(range.value)));
    const inside = Math.min(Math.max(x, log ? Math.min(min, 1e-9) : min), log ? 1e9 : Math.max(max, x));
    show(inside);
    oninput(inside);
  });
  show(value);
  const element = h('span.slider', null, range, number);
  element.setValue = show;
  return element;
}
