/**
 * Bundles the dashboard's script and styles for browsers, from `dashboard/` and the client. The first start builds the bundle
 * in the background (nothing waits for it) and stores it below node_modules/.cache under a hash of its sources; see decision
 * 0001.
 */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SOURCES = join(ROOT, 'dashboard');
/** The bundle's sources: the dashboard's own, and the client's. */
const FOLDERS = [SOURCES, join(ROOT, 'clients', 'typescript', 'src')];
const KEPT = join(ROOT, 'node_modules', '.cache', 'annal');

/** The files of the dashboard. */
export interface DashboardFiles {
  readonly script: Buffer;
  readonly style: Buffer;
}

let made: Promise<DashboardFiles> | undefined;

/** Returns the files. The first call builds them; after a failure, the next call tries again. */
export function dashboardFiles(): Promise<DashboardFiles> {
  made ??= readOrMake().catch((error: unknown) => {
    made = undefined;
    throw error;
  });
  return made;
}

async function readOrMake(): Promise<DashboardFiles> {
  const folder = join(KEPT, `dashboard-${digest()}`);
  if (existsSync(folder)) return readFiles(folder);
  const files = await bundle();
  await keep(folder, files).catch(() => undefined);
  return files;
}

async function readFiles(folder: string): Promise<DashboardFiles> {
  const [script, style] = await Promise.all([
    readFile(join(folder, 'main.js')),
    readFile(join(folder, 'main.css')),
  ]);
  return { script, style };
}

/** Returns a hash of the sources and of the versions of the packages that they import. */
function digest(): string {
  const parts = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:tsx?|css|json)$/.test(name))
      .sort()
      .flatMap((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
  const packages = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  return hash('sha256', JSON.stringify([...parts, packages])).slice(0, 32);
}

async function bundle(): Promise<DashboardFiles> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: SOURCES,
    entryPoints: ['main.tsx'],
    outdir: '.',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome111', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const read = (end: string): Buffer => {
    const file = outputFiles.find(({ path }) => path.endsWith(end));
    if (file === undefined) throw new Error(`the bundle of the dashboard lacks ${end}`);
    return Buffer.from(file.contents);
  };
  return { script: read('main.js'), style: read('main.css') };
}

/**
 * Stores the files, although another process may be storing the same files at the same time. If the folder isn't writable,
 * nothing is stored.
 */
async function keep(folder: string, { script, style }: DashboardFiles): Promise<void> {
  await mkdir(KEPT, { recursive: true });
  const making = await mkdtemp(`${folder}.`);
  try {
    await writeFile(join(making, 'main.js'), script);
    await writeFile(join(making, 'main.css'), style);
    await rename(making, folder);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}
