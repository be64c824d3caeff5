// SPDX-License-Identifier: Apache-2.0
// One file that opens from disk: script, style and engine are put into index.html.
import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const wasm = process.env.TRIBO_WASM || fileURLToPath(new URL('../build-wasm/viewer/wasm/tribo.wasm', import.meta.url));

// The engine, compressed, as text in its own element.
const engine = () => ({
  name: 'tribo-engine',
  transformIndexHtml(html) {
    const text = existsSync(wasm) ? gzipSync(readFileSync(wasm), { level: 9 }).toString('base64') : '';
    if (!text) console.warn(`${wasm} is not there: the page will replay, and simulate nothing`);
    return html.replace('id="tribo-wasm">', () => `id="tribo-wasm">${text}`);
  },
});

// Scripts and styles of the bundle into the page itself. The function as a replacement keeps `$` as it is.
const inline = () => ({
  name: 'tribo-inline',
  enforce: 'post',
  generateBundle(_, bundle) {
    const page = bundle['index.html'];
    for (const [name, part] of Object.entries(bundle)) {
      const tag = new RegExp(
        name.endsWith('.css') ? `<link[^>]*href="[^"]*${name}"[^>]*>` : `<script[^>]*src="[^"]*${name}"[^>]*></script>`,
      );
      if (!tag.test(page.source)) continue;
      const body =
        part.type === 'chunk'
          ? `<script type="module">${part.code.replaceAll('</script', '<\\/script')}</script>`
          : `<style>${part.source}</style>`;
      if (part.type === 'chunk') {
        page.source = page.source.replace(tag, '').replace('</body>', () => `${body}\n</body>`);
      } else page.source = page.source.replace(tag, () => body);
      delete bundle[name];
    }
  },
});

export default defineConfig({
  base: './',
  build: {
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1e9,
    chunkSizeWarningLimit: 4000,
  },
  worker: { format: 'iife' }, // a page from disk may not start a worker made of modules
  plugins: [engine(), inline()],
});
