/** Writes invented LOINC codes to a service's database, replacing the codes that come with the program. */
import pg from 'pg';
import { makeCodeIndex } from '#src/terminology/find/make.ts';
import { copyConcepts, newSystems, removeSystems } from '#src/terminology/rows.ts';
import { answer } from '../worker.ts';

const LOINC = 'http://loinc.org';

/** Words that appear in code names, each of them in one name out of ten. */
const COMMON = 'blood serum plasma urine mass volume presence antibody glucose ratio'.split(' ');
const SYLLABLES = 'ka lo mi ra tu ve sen dor bel nim pra xo thy gen ol ase'.split(' ');

/** The database, and the number of codes. */
export interface Codes {
  readonly databaseUrl: string;
  readonly count: number;
}

function* concepts(system: number, count: number) {
  const syllable = (n: number): string => SYLLABLES[n % SYLLABLES.length] ?? '';
  for (let n = 0; n < count; n += 1) {
    const own = syllable(n) + syllable(Math.floor(n / 16)) + syllable(Math.floor(n / 256));
    const [one, other] = [COMMON[n % 10], COMMON[Math.floor(n / 10) % 10]];
    yield { system, code: `${100_000 + n}-0`, display: `${own} [${one}/Moles] in ${other}`, unit: 'mg/dL' };
  }
}

async function put({ databaseUrl, count }: Codes): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await removeSystems(client, 'url = $1', [LOINC]);
    const described = { url: LOINC, name: 'LOINC', content: 'complete' } as const;
    const numbers = await newSystems(client, [described], true);
    const system = numbers.get(LOINC) ?? 0;
    const copied = await copyConcepts(client, concepts(system, count));
    await makeCodeIndex(client, system);
    await client.query('commit');
    return copied;
  } finally {
    await client.end();
  }
}

answer(put);
