/**
 * Counts the files that a warm request runs: files in which a named function runs each time the request is sent. Files that
 * also run in an idle window of the same length just before the request aren't counted. `node --import tsx
 * tools/house/request-files.ts [--list]`
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { freePort } from '../../bench/free-port.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Length of a request's window, and of the idle window before it. */
const WINDOW_MS = 200;
const WARM = 5;
/**
 * The number of times that each request is examined. A file that doesn't run every time doesn't belong to the request but to
 * periodic work.
 */
const TIMES = 3;

/** The requests whose files are counted. */
export type Counted = 'create' | 'v1 create' | 'search' | 'read';

type Send = (method: string, path: string, body?: object) => Promise<unknown>;

const created = z.object({ id: z.string() });
const quickstart = z.object({ sandbox_key: z.string() });
const paths = z.array(z.string());

/**
 * Starts a service from source, sends each request, and stops the service.
 * @param dataDir an empty folder, or a folder in which a service was started before
 * @returns the files of each request, sorted, as paths from the root
 * @throws Error if the service doesn't start or a request is refused
 */
export async function listRequestFiles(dataDir: string): Promise<Record<Counted, string[]>> {
  const out = join(dataDir, 'called.json');
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const preload = ['--import', 'tsx', '--import', './tools/house/called-files.js', 'src/main.ts'];
  const child = spawn(process.execPath, preload, {
    cwd: ROOT,
    env: {
      ...process.env,
      ...{ CALLED_FILES: out, DATA_DIR: dataDir, DATABASE_URL: '', EVENTSTORE_URL: '' },
      ...{
        PORT: String(port),
        HOST: '127.0.0.1',
        WORKERS: '1',
        PROJECTORS: '0',
        LOG_LEVEL: 'warn',
        SANDBOX_PATIENTS: '0',
      },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await becomeReady(child);
    const { sandbox_key: key } = quickstart.parse(
      JSON.parse(readFileSync(join(dataDir, 'quickstart.json'), 'utf8')),
    );
    const send: Send = async (method, path, body) => {
      const answer = await fetch(`${base}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': path.startsWith('/fhir') ? 'application/fhir+json' : 'application/json',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return answer.json();
    };
    const called = async (): Promise<string[]> => {
      rmSync(out, { force: true });
      child.kill('SIGUSR2');
      while (!existsSync(out)) await pause(10);
      return paths.parse(JSON.parse(readFileSync(out, 'utf8')));
    };
    return await countEach(send, called);
  } finally {
    const ended = once(child, 'exit');
    if (child.exitCode === null) child.kill('SIGTERM');
    if (child.exitCode === null) await ended;
  }
}

async function countEach(send: Send, called: () => Promise<string[]>): Promise<Record<Counted, string[]>> {
  const patient = created.parse(await send('POST', '/fhir/R4/Patient', { resourceType: 'Patient' })).id;
  const observation = {
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] },
    subject: { reference: `Patient/${patient}` },
    effectiveDateTime: '2026-05-01',
    valueQuantity: { value: 13.2, unit: 'g/dL', system: 'http://unitsofmeasure.org', code: 'g/dL' },
  };
  const v1 = {
    code: '718-7',
    system: 'http://loinc.org',
    category: 'laboratory',
    effective_at: '2026-05-01T08:00:00Z',
    value: 13.2,
    unit: 'g/dL',
  };
  const id = created.parse(await send('POST', '/fhir/R4/Observation', observation)).id;
  const requests: Record<Counted, () => Promise<unknown>> = {
    create: () => send('POST', '/fhir/R4/Observation', observation),
    'v1 create': () => send('POST', `/v1/patients/${patient}/observations`, v1),
    search: () => send('GET', `/fhir/R4/Observation?patient=${patient}&code=718-7&_sort=-date`),
    read: () => send('GET', `/fhir/R4/Observation/${id}`),
  };
  const names = ['create', 'v1 create', 'search', 'read'] as const;
  for (const name of names) for (let n = 0; n < WARM; n += 1) await requests[name]();
  await pause(WINDOW_MS);
  await called();
  const ran = new Map<Counted, Set<string>>();
  const idle = new Set<string>();
  for (let n = 0; n < TIMES; n += 1) {
    for (const name of names) {
      await pause(WINDOW_MS);
      for (const file of await called()) idle.add(file);
      const since = performance.now();
      await requests[name]();
      await pause(Math.max(0, WINDOW_MS - (performance.now() - since)));
      const before = ran.get(name);
      const these = await called();
      ran.set(name, new Set(these.filter((file) => before?.has(file) ?? true)));
      // Waits, so that work that a busy machine still has to do for this request isn't attributed to the next one.
      await pause(2 * WINDOW_MS);
      await called();
    }
  }
  const listFiles = (name: Counted): string[] => [...(ran.get(name) ?? [])].filter((file) => !idle.has(file));
  return {
    create: listFiles('create'),
    'v1 create': listFiles('v1 create'),
    search: listFiles('search'),
    read: listFiles('read'),
  };
}

async function becomeReady(child: ReturnType<typeof spawn>): Promise<void> {
  const lines = createInterface({ input: child.stdout ?? Readable.from([]) });
  for await (const line of lines) if (line.includes('ready')) return;
  throw new Error('the service ended before it was ready');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dataDir = mkdtempSync(join(tmpdir(), 'annal-files-'));
  // The user that PostgreSQL runs as must be able to access this folder.
  chmodSync(dataDir, 0o711);
  const files = await listRequestFiles(dataDir).finally(() =>
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 20 }),
  );
  for (const [name, all] of Object.entries(files)) {
    console.log(`${name}: ${all.length}`);
    if (process.argv.includes('--list')) for (const file of all) console.log(`  ${file}`);
  }
}
