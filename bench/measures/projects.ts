/**
 * The last of many projects against the first, each with its synthetic patients: opening one and filling its sandbox,
 * listing its patients, a search among its Observations.
 */
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { MeasuredService } from '../bench.ts';
import type { Length } from '../load/plan.ts';
import { alternate, type Measure } from '../measure.ts';
import { FHIR } from '../records.ts';
import { median } from '../statistics.ts';

const ANNAL = fileURLToPath(new URL('../../bin/annal.js', import.meta.url));
const CLIENTS = 4;

/** A project that is there, and how long it took, in seconds. */
interface Opened {
  readonly key: string;
  readonly seconds: number;
}

/** The row of many projects. */
export const projects: Measure = {
  row: 'projects',
  subject:
    'the last of 500 projects with 30 synthetic patients each (50 without --full): opening, listing, searching',
  baseline: 'the first of them',
  async run(bench) {
    const { full } = bench.options;
    const count = full ? 500 : bench.size(50, 4);
    const patients = bench.size(30, 2);
    const measured = await bench.service({ sandboxPatients: patients });
    const token = await tokenOf(measured);
    const opened: Opened[] = [];
    for (let n = 0; n < count; n += 1) opened.push(await open(measured, token, patients));
    await bench.settle(measured.databaseUrl);
    const [first, last] = [opened[0], opened.at(-1)];
    if (first === undefined || last === undefined) throw new Error('no project');

    const ratioOf = async (path: string) => {
      const load =
        ({ key }: Opened) =>
        async (length: Length) =>
          (
            await bench.load({
              ...readsOf(measured, path),
              target: { ...measured.service.target, key },
              ...length,
            })
          ).p50;
      const [atFirst, atLast] = [load(first), load(last)];
      await atFirst(bench.warmUp(500));
      await atLast(bench.warmUp(500));
      const length = { seconds: bench.seconds(4) };
      const runs = await alternate(
        Math.max(3, bench.options.runs),
        () => atFirst(length),
        () => atLast(length),
      );
      return { first: median(runs.baseline), last: median(runs.subject) };
    };
    const list = await ratioOf(`${FHIR}/Patient?_count=50`);
    const search = await ratioOf(`${FHIR}/Observation?category=laboratory&_sort=-date&_count=50`);
    // A tenth of them at either end; the very first also pays for the process's own warming up.
    const tenth = Math.max(1, Math.round(count / 10));
    const filling = {
      first: median(opened.slice(1, 1 + tenth).map(({ seconds }) => seconds)),
      last: median(opened.slice(-tenth).map(({ seconds }) => seconds)),
    };
    const bound = (ratio: string, { first: early, last: late }: typeof list) =>
      ({ ratio, value: late / early, sense: 'at most', bound: 1.2 }) as const;
    return {
      bounds: [
        bound('list of patients: last / first', list),
        bound('search: last / first', search),
        bound('opening and filling: last tenth / first', filling),
      ],
      figures: [
        { name: 'projects', value: count, unit: '' },
        { name: 'opened and filled', value: filling.last, unit: 's' },
        { name: 'list p50', value: list.last, unit: 'ms' },
        { name: 'search p50', value: search.last, unit: 'ms' },
      ],
    };
  },
};

function readsOf({ service: { target } }: MeasuredService, path: string) {
  return { target, clients: CLIENTS, requests: { kind: 'reads', paths: [path] }, expect: 200 } as const;
}

/** An ID token of the development issuer. */
async function tokenOf({ databaseUrl, dataDir, service }: MeasuredService): Promise<string> {
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    PORT: String(service.target.port),
  };
  const args = [ANNAL, 'dev-token', '--email', 'bench@example.org'];
  return (await promisify(execFile)(process.execPath, args, { env })).stdout.trim();
}

/** Opens a project and waits until all of its patients are there. */
async function open({ service }: MeasuredService, token: string, patients: number): Promise<Opened> {
  const { host, port } = service.target;
  const headers = { authorization: `Bearer ${token}` };
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://${host}:${port}/admin${path}`, { method, headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
    return JSON.parse(text) as { key: string; project: { id: string }; synthetic_patients: number };
  };
  const began = performance.now();
  const { key, project } = await ask('/sandbox/quickstart', 'POST');
  while ((await ask(`/projects/${project.id}/sandbox`)).synthetic_patients < patients) await pause(10);
  return { key, seconds: (performance.now() - began) / 1_000 };
}
