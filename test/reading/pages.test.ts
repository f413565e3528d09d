/** The patient's pages and the REST v1 lists over HTTP show the same as a second reading of the raw JSON. */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import type { PageVisitor } from '#test/support/page-visitor.ts';
import { patientVisitor } from '#test/support/patient-pages.ts';
import { scaled } from '#test/support/scale.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';
import { syntheaCases, VARIED } from './cases.ts';
import { EVERYDAY } from './everyday-names.ts';
import {
  areCritical,
  type ListId,
  overviewIn,
  type PrintedResult,
  printedResults,
  rowsIn,
} from './page-rows.ts';
import { codesOf, nameOf } from './raw.ts';
import { type Compared, expectLists, expectTimeline } from './rest-lists.ts';
import { expectAmong, expectSaid, type Said } from './said.ts';
import { readAgain, type SecondReading, type Stated } from './second-reading.ts';
import { isSaid, type ToldValue } from './second-values.ts';
import { storeRecord } from './stored-record.ts';
import type { VariedRecord } from './varied-records.ts';

/** Number of records for each seed; all of them in `npm run prove`. */
const OF_SEED = scaled(30, 3);

/** The maximum share of versions that the service may refuse; refused versions aren't compared. */
const MOST_REFUSED = 0.0005;

/**
 * The minimum average number of each member per record. Without it, the readings could agree because a member is always
 * absent.
 */
const LEAST: Readonly<Record<string, number>> = {
  'medications.start': 1,
  'medications.end': 0.1,
  'prescriptions.prescribed_on': 1,
  'prescriptions.end': 0.1,
  'conditions.clinical_status': 3,
  'conditions.onset': 2,
  'conditions.abatement': 0.3,
  'observations.value': 10,
  'observations.effective_at': 10,
  'timeline.onset': 2,
  'timeline.last_reaction': 0.1,
  'timeline.recorded': 0.3,
  'timeline.taken': 1,
  'timeline.prescribed': 1,
  'timeline.measured': 10,
  'timeline.reported': 0.05,
  'timeline.entered': 0.3,
};

describe('the pages of patients and the lists of REST v1', () => {
  let service: InProcess;
  let count = 0;
  let sent = 0;
  const refused: string[] = [];
  const compared: Compared = new Map();

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
        const email = `reader${count}@example.org`;
        const stored = await storeRecord(service, record, email);
        refused.push(...stored.refused);
        sent += stored.versions.length + stored.refused.length;
        const today = new Date().toISOString().slice(0, 10);
        const again = readAgain(stored.versions, stored.directory, today);
        const visitor = await patientVisitor(service, email);
        await expectPages(visitor, stored, again);
        await expectLists(service, stored, compared);
        await expectTimeline(service, stored, compared);
        count += 1;
      }
    });
  }
  it('have enough to compare', () => {
    expect(refused.length / sent, [...new Set(refused)].slice(0, 20).join('\n')).to.be.at.most(MOST_REFUSED);
    for (const [member, least] of Object.entries(LEAST))
      expect((compared.get(member) ?? 0) / count, member).to.be.at.least(least);
  });
  if (synthea.length === 0) it.skip('show the same of Synthea’s records (ANNAL_SYNTHEA_DIR names no folder)');
});

/** Returns the lists, each with its current and past items. */
function listsOf(
  again: SecondReading,
): Record<ListId, readonly [now: readonly Stated[], past: readonly Stated[]]> {
  return {
    allergies: [again.allergies, again.inactiveAllergies],
    medicines: [[...again.current, ...again.unclear, ...again.planned, ...again.forbidden], again.past],
    problems: [again.activeProblems, again.pastProblems],
  };
}

const LOINC = 'http://loinc.org';
const LIST_IDS = ['allergies', 'medicines', 'problems'] as const;
/**
 * The maximum number of past items on the health page, of medicines and problems named in the overview, and of printed items.
 * The overview names all allergies, and all medicines that must not be given.
 */
const [MOST_PAST, MOST_NAMED, MOST_PRINTED] = [100, 8, 50];

async function expectPages(visitor: PageVisitor, record: VariedRecord, again: SecondReading): Promise<void> {
  const path = `/connections/records/${record.patient.id}`;
  const health = await visitor.open(`${path}/health`);
  const print = await visitor.open(`${path}/print`);
  const page = await visitor.open(path);
  const overview = overviewIn(page.text);
  const lists = listsOf(again);
  for (const list of LIST_IDS) {
    const where = `${record.name}: ${list}`;
    const [now, past] = lists[list].map((some) => some.map(byEntries));
    const [shownNow, shownPast] = rowsIn(health.text, list);
    expectSaid(now ?? [], shownNow, where);
    if ((past ?? []).length <= MOST_PAST) expectSaid(past ?? [], shownPast, `${where}, past`);
    const isPrinted = list === 'medicines';
    const printed = isPrinted ? [...(now ?? []), ...(past ?? [])] : (now ?? []);
    if (printed.length <= MOST_PRINTED) expectSaid(printed, rowsIn(print.text, list)[0], `${where}, printed`);
    const counted = pastInWords(list, past?.length ?? 0);
    expect(health.text, where).to.contain(counted === '' ? '' : `<summary>${counted}</summary>`);
    const onPaper = isPrinted ? `<h3>${counted}</h3>` : `>Not printed: ${counted}.<`;
    expect(print.text, where).to.contain(counted === '' ? '' : onPaper);
    const inOverview =
      now?.length === 0 ? `>None that is current; ${counted}.<` : `<p class="quiet">${counted}</p>`;
    expect(page.text, where).to.contain(counted === '' ? '' : inOverview);
    const { said, more } = overview[list];
    expectAmong(now ?? [], said, `${where}, overview`);
    const uncut = { allergies: again.allergies, medicines: again.forbidden, problems: [] }[list];
    const least = list === 'allergies' ? 0 : MOST_NAMED;
    const named = Math.min(Math.max(least, uncut.length), now?.length ?? 0);
    expectSaid(uncut.map(byEntries), said.slice(0, uncut.length), `${where}, overview, never cut`);
    expect([said.length, more], `${where}, overview`).to.deep.equal([named, (now?.length ?? 0) - named]);
  }
  const critical = again.allergies.map(({ isHigh }) => isHigh);
  for (const shown of [
    rowsIn(health.text, 'allergies')[0],
    rowsIn(print.text, 'allergies')[0],
    overview.allergies.said,
  ])
    expect(areCritical(shown), `${record.name}: the most critical first`).to.deep.equal(critical);
  for (const shown of [rowsIn(health.text, 'allergies')[0], rowsIn(print.text, 'allergies')[0]])
    expect(risksIn(again, shown), `${record.name}: the most critical first`).to.deep.equal(
      again.allergies.map(({ risk }) => risk),
    );
  expectPrinted(printedResults(print.text), record, again);
  expect(/died/i.test(page.text), `${record.name}: death`).to.equal(again.isDead);
}

/** Returns the number of past items, in the words that a page uses. */
function pastInWords(list: ListId, count: number): string {
  const names = { allergies: 'allerg', medicines: 'medicine', problems: 'problem' };
  const ends = list === 'allergies' ? ['y', 'ies'] : ['', 's'];
  return count === 0 ? '' : `${count} past ${names[list]}${ends[count === 1 ? 0 : 1]}`;
}

function risksIn({ allergies }: SecondReading, shown: readonly Said[]): (number | undefined)[] {
  return shown.map(
    ({ sources }) => allergies.find((each) => byEntries(each).sources.join(' ') === sources)?.risk,
  );
}

/**
 * Checks that the newest result of each kind is printed with its name, value and day, next to any later measurement without a
 * value.
 */
function expectPrinted(
  rows: readonly PrintedResult[],
  { name, versions }: VariedRecord,
  { newest, failed }: SecondReading,
): void {
  for (const [code, values] of newest) {
    if (values.some(({ measured, reported }) => measured === undefined && reported === undefined)) continue;
    // A code may have several names.
    const own = versions
      .filter(({ byAi, resource }) => !byAi && codesOf(resource, 'code', LOINC).includes(code))
      .map(({ resource }) => nameOf(resource, 'code'));
    const names = EVERYDAY[code] === undefined ? own : [EVERYDAY[code]];
    const where = `${name}: ${code}, ${JSON.stringify(values)} in ${JSON.stringify(rows)}`;
    const row = rows.find((each) => values.some((value) => isPrinted(value, names, each)));
    expect(row, where).to.not.equal(undefined);
    expect(row?.failed, where).to.equal(failed.get(code)?.slice(0, 10));
  }
}

const isPrinted = (
  value: ToldValue,
  names: readonly (string | undefined)[],
  { name, value: said, day }: PrintedResult,
): boolean => {
  const when = value.measured?.slice(0, 10) ?? `reported ${value.reported?.slice(0, 10)}`;
  const isOfDay = day === when || day.startsWith(`${when} also with this date: `);
  return names.includes(name) && isSaid(value, said) && isOfDay;
};

/**
 * Returns the same statement with its sources as entries instead of versions, because pages show the entries' current
 * versions.
 */
const byEntries = (told: Stated): Stated => ({
  ...told,
  sources: told.sources.map((source) => source.replace(/\/_history.*/, '')).sort(),
});
