/**
 * Runs an archived renderer in its own process, without access to files, other processes or the network. The first line of
 * standard input is the script, as a JSON string. Each further line is the material for an answer; the reply is a line with
 * the answer's bytes in base64, or with an error.
 */
const { createInterface } = require('node:readline');
const { compileFunction } = require('node:vm');

/** Node.js modules that renderers use; none of them opens files or connections. */
const MODULES = ['buffer', 'crypto', 'stream', 'timers/promises', 'url', 'util', 'zlib'];
const modules = new Map(MODULES.map((name) => [name, require(`node:${name}`)]));
const environment = Object.freeze({
  env: {},
  platform: 'linux',
  version: process.version,
  versions: process.versions,
});
modules.set('process', environment);

const { stdin, stdout } = process;
const isNetwork = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'navigator'];
for (const name of isNetwork) delete globalThis[name];
globalThis.process = environment;

function requireAllowed(name) {
  const module = modules.get(String(name).replace(/^node:/, ''));
  if (module === undefined) throw new Error(`a renderer may not use ${name}`);
  return module;
}

let render;
let last = Promise.resolve();
createInterface({ input: stdin }).on('line', (line) => {
  last = last.then(async () => {
    try {
      if (render === undefined) {
        // Without a loader, import() fails in the script.
        render = compileFunction(`${JSON.parse(line)}\nreturn annalRenderer.renderAnswer;`, ['require'])(
          requireAllowed,
        );
        return;
      }
      const bytes = await render(JSON.parse(line));
      stdout.write(`${JSON.stringify({ bytes: Buffer.from(bytes).toString('base64') })}\n`);
    } catch (error) {
      stdout.write(
        `${JSON.stringify({ error: String(error?.message ?? error), name: String(error?.name) })}\n`,
      );
    }
  });
});
