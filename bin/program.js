/**
 * Runs the program: bundles its TypeScript sources once, and keeps the bundle below node_modules/.cache under a hash of its
 * contents, so it is never older than the sources. Loading some 400 files separately would add seconds to each start. This
 * file is plain JavaScript because it runs before TypeScript sources can.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** The program's entry points and source folders (docs/architecture.md). */
const PROGRAM = {
  entries: { service: 'src/main.ts', command: 'src/cli/main.ts' },
  folders: ['src', 'commands', 'projections', 'queries'],
};
/** Packages that consist of many files, all of them JavaScript. */
const BUNDLED = [
  ...['@koa/router', 'commander', 'csv-parse/sync', 'dataloader', 'file-type', 'jose', 'koa', 'koa-body'],
  ...['lossless-json', 'lru-cache', 'pg', 'pg-copy-streams', 'prom-client', 'rxjs', 'rxjs/operators', 'uuid'],
  'zod',
];
const KEPT = join(ROOT, 'node_modules', '.cache', 'annal');
/**
 * How long, in ms, a bundle must have been unused before it is deleted when another bundle is built. Until then, a running
 * process may still load parts of the bundle.
 */
const UNUSED_MS = 7 * 86_400_000;

/**
 * Loads one of the program's two entry points, bundling the sources first if they have no bundle yet. If the bundle can't be
 * stored (because this user can't write to the folder), loads the sources themselves, which takes a few seconds longer.
 * @param {keyof typeof PROGRAM.entries} entry
 */
export async function load(entry) {
  const folder = await bundled().catch(explainMissing);
  if (folder === undefined) {
    const { register } = await import('tsx/esm/api');
    // Works in any directory, whatever a tsconfig.json there says.
    register({ tsconfig: false });
    return import(pathToFileURL(join(ROOT, PROGRAM.entries[entry])).href);
  }
  process.setSourceMapsEnabled(true);
  return import(pathToFileURL(join(folder, `${entry}.mjs`)).href);
}

/**
 * Exits with advice if the process's packages aren't installed.
 * @throws the given error if it has a different cause
 */
function explainMissing(error) {
  const [, name] = /Cannot find package '([^']+)'/.exec(error.message) ?? [];
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || name === undefined) throw error;
  console.error(`The package ${name} is not installed. Run "npm ci" in ${ROOT} first.`);
  process.exit(1);
}

/**
 * Returns the folder of a program's bundle, building the bundle if it is missing; undefined if it can't be built.
 * @param program its entry points (each entry's name → its source) and its source folders
 */
export async function bundled(program = PROGRAM) {
  const folder = join(KEPT, digest(program));
  if (existsSync(folder)) {
    used(folder);
    return folder;
  }
  let making = folder;
  try {
    mkdirSync(KEPT, { recursive: true });
    making = mkdtempSync(`${folder}.`);
    // The user who installs the program might not be the one who starts it.
    chmodSync(making, 0o755);
    await bundle(making, program.entries);
    keep(making, folder);
    removeUnused(folder);
    return folder;
  } catch (error) {
    if (making !== folder) rmSync(making, { recursive: true, force: true });
    if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) return undefined;
    throw error;
  }
}

/** Returns a hash of everything that determines the bundle: the sources, their location, and the packages' versions. */
function digest({ entries, folders }) {
  const hash = createHash('sha256').update(ROOT).update(JSON.stringify(entries));
  // Includes the installed packages, because they are part of the bundle.
  const installed = ['node_modules/.package-lock.json'].filter((file) => existsSync(join(ROOT, file)));
  const project = ['package-lock.json', 'package.json', 'bin/program.js'];
  for (const file of [...installed, ...project, ...sources(folders)]) {
    hash.update(`\0${file}\0`).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex').slice(0, 32);
}

function sources(folders) {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name))
      .sort(),
  );
}

async function bundle(outdir, entryPoints) {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: ROOT,
    entryPoints,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
    minifyWhitespace: true,
    logLevel: 'silent',
    // Lets CommonJS packages call `require` at run time.
    banner: {
      js: "import { createRequire as annalRequireFrom } from 'node:module'; const require = annalRequireFrom(import.meta.url);",
    },
    plugins: [
      { name: 'place', setup: keepPlaces },
      { name: 'packages', setup: keepPackages },
    ],
  });
}

/** Keeps each source's own `import.meta.url`, because data files are read from the source's folder. */
function keepPlaces({ onLoad }) {
  onLoad({ filter: /\.ts$/ }, ({ path }) => ({
    loader: 'ts',
    contents: inAscii(
      readFileSync(path, 'utf8').replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
    ),
  }));
}

/**
 * Returns a source with all non-ASCII characters escaped: V8 stores an ASCII script in half the memory. In templates, strings
 * and regular expressions an escape means the same as the character, unless a backslash precedes the character.
 */
function inAscii(source) {
  if (/\\[^\0-\x7f]/.test(source)) return source;
  // Each UTF-16 code unit separately, as in JavaScript's escapes.
  return source.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Optional packages that other packages use only if they are installed. */
const NEVER = ['pg-native', 'pg-cloudflare'];
/** An empty source map. */
const UNMAPPED = `data:application/json,${encodeURIComponent('{"version":3,"sources":[""],"mappings":"AAAA"}')}`;

/** Bundles some packages, with their dependencies; all other packages are loaded from node_modules. */
function keepPackages({ onResolve, onLoad }) {
  onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
    // Only our sources are TypeScript; imports that begin with `#` refer to them.
    const own = /(?:^|\.ts)$/.test(importer) && !path.startsWith('#');
    return (own && !BUNDLED.includes(path)) || NEVER.includes(path) ? { path, external: true } : undefined;
  });
  // Node parses source maps when it loads the bundle, and the packages' maps would be most of that work.
  onLoad({ filter: /node_modules.*\.(?:js|mjs|cjs)$/ }, ({ path }) => ({
    loader: 'js',
    contents: `${inAscii(readFileSync(path, 'utf8'))}\n//# sourceMappingURL=${UNMAPPED}`,
  }));
}

/** Another process may have made the same bundle in the meantime. */
function keep(making, folder) {
  try {
    renameSync(making, folder);
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    rmSync(making, { recursive: true, force: true });
  }
}

/** Marks a bundle as recently used. */
function used(folder) {
  try {
    utimesSync(folder, new Date(), new Date());
  } catch {
    // The bundle belongs to another user, or is being deleted because it hasn't been used for a long time.
  }
}

function removeUnused(current) {
  for (const name of readdirSync(KEPT)) {
    const folder = join(KEPT, name);
    const last = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (folder !== current && Date.now() - last > UNUSED_MS) rmSync(folder, { recursive: true, force: true });
  }
}
