// SPDX-License-Identifier: Apache-2.0
// The page's side of an engine in a worker: every call is a promise.
import EngineWorker from './worker.js?worker&inline';
import { fromBase64, gunzip } from './bytes.js';

let compiled = null; // one compilation for all workers

// The engine lies in the page as compressed text. Null where the page was built without it.
export function engineModule() {
  const element = document.getElementById('tribo-wasm');
  if (!element || !element.textContent.trim()) return null;
  compiled ??= gunzip(fromBase64(element.textContent)).then((bytes) => WebAssembly.compile(bytes));
  return compiled;
}

// Mesh files: every engine gets them. Those that were dropped onto the page have no folder; scenes usually name one.
const meshes = new Map();
export const keepFile = (path, bytes) => meshes.set(path, bytes);
export const keepMesh = (name, bytes) => keepFile(name, bytes) && keepFile(`meshes/${name}`, bytes);

export class Cancelled extends Error {}

export class Client {
  constructor() {
    this.waiting = new Map();
    this.next = 0;
    this.worker = new EngineWorker();
    this.worker.onmessage = ({ data }) => this.#answer(data);
    this.worker.onerror = (event) => this.#fail(new Error(event.message || 'the engine stopped'));
  }

  static async start() {
    const client = new Client();
    client.tables = await client.call('load', await engineModule());
    for (const [path, bytes] of meshes) await client.call('addFile', path, bytes);
    return client;
  }

  call(call, ...args) {
    if (!this.worker) return Promise.reject(new Cancelled());
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, call, args });
    });
  }

  #answer({ id, value, error }) {
    const { resolve, reject } = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) reject(Object.assign(new Error(error.message), error));
    else resolve(value);
  }

  #fail(error) {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  // Ends whatever is running at once.
  stop() {
    this.worker?.terminate();
    this.worker = null;
    this.#fail(new Cancelled());
  }
}
