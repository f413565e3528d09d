/** Searches for codes by text among 100,000 codes, compared with a read by id. */
import { againstReads, openReading } from '../against-reads.ts';
import type { Finding, Measure } from '../measure.ts';
import { createObservations, createPatients, resourcePath } from '../records.ts';
import { median } from '../statistics.ts';

const CLIENTS = 4;
const CODES = 100_000;
const BOUND = 5;

/** The searched texts, by kind. */
const TYPED = [
  ['a code', '123456-0'],
  ['the beginning of a code', '1234'],
  ['a word of one in ten', 'glucose'],
  ['a letter', 'g'],
  ['two words of one in ten', 'glucose serum'],
  ['a word with a mistake', 'glucse'],
  ['two words with mistakes', 'glucse serrum'],
  ['a word that resembles no code', 'zzqqyy'],
] as const;

/** Row: terminology of REST v1. */
export const codes: Measure = {
  row: 'codes',
  subject: `a search among ${CODES.toLocaleString('en-US')} codes; ${CLIENTS} clients`,
  baseline: 'reads by id on the FHIR interface',
  async run(bench): Promise<Finding> {
    const { service, databaseUrl } = await bench.service();
    const made = await createObservations(bench, service, await createPatients(service, 4), {
      count: bench.size(1_000, 20),
      locations: true,
    });
    // The first request waits until the bundled codes are installed.
    await service.request('GET', '/v1/terminology/loinc?q=glucose', 200);
    const filling = bench.worker('subjects/codes.ts');
    await filling.call<object, number>({ databaseUrl, count: bench.size(CODES, 1_000) });
    await filling.stop();
    await bench.settle(databaseUrl);
    const load = openReading(bench, service, CLIENTS, 2);
    const reads = made.locations.map(resourcePath);
    await load(reads);
    const found: { name: string; asked: number; read: number }[] = [];
    for (const [name, typed] of TYPED) {
      const path = `/v1/terminology/loinc?${new URLSearchParams({ q: typed })}`;
      await load([path]);
      found.push({ name, ...(await againstReads(bench, load, reads, [path])) });
    }
    return {
      bounds: found.map(({ name, asked, read }) => ({
        ratio: `${name}: p50 / read by id`,
        value: asked / read,
        sense: 'at most',
        bound: BOUND,
      })),
      figures: [
        { name: 'read by id p50', value: median(found.map(({ read }) => read)), unit: 'ms' },
        ...found.map(({ name, asked }) => ({ name: `${name} p50`, value: asked, unit: 'ms' })),
      ],
    };
  },
};
