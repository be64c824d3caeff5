// SPDX-License-Identifier: Apache-2.0
// Puts replays, and a report of `tribo compare`, into a built page:
//
//   node viewer/embed.js PAGE OUT FILE.trp[=title[=about[=moment]]] … [FILE.html[=title]]
//
// moment: of a replay's picture, as a part of its time. Each file goes, gzipped and as base64, into an element of its own
// in place of <!-- replays -->. Nothing else changes, so another program may do the same.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';

const [page, out, ...files] = process.argv.slice(2);
if (!files.length) {
  console.error('usage: node viewer/embed.js PAGE OUT FILE.trp[=title[=about[=moment]]] … [FILE.html[=title]]');
  process.exit(2);
}
const escape = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');
const attributes = (values) =>
  Object.entries(values)
    .filter(([, value]) => value)
    .map(([key, value]) => ` data-${key}="${escape(value)}"`)
    .join('');
const elements = files.map((argument) => {
  const [file, title, about, moment] = argument.split('='),
    name = basename(file).replace(/\.[^.]*$/, '');
  const text = gzipSync(readFileSync(file), { level: 9 }).toString('base64');
  const data = file.endsWith('.html') ? { report: title || name } : { replay: name, title, about, moment };
  return `<script type="application/octet-stream"${attributes(data)}>${text}</script>`;
});
const html = readFileSync(page, 'utf8');
if (!html.includes('<!-- replays -->')) {
  console.error(`${page} has no place for replays`);
  process.exit(1);
}
writeFileSync(
  out,
  html.replace('<!-- replays -->', () => `${elements.join('\n')}\n<!-- replays -->`),
);
