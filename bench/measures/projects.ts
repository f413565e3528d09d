/**
 * The last of many projects compared with the first, each with its own synthetic patients: listing the patients, and a search
 * among the Observations. Also measures opening one more project and filling its sandbox, compared with opening the first
 * projects of an empty installation.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { MeasuredService } from '../bench.ts';
import type { Length } from '../load/plan.ts';
import { alternate, type Measure } from '../measure.ts';
import { askAdmin, openProject, openTokens } from '../open-project.ts';
import { FHIR } from '../records.ts';
import { median } from '../statistics.ts';

const CLIENTS = 4;
/** The pause between two checks of a sandbox that is being filled, in ms. */
const LOOK_MS = 30;
/** Number of projects to open alternately in the full installation and in an empty one. */
const TURNS = 5;

/** An opened project, and how long opening it took, in seconds. */
interface Opened {
  readonly key: string;
  readonly seconds: number;
}

/** The row for many projects. */
export const projects: Measure = {
  row: 'projects',
  subject:
    'opening, listing and searching the last of 500 projects (50 without --full) with 30 synthetic patients each',
  baseline: 'the first of these projects; a project opened in an empty installation',
  async run(bench) {
    const { full } = bench.options;
    const count = full ? 500 : bench.size(50, 4);
    const patients = bench.size(30, 2);
    const measured = await bench.service({ sandboxPatients: patients });
    const token = openTokens(measured);
    const opened: Opened[] = [];
    const began = performance.now();
    for (let n = 1; n <= count; n += 1) {
      opened.push(await open(measured, token, patients));
      if (n % 50 === 0) bench.say(`${n} projects after ${Math.round((performance.now() - began) / 1_000)} s`);
    }
    await bench.settle(measured.databaseUrl);
    const [first, last] = [opened[0], opened.at(-1)];
    if (first === undefined || last === undefined) throw new Error('no project');

    const measureRatio = async (path: string) => {
      const load =
        ({ key }: Opened) =>
        async (length: Length) =>
          (
            await bench.load({
              ...readsOnePath(measured, path),
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
    const list = await measureRatio(`${FHIR}/Patient?_count=50`);
    const search = await measureRatio(`${FHIR}/Observation?category=laboratory&_sort=-date&_count=50`);
    // Opens projects in both installations alternately. Otherwise, changes in the machine's load over hours would distort the
    // comparison.
    const empty = await bench.service({ sandboxPatients: patients });
    const emptyToken = openTokens(empty);
    // The very first project also includes the time in which the process warms up.
    await open(empty, emptyToken, patients);
    const turns = await alternate(
      Math.max(TURNS, bench.options.runs),
      async () => (await open(empty, emptyToken, patients)).seconds,
      async () => (await open(measured, token, patients)).seconds,
    );
    const filling = { first: median(turns.baseline), last: median(turns.subject) };
    const bound = (ratio: string, { first: early, last: late }: typeof list) =>
      ({ ratio, value: late / early, sense: 'at most', bound: 1.2 }) as const;
    return {
      bounds: [
        bound('list of patients: last / first', list),
        bound('search: last / first', search),
        bound('opening and filling: after all / of an empty installation', filling),
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

function readsOnePath({ service: { target } }: MeasuredService, path: string) {
  return { target, clients: CLIENTS, requests: { kind: 'reads', paths: [path] }, expect: 200 } as const;
}

/** Opens a project and waits until all of its patients exist. */
async function open(
  measured: MeasuredService,
  token: () => Promise<string>,
  patients: number,
): Promise<Opened> {
  const began = performance.now();
  const { id, key } = await openProject(measured, token);
  const made = (): Promise<{ synthetic_patients: number }> =>
    askAdmin(measured, token, `/projects/${id}/sandbox`);
  while ((await made()).synthetic_patients < patients) await pause(LOOK_MS);
  return { key, seconds: (performance.now() - began) / 1_000 };
}
