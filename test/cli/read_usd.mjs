// Has TinyUSDZ, a reader of USD independent of Pixar's, parse files; it must find the number of meshes said.
//   node read_usd.mjs PACKAGE FILE=MESHES...
import { readFileSync } from "node:fs";

// It is built for browsers; node passes for one here.
process.type = "renderer";
globalThis.window = globalThis;
const [folder, ...files] = process.argv.slice(2);
const wasm = readFileSync(`${folder}/tinyusdz.wasm`);
globalThis.fetch = async () => new Response(wasm, { headers: { "content-type": "application/wasm" } });
const { default: start } = await import(`${folder}/tinyusdz.js`);
const usd = await start();

for (const argument of files) {
  const [file, meshes] = argument.split("=");
  const loader = new usd.TinyUSDZLoaderNative();
  const read = loader.loadFromBinary(readFileSync(file), file);
  if (read && loader.numMeshes() === Number(meshes)) continue;
  console.error(file, read ? `has ${loader.numMeshes()} meshes, not ${meshes}` : loader.error().slice(0, 500));
  process.exitCode = 1;
}
