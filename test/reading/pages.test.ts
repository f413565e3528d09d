/** The patient's pages and the lists of REST v1 over HTTP show what a second reading of the raw JSON says. */
import { expect } from 'chai';
import { z } from 'zod';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import type { PageVisitor } from '#test/support/page-visitor.ts';
import { patientVisitor } from '#test/support/patient-pages.ts';
import { scaled } from '#test/support/scale.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';
import { syntheaCases, VARIED } from './cases.ts';
import { read, reference, texts } from './raw.ts';
import { readAgain, type SecondReading, type Told } from './second-reading.ts';
import { isSaid } from './second-values.ts';
import { storeRecord } from './stored-record.ts';
import type { VariedRecord } from './varied-records.ts';
import { plainText } from './views.ts';

/** Records of each seed: all of them in `npm run prove`. */
const OF_SEED = scaled(30, 3);

describe('the pages of patients and the lists of REST v1', () => {
  let service: InProcess;
  let count = 0;

  before(async () => {
    service = await startInProcess();
  });
  after(async () => {
    await service?.stop();
    await removeTemporaryFolders();
  });

  const synthea = syntheaCases();
  for (const { name, read: records } of [...VARIED, ...synthea]) {
    it(`show what a second reading of the raw JSON says (${name})`, async function show() {
      this.timeout(600_000);
      for (const record of records().slice(0, OF_SEED)) {
        const email = `reader${count++}@example.org`;
        const stored = await storeRecord(service, record, email);
        const today = new Date().toISOString().slice(0, 10);
        const again = readAgain(stored.versions, stored.directory, today);
        const visitor = await patientVisitor(service, email);
        await expectPages(visitor, stored, again);
        await expectLists(service, stored);
      }
    });
  }
  if (synthea.length === 0) it.skip('show the same of Synthea’s records (ANNAL_SYNTHEA_DIR names no folder)');
});

/** Lists by the ids of their sections; `now` and `past` as `name: sources`. */
async function expectPages(visitor: PageVisitor, record: VariedRecord, again: SecondReading): Promise<void> {
  const path = `/connections/records/${record.patient.id}`;
  const expected = {
    allergies: [again.allergies, again.inactiveAllergies],
    medicines: [[...again.current, ...again.unclear, ...again.forbidden], again.past],
    problems: [again.activeProblems, again.pastProblems],
  } as const;
  const health = await visitor.open(`${path}/health`);
  const print = await visitor.open(`${path}/print`);
  const overview = await visitor.open(path);
  for (const [list, [now, past]] of Object.entries(expected)) {
    const where = `${record.name}: ${list}`;
    const [shownNow, shownPast] = rowsIn(health.text, list);
    expect(shownNow.map(({ entries }) => entries).sort(), where).to.deep.equal(now.map(entriesOf).sort());
    expect(shownPast.map(({ entries }) => entries).sort(), where).to.deep.equal(past.map(entriesOf).sort());
    if (list !== 'medicines')
      expect(shownNow.map(({ name }) => name).sort(), where).to.deep.equal(now.map(nameIn).sort());
    const [printed] = rowsIn(print.text, list);
    expect(printed.map(({ entries }) => entries).sort(), `${where}, printed`).to.deep.equal(
      now.map(entriesOf).sort(),
    );
  }
  // Names are those for patients: what is compared is the values.
  const values = [...print.text.matchAll(/<\/bdi><\/th>\n<td[^>]*>([\s\S]*?)<\/td>/g)].map(([, value = '']) =>
    plainText(value.replace(/<[^>]*>/g, '')).replace(/\s/g, ' '),
  );
  for (const newest of again.newest.values()) {
    // The page has only the days on which values were measured.
    if (newest.some(({ measured }) => measured === undefined)) continue;
    expect(
      values.some((said) => newest.some((value) => isSaid(value, said))),
      `${record.name}: ${JSON.stringify(newest)} in ${JSON.stringify(values)}`,
    ).to.equal(true);
  }
  const ranks = rowsIn(health.text, 'allergies')[0].map(({ entries }) =>
    again.allergies.some((each) => each.isHigh && entriesOf(each) === entries) ? 0 : 1,
  );
  expect(ranks, `${record.name}: the most critical first`).to.deep.equal(ranks.toSorted((a, b) => a - b));
  const [, glance = ''] =
    /<dl class="facts">([\s\S]*?)<\/dl>/.exec(overview.text.slice(overview.text.indexOf('id="glance"'))) ??
    [];
  const [named = ''] = glance.split('</dd>');
  const seen = [...named.matchAll(/<li><bdi>([\s\S]*?)<\/bdi>/g)].map(([, name = '']) =>
    plainText(name).toLowerCase(),
  );
  expect(seen.sort(), `${record.name}: overview`).to.deep.equal(again.allergies.map(nameIn).sort());
  expect(overview.text.includes('Died') || overview.text.includes('died'), `${record.name}: death`).to.equal(
    again.isDead,
  );
}

const nameIn = ({ name }: Told): string => name.toLowerCase();
const entriesOf = ({ sources }: Told): string =>
  sources
    .map((source) => source.replace(/\/_history.*/, ''))
    .sort()
    .join(' ');

interface Row {
  readonly name: string;
  readonly entries: string;
}

/** Returns the rows of a section: what holds now, and what is over. */
function rowsIn(page: string, list: string): readonly [now: readonly Row[], past: readonly Row[]] {
  const from = page.indexOf(`aria-labelledby="${list}"`);
  const section =
    page.slice(from).split(/class="note warn"| aria-labelledby="[a-z ]+-ai"|<\/section>/)[0] ?? '';
  const [now = '', past = ''] = section.split('<details class="past">');
  return [readRows(now), readRows(past)];
}

const readRows = (html: string): Row[] =>
  html
    .split('<p class="row-top">')
    .slice(1)
    .map((row) => ({
      name: plainText(/<bdi>([\s\S]*?)<\/bdi>/.exec(row)?.[1] ?? '').toLowerCase(),
      entries: [
        ...new Set([...row.matchAll(/\/entries\/(\w+\/[0-9a-f-]{36})/g)].map(([, entry = '']) => entry)),
      ]
        .sort()
        .join(' '),
    }));

const LISTS = {
  medications: 'MedicationStatement',
  prescriptions: 'MedicationRequest',
  conditions: 'Condition',
  observations: 'Observation',
};

const lists = z.object({
  data: z.array(
    z.object({
      fhir: z.string(),
      version: z.number(),
      status: z.unknown().optional(),
      value: z.unknown().optional(),
    }),
  ),
  next_cursor: z.string().nullable(),
});

/** What REST v1 lists: everything but what was entered in error, and orders not to give something. */
async function expectLists(service: InProcess, { patient, versions, name }: VariedRecord): Promise<void> {
  for (const [list, type] of Object.entries(LISTS)) {
    const shown: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const url = `${service.url}/v1/patients/${patient.id}/${list}?limit=100${more}`;
      const answer = await fetch(url, { headers: { Authorization: `Bearer ${service.key}` } });
      const { data, next_cursor } = lists.parse(await answer.json());
      for (const { fhir, version, status, value } of data) {
        shown.push(`${fhir}/_history/${version}`);
        const stored = versions.find((each) => fhir === `${each.type}/${each.id}`)?.resource;
        if (list === 'medications' || list === 'prescriptions')
          expect(status, `${name}: ${fhir}`).to.equal(stored?.status);
        const [number] = read(stored, 'valueQuantity.value');
        const isExact = read(stored, 'valueQuantity.comparator').length === 0;
        if (number !== undefined && isExact) expect(value, `${name}: ${fhir}`).to.equal(number);
      }
      cursor = next_cursor;
    }
    const expected = versions
      .filter((each) => each.type === type && each.resource.doNotPerform !== true)
      .filter(({ resource }) => {
        const certainty = texts(resource, 'verificationStatus.coding.code');
        return resource.status !== 'entered-in-error' && !certainty.includes('entered-in-error');
      })
      .map(reference);
    expect(shown.sort(), `${name}: ${list}`).to.deep.equal(expected.sort());
  }
}
