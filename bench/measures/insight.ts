/** Series and patterns from a long record, compared with reading their rows. */
import { searchKey } from '#src/fhir/search/keys.ts';
import { codedValue, nameList } from '#src/v1/lists.ts';
import type { Bench } from '../bench.ts';
import { alternate, type Finding, type Measure } from '../measure.ts';
import { FHIR } from '../records.ts';
import { type Sample, patient as samplePatient } from '../sample.ts';
import { requestTo } from '../service.ts';
import { median } from '../statistics.ts';

const OBSERVATIONS = 100_000;
const AT_A_TIME = 2_000;
const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';
/** Half of the Observations are heart rates; the others each have a different code. */
const CODES = [
  ['8867-4', '/min', 70],
  ['29463-7', 'kg', 80],
  ['8867-4', '/min', 72],
  ['8310-5', 'Cel', 37],
  ['8867-4', '/min', 71],
  ['2708-6', '%', 97],
  ['8867-4', '/min', 69],
  ['2345-7', 'mg/dL', 95],
  ['8867-4', '/min', 73],
  ['9279-1', '/min', 15],
] as const;
/** The code of the series that is read: a tenth of the record. */
const CODE = '2345-7';
const SERIES_BOUND = 3;
const PATTERNS_BOUND = 20;

/** The row. */
export const insight: Measure = {
  row: 'insight',
  subject: `one series of ${OBSERVATIONS / 10} values; all values in a record of ${OBSERVATIONS} Observations, as one series for each code; and the record’s patterns after each write; one client`,
  baseline: 'a bare Koa route that reads the rows of that series, or of all Observations, and sends them',
  run: measure,
};

async function measure(bench: Bench): Promise<Finding> {
  const { service, databaseUrl } = await bench.service();
  const count = bench.size(OBSERVATIONS, 500);
  const { location } = await service.request('POST', `${FHIR}/Patient`, 201, samplePatient(1));
  const patient = /Patient\/([0-9a-f-]+)/.exec(location ?? '')?.[1] ?? '';
  for (let from = 0; from < count; from += AT_A_TIME)
    await service.request('POST', FHIR, 200, values(patient, from, Math.min(count, from + AT_A_TIME)));
  await bench.settle(databaseUrl);
  const route = bench.worker('baselines/series-route.ts');
  const port = await route.call<object, number>({ url: databaseUrl, connections: 1 });
  const rows = requestTo({ host: '127.0.0.1', port, key: '' });
  const list = (code?: string): string =>
    searchKey(
      code === undefined
        ? nameList('Observation')
        : nameList('Observation', ['code', codedValue(LOINC, code)]),
    );
  const read = (path: string) => timed(() => rows('GET', path, 200));
  const v1 = `/v1/patients/${patient}`;
  const whole = `${v1}/series?code=${[...new Set(CODES.map(([code]) => code))].join(',')}`;
  let written = count;
  const patterns = async (): Promise<number> => {
    // Writes a new value, so that earlier results can't be reused.
    await service.request('POST', FHIR, 200, values(patient, written, written + 1));
    written += 1;
    return timed(() => service.request('GET', `${v1}/patterns`, 200));
  };
  const series = (path: string) => timed(() => service.request('GET', path, 200));
  const compare = async (baseline: string, subject: () => Promise<number>) => {
    await read(baseline);
    await subject();
    const found = await alternate(Math.max(3, bench.options.runs), () => read(baseline), subject);
    return { baseline: median(found.baseline), subject: median(found.subject) };
  };
  const one = await compare(`/${patient}/${list(CODE)}`, () => series(`${v1}/series?code=${CODE}`));
  const all = await compare(`/${patient}/${list()}`, () => series(whole));
  const found = await compare(`/${patient}/${list()}`, patterns);
  return {
    bounds: [
      bound('one series / its rows', one.subject / one.baseline, SERIES_BOUND),
      bound('all series / their rows', all.subject / all.baseline, SERIES_BOUND),
      bound('patterns / rows of all series', found.subject / found.baseline, PATTERNS_BOUND),
    ],
    figures: [
      { name: 'one series', value: one.subject, unit: 'ms' },
      { name: 'its rows', value: one.baseline, unit: 'ms' },
      { name: 'all series', value: all.subject, unit: 'ms' },
      { name: 'patterns', value: found.subject, unit: 'ms' },
      { name: 'rows of all', value: all.baseline, unit: 'ms' },
      { name: 'patterns / rows of one series', value: found.subject / one.baseline, unit: '' },
      { name: 'most memory', value: bench.memory.peak, unit: 'MB' },
    ],
  };
}

function bound(ratio: string, value: number, most: number): Finding['bounds'][number] {
  return { ratio, value, sense: 'at most', bound: most };
}

/** Returns how long a request takes until its body has arrived, in ms. */
async function timed(request: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await request();
  return performance.now() - from;
}

/** Returns a transaction of Observations at intervals of a quarter of an hour. */
function values(patient: string, from: number, to: number): Sample {
  const entry = Array.from({ length: to - from }, (_, k) => {
    const n = from + k;
    const [code, unit, middle] = CODES[n % CODES.length] ?? CODES[0];
    const value = Math.round(10 * middle * (1 + 0.05 * Math.sin(n * 12.9898) * Math.sin(n * 78.233))) / 10;
    return {
      resource: {
        resourceType: 'Observation',
        status: 'final',
        code: { coding: [{ system: LOINC, code }] },
        subject: { reference: `Patient/${patient}` },
        effectiveDateTime: new Date(Date.UTC(2022, 0, 1) + n * 900_000).toISOString(),
        valueQuantity: { value, unit, system: UCUM, code: unit },
      },
      request: { method: 'POST', url: 'Observation' },
    };
  });
  return { resourceType: 'Bundle', type: 'transaction', entry };
}
