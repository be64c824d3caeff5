// A browser, claims that are checked one after the other, and a count of them.
import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

const require = createRequire(new URL('../../viewer/package.json', import.meta.url));
const { chromium } = require('playwright-core');

export class Harness {
  constructor(file, pictures, filter = '') {
    this.filter = filter;
    this.url = `file://${resolve(file)}`;
    this.pictures = resolve(pictures);
    mkdirSync(this.pictures, { recursive: true });
    this.passed = this.failed = this.skipped = 0;
  }

  async start() {
    this.browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-sandbox'],
    });
  }

  // A page of its own for a claim; errors of the page are failures of the claim.
  async claim(words, { url = this.url, at = 'gallery', width = 760, height = 560, scheme = 'light', touch = false }, work) {
    if (!words.includes(this.filter)) return;
    const context = await this.browser.newContext({
      viewport: { width, height },
      colorScheme: scheme,
      hasTouch: touch,
      acceptDownloads: true,
    });
    const page = await context.newPage(),
      errors = [];
    page.setDefaultTimeout(90000);
    page.on('pageerror', (error) => errors.push(error.stack));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    this.requests = [];
    page.on('request', (request) => this.requests.push(request.url()));
    try {
      await page.goto(at ? `${url}#${at}` : url);
      await page.waitForSelector('body.ready');
      const skip = await work(page);
      if (errors.length) throw new Error(errors[0]);
      if (typeof skip === 'string') {
        this.skipped++;
        console.log(`  ${words.padEnd(66)} skipped: ${skip}`);
      } else {
        this.passed++;
        console.log(`  ${words.padEnd(66)} ok`);
      }
    } catch (error) {
      this.failed++;
      console.log(
        `  ${words} FAILED\n    ${error.message.split('\n').slice(0, 6).join('\n    ')}${errors.length ? `\n    ${errors[0]}` : ''}`,
      );
      await this.picture(page, `failed-${words.replace(/\W+/g, '-')}`).catch(() => {});
    }
    await context.close();
  }

  async picture(page, name) {
    return page.screenshot({ path: `${this.pictures}/${name}.png`, timeout: 90000 });
  }

  async end() {
    await this.browser.close();
    console.log(`${this.passed} passed, ${this.failed} failed${this.skipped ? `, ${this.skipped} skipped` : ''}`);
    process.exit(this.failed ? 1 : 0);
  }
}

export function demand(truth, why) {
  if (!truth) throw new Error(why);
}

// How many colours a picture has, and which part of it is not its most frequent one.
export function colours(page, png) {
  return page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    const data = pen.getImageData(0, 0, image.width, image.height).data,
      counts = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const key = ((data[i] >> 3) << 10) | ((data[i + 1] >> 3) << 5) | (data[i + 2] >> 3);
      counts.set(key, (counts.get(key) || 0) + 1);
    }
    return { count: counts.size, busy: 1 - Math.max(...counts.values()) / (data.length / 4) };
  }, png.toString('base64'));
}
