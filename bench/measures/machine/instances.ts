/**
 * Two and four instances on one database, compared with one instance. Measures reads, creates whose patients are divided among
 * the instances as a load balancer would do, and creates for all patients on each instance. If one instance already uses all
 * cores of the machine, this shows only what the instances cost each other; their benefit appears only on several machines.
 */
import type { Bench, MeasuredService } from '../../bench.ts';
import type { Load, Outcome } from '../../load/plan.ts';
import type { Figure, Measure } from '../../measure.ts';
import { createObservations, createPatients, FHIR, resourcePath } from '../../records.ts';
import { median } from '../../statistics.ts';

const CLIENTS = 16;
const MOST = 4;
const NUMBERS = [1, 2, MOST] as const;

/** Sends requests to several instances and returns the rate. */
type Ask = (instances: readonly MeasuredService[], seconds: number) => Promise<readonly Outcome[]>;

export const instances: Measure = {
  row: 'instances',
  subject:
    'two and four instances on one database: reads by id and creates; 16 clients in total, 64 patients',
  baseline: 'one instance under the same load',
  async run(bench) {
    const databaseUrl = await bench.database();
    const all: MeasuredService[] = [];
    for (let n = 0; n < MOST; n += 1) all.push(await bench.service({ databaseUrl }));
    const [first] = all;
    if (first === undefined) throw new Error('no instance');
    const patients = await createPatients(first.service, 64);
    const { locations } = await createObservations(bench, first.service, patients, {
      count: bench.size(2_000, 50),
      locations: true,
    });
    const asks: readonly (readonly [string, Ask])[] = [
      ['reads', reads(bench, locations.map(resourcePath))],
      ['creates, patients divided', creates(bench, (n, of) => patients.filter((_, at) => at % of === n))],
      ['creates, patients shared', creates(bench, () => patients)],
    ];
    await bench.settle(databaseUrl);
    const rates = new Map<string, number>();
    const figures: Figure[] = [];
    for (const [name, ask] of asks) {
      await ask(all, bench.seconds(4));
      for (const number of NUMBERS) {
        const outcomes = await repeated(bench, () => ask(all.slice(0, number), bench.seconds(4)));
        const rate = median(outcomes.map(sum));
        rates.set(`${name} ${number}`, rate);
        figures.push(
          { name: `${name}, ${number}`, value: rate, unit: '/s' },
          {
            name: `p95 of ${name}, ${number}`,
            value: median(outcomes.flat().map(({ p95 }) => p95)),
            unit: 'ms',
          },
        );
      }
    }
    const share = (name: string, number: number) =>
      (rates.get(`${name} ${number}`) ?? Number.NaN) / (rates.get(`${name} 1`) ?? Number.NaN);
    return {
      bounds: asks.flatMap(([name]) =>
        NUMBERS.filter((number) => number > 1).map((number) => ({
          ratio: `${name}: ${number} / 1`,
          value: share(name, number),
          sense: 'at least' as const,
          bound: number === 2 ? 0.8 : 0.6,
        })),
      ),
      figures,
    };
  },
};

const sum = (outcomes: readonly Outcome[]): number => outcomes.reduce((all, { rate }) => all + rate, 0);

/** Runs the same load on each instance, dividing its clients among the instances. */
function onEach(bench: Bench, makeLoad: (at: number, of: number) => Pick<Load, 'requests' | 'expect'>): Ask {
  return (instances, seconds) =>
    Promise.all(
      instances.map(({ service: { target } }, at) =>
        bench.load({
          target,
          clients: CLIENTS / instances.length,
          ...makeLoad(at, instances.length),
          seconds,
        }),
      ),
    );
}

function reads(bench: Bench, paths: readonly string[]): Ask {
  return onEach(bench, () => ({ requests: { kind: 'reads', paths }, expect: 200 }));
}

function creates(bench: Bench, choosePatients: (at: number, of: number) => readonly string[]): Ask {
  return onEach(bench, (at, of) => ({
    requests: { kind: 'observations', path: `${FHIR}/Observation`, patients: choosePatients(at, of) },
    expect: 201,
  }));
}

async function repeated<T>(bench: Bench, work: () => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let run = 0; run < bench.options.runs; run += 1) found.push(await work());
  return found;
}
