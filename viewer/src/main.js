// SPDX-License-Identifier: Apache-2.0
// The page: what is open, how one gets from one part to another, and the beat that drives all of them.
import './style.css';
import { Client, engineModule, keepFile, keepMesh } from './client.js';
import { download, fromBase64, gunzip } from './bytes.js';
import { Gallery } from './gallery.js';
import { h, iconButton, replace } from './dom.js';
import { helpDialog, listenToKeys } from './help.js';
import { methodsPage } from './methods.js';
import * as live from './live.js';
import { RacePage } from './race.js';
import { Replay, isReplay } from './replay.js';
import { Workbench } from './workbench.js';
import { onTheme, toggleTheme } from './theme.js';

const app = { page: null, bench: null, tables: null, replays: [], report: null, toggleTheme, download };
const main = document.getElementById('main');
const toast = h('div.toast', { role: 'status', hidden: true });
const help = helpDialog();
const cover = h('div.cover', { hidden: true });

app.say = (words) => {
  toast.textContent = words;
  toast.hidden = false;
  clearTimeout(app.toastTimer);
  app.toastTimer = setTimeout(() => {
    toast.hidden = true;
  }, 8000);
};
app.toggleHelp = () => (help.open ? help.close() : help.showModal());

// --- pages, named by the address: #gallery, #scene/NAME, #replay/NAME, #race, #methods

const PAGES = ['gallery', 'scene', 'race', 'methods'];
const pageOf = (name) => (name === 'replay' ? 'scene' : PAGES.includes(name) ? name : 'gallery');

app.go = (address) => {
  if (location.hash === `#${address}`) route();
  else location.hash = address;
};

async function route() {
  const [name, what] = decodeURIComponent(location.hash.slice(1)).split('/');
  const page = pageOf(name);
  app.page = page;
  document.body.dataset.page = page;
  for (const link of document.querySelectorAll('nav a'))
    link.dataset.page === page ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current');
  if (page !== 'gallery') app.gallery.hide();
  if (page !== 'scene') app.bench?.player.setPlaying(false);
  if (page !== 'race') app.racePage?.hide();
  try {
    await show[page](what, name === 'replay');
  } catch (error) {
    app.say(error.message);
  }
}

const show = {
  gallery() {
    replace(main, app.gallery.element);
    app.gallery.show();
  },
  async scene(what, recorded) {
    bench();
    replace(main, app.bench.element);
    if (recorded)
      return what && app.opened !== `replay/${what}` && openReplay(app.replays.find((r) => r.name === what));
    if (what && app.opened !== `scene/${what}`) return openScene(what);
    if (!app.bench.source)
      return app.tables
        ? openScene(app.tables.gallery.some((s) => s.name === 'arch') ? 'arch' : app.tables.gallery[0].name)
        : app.go('gallery');
  },
  async race() {
    if (!app.tables && !app.report)
      return void replace(main, h('p.hint.gallery', null, 'This page was built without the engine.'));
    app.racePage ??= new RacePage(app.tables, app.report);
    replace(main, app.racePage.element);
    if (!app.racePage.mode) await app.racePage.open(app.report ? 'report' : 'problem');
  },
  methods() {
    replace(
      main,
      app.tables ? methodsPage(app.tables) : h('p.hint.gallery', null, 'This page was built without the engine.'),
    );
  },
};

const bench = () => (app.bench ??= new Workbench({ ...app, race, say: app.say }));

// --- opening

// Work that may take long lies under a cover with a way out: work(started) names the engine to stop.
async function covered(words, work) {
  let cancel, client;
  const cancelled = new Promise((_, reject) => {
    cancel = () => {
      client?.stop();
      reject(new Error('Cancelled.'));
    };
  });
  replace(
    cover,
    h(
      'div.cover-card',
      null,
      h('div.spinner'),
      h('p', null, words),
      h('button', { type: 'button', onclick: cancel }, 'Cancel'),
    ),
  );
  const timer = setTimeout(() => {
    cover.hidden = false;
  }, 200);
  try {
    return await Promise.race([
      work((engine) => {
        client = engine;
      }),
      cancelled,
    ]);
  } finally {
    clearTimeout(timer);
    cover.hidden = true;
  }
}

async function openScene(name) {
  const entry = app.tables?.gallery.find((s) => s.name === name);
  if (!entry) throw new Error(`there is no scene “${name}”`);
  const source = await covered(`Opening ${name}…`, (started) => live.openScene(name, started));
  app.opened = `scene/${name}`;
  bench().show(source, { title: name.replace(/-/g, ' '), about: entry.summary, entry });
}

async function openText(text, title) {
  const source = await covered('Opening…', (started) => live.openText(text, started));
  app.opened = `scene/${title}`;
  bench().show(source, { title: source.model.name || title, about: '' });
  app.go(`scene/${title}`);
}

async function openReplay(replay) {
  if (!replay) throw new Error('there is no such replay');
  const source = await covered('Reading…', () => replay.open());
  app.opened = `replay/${replay.name}`;
  bench().show(source, { title: replay.title, about: replay.about });
}

// start: without waiting to be told.
async function race(frozen, start = false) {
  app.racePage ??= new RacePage(app.tables, app.report);
  await app.racePage.setProblem(frozen);
  app.go('race');
  if (start) app.racePage.problem.run();
}

// A file is what its first bytes say it is.
app.openFile = async (file) => {
  try {
    const bytes = await gunzip(new Uint8Array(await file.arrayBuffer()));
    const name = file.name.replace(/\.[^.]*$/, '');
    if (isReplay(bytes.buffer)) {
      const source = new Replay(bytes.buffer);
      app.replays.push({ name, title: source.model.name || name, about: file.name, moment: 0.4, open: async () => source });
      return app.go(`replay/${name}`);
    }
    if (!app.tables) throw new Error('this page was built without the engine: it opens replays only');
    if (/\.(obj|stl|ply|msh|mesh|node|ele)$/i.test(file.name)) {
      keepMesh(file.name, bytes);
      return app.say(`${file.name} is here now, for scenes that name it.`);
    }
    const text = new TextDecoder().decode(bytes);
    if (/^\s*\{/.test(text) && !text.includes('"tribo_problem"')) return await openText(text, name);
    const problem = await app.client.call('openProblem', text.startsWith('\x89HDF') ? bytes : text, file.name);
    await race({ problem, text: await app.client.call('problemText'), title: name, file: `${name}.json` });
  } catch (error) {
    app.say(error.message);
  }
};

app.openScene = (name) => app.go(`scene/${name}`);
app.openReplay = (replay) => app.go(`replay/${replay.name}`);

// A report of `tribo compare` that lies in the page: <script type="application/octet-stream" data-report="title">.
function embeddedReport() {
  const element = document.querySelector('script[data-report]');
  return (
    element && {
      title: element.dataset.report,
      open: async () => new TextDecoder().decode(await gunzip(fromBase64(element.textContent))),
    }
  );
}

// Replays that lie in the page: <script type="application/octet-stream" data-replay="name" data-title data-about>.
function embeddedReplays() {
  return [...document.querySelectorAll('script[data-replay]')].map((element) => {
    const { replay: name, title, about, moment } = element.dataset;
    let source = null;
    return {
      name,
      title: title || name,
      about: about || '',
      moment: Number(moment || 0.4), // of its picture, as a part of its time
      open: async () => {
        source ??= new Replay((await gunzip(fromBase64(element.textContent))).buffer);
        return source;
      },
    };
  });
}

// What `tribo view FILE` serves beside the page: { name, url, files: [{ name, url }] }, where the page says so.
async function servedFile() {
  const address = document.querySelector('meta[name=tribo-view]')?.content;
  if (!address) return null;
  const ask = async (url) => {
    const answer = await fetch(url, { cache: 'no-store' });
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
    return answer;
  };
  const { name, url, files } = await (await ask(address)).json();
  for (const file of files) keepFile(file.name, new Uint8Array(await (await ask(file.url)).arrayBuffer()));
  return new File([await (await ask(url)).blob()], name);
}

// --- start

function bar() {
  const themeButton = iconButton('moon', 'dark, light  T', toggleTheme);
  onTheme(() =>
    replace(
      themeButton,
      iconButton(document.documentElement.dataset.theme === 'dark' ? 'sun' : 'moon', '', null).firstChild,
    ),
  );
  const link = (page, words) => h('a', { href: `#${page}`, dataset: { page } }, words);
  return h(
    'header.bar',
    null,
    h('a.brand', { href: '#gallery', title: 'Tribo' }, h('span.mark', { 'aria-hidden': 'true' }), 'Tribo'),
    h(
      'nav',
      null,
      link('gallery', 'Gallery'),
      link('scene', 'Scene'),
      link('race', 'Race'),
      link('methods', 'Methods'),
    ),
    h('div.spacer'),
    themeButton,
    iconButton('help', 'keys  ?', app.toggleHelp),
  );
}

function listenToDrops() {
  window.addEventListener('dragover', (event) => event.preventDefault());
  window.addEventListener('drop', (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) app.openFile(event.dataTransfer.files[0]);
  });
}

function beat(before) {
  requestAnimationFrame((now) => {
    const elapsed = (now - before) / 1000;
    if (app.page === 'scene') app.bench?.tick(elapsed);
    else if (app.page === 'race') app.racePage?.tick(elapsed);
    beat(now);
  });
}

async function start() {
  document.body.prepend(bar());
  document.body.append(cover, toast, help);
  app.replays = embeddedReplays();
  app.report = embeddedReport();
  let served = null;
  try {
    served = await servedFile();
    if (engineModule()) {
      app.client = await Client.start();
      app.tables = app.client.tables;
    }
  } catch (error) {
    app.say(`The page did not start as it should: ${error.message}`);
  }
  if (served) {
    history.replaceState(null, '', location.pathname);
    await app.openFile(served);
  }
  app.gallery = new Gallery(app);
  listenToKeys(app);
  listenToDrops();
  window.addEventListener('hashchange', route);
  await route();
  document.body.classList.add('ready');
  beat(performance.now());
}

window.tribo = app; // for tests and for the curious
start();
