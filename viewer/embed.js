// Puts replays into a built page:  node viewer/embed.js PAGE OUT FILE.trp[=title[=about]] …
//
// Each goes, gzipped and as base64, into an element of its own in place of <!-- replays -->. Nothing else changes, so
// another program may do the same.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';

const [page, out, ...files] = process.argv.slice(2);
if (!files.length) {
  console.error('usage: node viewer/embed.js PAGE OUT FILE.trp[=title[=about]] …');
  process.exit(2);
}
const escape = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');
const elements = files.map((argument) => {
  const [file, title, about] = argument.split('='),
    name = basename(file).replace(/\.[^.]*$/, '');
  const text = gzipSync(readFileSync(file), { level: 9 }).toString('base64');
  return `<script type="application/octet-stream" data-replay="${escape(name)}" data-title="${escape(title || name)}" data-about="${escape(about || '')}">${text}</script>`;
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
