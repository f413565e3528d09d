/** Contexts, `$summary` and the shared-links page show the same for a record as a second reading of the raw JSON. */
import { expect } from 'chai';
import type { Composed } from '#src/context/compose.ts';
import type { Kind } from '#src/context/request.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { TODAY } from '#test/context/records.ts';
import { eachRecord } from './cases.ts';
import { mentions, reference, texts } from './raw.ts';
import { expectSaid } from './said.ts';
import type { SecondReading, Told, ToldMedicine } from './second-reading.ts';
import type { VariedRecord } from './varied-records.ts';
import {
  allergyCells,
  allergyLine,
  type Line,
  medicineCells,
  medicineLine,
  problemCells,
  problemLine,
  riskIn,
  type ViewerRow,
  viewerRow,
} from './view-lines.ts';
import { composeContext, summarize, view } from './views.ts';

/** More than any record needs. */
const ROOM = 100_000;

/** Sections of the shared-links page that contain allergies, medicines and problems. */
const HIDDEN = ['allergies', 'medications', 'problems', 'past', 'functional'];

const names = (told: readonly Told[]): string[] => told.map(({ name }) => name.toLowerCase()).sort();
const sources = (told: readonly Told[]): string[] => told.map((each) => each.sources.join(' ')).sort();
const flat = (told: readonly Told[]): string[] => told.flatMap((each) => each.sources).sort();

describe('views of a record', () => {
  eachRecord('contexts tell what a second reading of the raw JSON says', async (record, again) => {
    const context = await composeContext(record, TODAY, ROOM);
    expect(toldIn(context), record.name).to.deep.equal({
      allergies: sources(again.allergies),
      medicines: sources([...again.current, ...again.unclear, ...again.planned, ...again.forbidden]),
      pastMedicines: sources(again.past),
      problems: sources(again.activeProblems),
      pastProblems: sources(again.pastProblems),
    });
  });

  eachRecord('contexts say names, states and dates as a second reading does', async (record, again) => {
    const { sections, omitted } = await composeContext(record, TODAY, ROOM);
    const over = omitted.find(({ kind, reason }) => kind === 'allergies' && reason === 'past')?.count ?? 0;
    expect(over, `${record.name}: past allergies`).to.equal(again.inactiveAllergies.length);
    const lines = (kind: Kind, isNeeded: boolean): Line[] =>
      sections
        .filter((section) => section.kind === kind)
        .flatMap(({ items }) => items)
        .filter(({ fact }) => (fact.isNeeded ?? false) === isNeeded)
        .map(({ fact }) => ({
          text: fact.text,
          sources: [fact.entry, ...fact.also].map(nameVersion).sort().join(' '),
          name: String(fact.members.display).toLowerCase(),
        }));
    const allergies = lines('allergies', true);
    expectSaid(again.allergies, allergies.map(allergyLine), `${record.name}: allergies`);
    const risks = allergies.map(
      (line) => again.allergies.find((each) => line.sources === each.sources.join())?.risk,
    );
    expect(risks, `${record.name}: the most critical first`).to.deep.equal(risksOf(again));
    const now = [...again.current, ...again.unclear, ...again.planned, ...again.forbidden];
    expectSaid(now, lines('medications', true).map(medicineLine), `${record.name}: medicines`);
    expectSaid(again.past, lines('medications', false).map(medicineLine), `${record.name}: past medicines`);
    expectSaid(again.activeProblems, lines('problems', true).map(problemLine), `${record.name}: problems`);
    expectSaid(
      again.pastProblems,
      lines('problems', false).map(problemLine),
      `${record.name}: past problems`,
    );
  });

  eachRecord('contexts of the usual size name allergies, medicines and problems', async (record, again) => {
    try {
      const { text } = await composeContext(record, TODAY, 2_000);
      const said = text.toLowerCase();
      const needed = [
        again.allergies,
        again.current,
        again.unclear,
        again.planned,
        again.forbidden,
        again.activeProblems,
      ].flat();
      for (const name of names(needed)) expect(said, record.name).to.contain(name);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  });

  eachRecord('summaries hold what a second reading of the raw JSON says', async (record, again) => {
    const { sections, bundle } = summarize(record, TODAY);
    const entries = (...codes: string[]): string[] =>
      codes.flatMap((code) => sections.get(code)?.entries ?? []).sort();
    const rows = (code: string): string[] =>
      (sections.get(code)?.rows ?? [])
        .map((row) => (row.Substance ?? row.Problem ?? row.Medication ?? '').toLowerCase())
        .sort();
    const going = listable(record, again);
    expect(
      {
        allergies: entries('48765-2'),
        medicines: entries('10160-0'),
        problems: entries('11450-4', '47420-5'),
        pastProblems: entries('11348-0'),
        vaccinations: entries('11369-6'),
      },
      record.name,
    ).to.deep.equal({
      allergies: flat(again.allergies),
      medicines: going,
      problems: flat(again.recordedProblems),
      pastProblems: flat(again.resolvedProblems),
      vaccinations: flat(again.vaccinations),
    });
    expect(rows('48765-2'), record.name).to.deep.equal(names(again.allergies));
    expect(rows('11450-4').length + rows('47420-5').length, record.name).to.equal(
      again.recordedProblems.length,
    );
    expect(rows('11348-0'), record.name).to.have.length(again.resolvedProblems.length);
    const prohibitions = rows('10160-0').filter((row) => row.startsWith('must not be given: '));
    expect(prohibitions, record.name).to.deep.equal(
      names(again.forbidden).map((name) => `must not be given: ${name || 'medication without a name'}`),
    );
    const told = new Set(going);
    const listed = (some: readonly ToldMedicine[]): ToldMedicine[] =>
      some.filter((each) => each.sources.some((source) => told.has(source)));
    const medicines = [
      ...listed([...again.current, ...again.unclear, ...again.planned, ...again.past]),
      ...again.forbidden,
    ];
    const table = (...codes: string[]) => codes.flatMap((code) => sections.get(code)?.rows ?? []);
    expectSaid(medicines, table('10160-0').map(medicineCells), `${record.name}: medicines`);
    expectSaid(again.allergies, table('48765-2').map(allergyCells), `${record.name}: allergies`);
    expect(table('48765-2').map(riskIn), `${record.name}: the most critical first`).to.deep.equal(
      risksOf(again),
    );
    expectSaid(
      again.recordedProblems,
      table('11450-4', '47420-5').map(problemCells),
      `${record.name}: problems`,
    );
    expectSaid(again.resolvedProblems, table('11348-0').map(problemCells), `${record.name}: past problems`);
    const seen = view([bundle], TODAY);
    const inLink = (kind: string): string[] =>
      (seen.sections.get(kind) ?? []).map(({ name }) => name.toLowerCase()).sort();
    expect(inLink('allergies'), record.name).to.deep.equal(names(again.allergies));
    expect(inLink('problems'), record.name).to.deep.equal(names(again.recordedProblems));
    // The link doesn't include past prescriptions, but its page says the same about them as the other views.
    const inPage = (seen.sections.get('medications') ?? []).map((row) => viewerRow(row, 'medicine'));
    expectSaid(medicines, inPage, `${record.name}: medicines of the link`);
    const past = {
      '48765-2': again.inactiveAllergies.length,
      '10160-0': again.past.length - listed(again.past).length,
      '18776-5': sections.has('18776-5') ? countPastPlans(record) : 0,
    };
    for (const [code, count] of Object.entries(past))
      expect(sections.get(code)?.notListed ?? 0, `${record.name}: ${code}, past`).to.equal(count);
    expect(seen.notListed.get('medications') ?? 0, record.name).to.equal(past['10160-0']);
    const pressures = (sections.get('8716-3')?.entries ?? []).concat(sections.get('30954-2')?.entries ?? []);
    expect(lateSystolic(record, pressures), `${record.name}: systolic after diastolic`).to.deep.equal([]);
  });

  eachRecord(
    'the page of shared links shows what a second reading of the raw JSON says',
    async (record, again) => {
      const versions = record.versions.filter(({ byAi }) => !byAi);
      const facts = versions.map(({ resource }) => resource);
      const seen = view([...facts, ...record.directory.values()], TODAY);
      const rows = (kind: string) => seen.sections.get(kind) ?? [];
      const namesOf = (some: readonly { readonly name: string }[]): string[] =>
        some.map(({ name }) => name.toLowerCase()).sort();
      const now = (kind: string) => rows(kind).filter(({ isOver }) => !isOver);
      const said = (some: readonly ViewerRow[], as: 'medicine' | 'stated') =>
        some.map((row) => viewerRow(row, as));
      const { current, unclear, planned, forbidden, past } = again;
      const medicines = [...current, ...unclear, ...planned, ...forbidden, ...past];
      expectSaid(medicines, said(rows('medications'), 'medicine'), `${record.name}: medicines`);
      expectSaid(again.allergies, said(now('allergies'), 'stated'), `${record.name}: allergies`);
      expect(now('allergies').map(riskOf), `${record.name}: the most critical first`).to.deep.equal(
        risksOf(again),
      );
      expectSaid(again.recordedProblems, said(rows('problems'), 'stated'), `${record.name}: problems`);
      expectSaid(again.resolvedProblems, said(rows('past'), 'stated'), `${record.name}: past problems`);
      const standing = (standing: string) =>
        namesOf(rows('medications').filter((each) => each.standing === standing));
      expect(
        {
          hidden: HIDDEN.reduce((sum, kind) => sum + (seen.hidden.get(kind) ?? 0), 0),
          dead: seen.patient.died !== undefined,
          allergies: namesOf(rows('allergies').filter(({ isOver }) => !isOver)),
          critical: namesOf(rows('allergies').filter(({ flag }) => flag === 'critical')),
          current: standing('current').length,
          unclear: standing('unclear').length,
          planned: standing('planned').length,
          forbidden: standing('forbidden').length,
          past: standing('past').length,
          problems: namesOf(rows('problems')),
          pastProblems: namesOf(rows('past')),
        },
        record.name,
      ).to.deep.equal({
        hidden: countModified(record),
        dead: again.isDead,
        allergies: names(again.allergies),
        critical: names(again.allergies.filter(({ isHigh }) => isHigh)),
        current: again.current.length,
        unclear: again.unclear.length,
        planned: again.planned.length,
        forbidden: again.forbidden.length,
        past: again.past.length,
        problems: names(again.recordedProblems),
        pastProblems: names(again.resolvedProblems),
      });
    },
  );
});

/** Statuses of past plans (https://hl7.org/fhir/R4/valueset-request-status.html). */
const ENDED = ['completed', 'revoked'];

/** Returns the number of past care plans that were written by people and aren't merely ideas. */
function countPastPlans({ versions }: VariedRecord): number {
  return versions.filter(
    ({ type, byAi, resource }) =>
      type === 'CarePlan' &&
      !byAi &&
      ENDED.includes(String(resource.status)) &&
      resource.intent !== 'proposal' &&
      resource.intent !== 'option' &&
      !mentions(resource, 'modifierExtension') &&
      !mentions(resource, 'implicitRules'),
  ).length;
}

/** Returns the systolic pressures that follow a diastolic pressure from the same day with no systolic pressure before it. */
function lateSystolic({ versions }: VariedRecord, entries: readonly string[]): string[] {
  const open = new Map<string, number>();
  return entries.flatMap((entry) => {
    const { resource = {} } = versions.find((each) => reference(each) === entry) ?? {};
    const codes = texts(resource, 'code.coding.code');
    const [at = ''] = [...texts(resource, 'effectiveDateTime'), ...texts(resource, 'effectivePeriod.start')];
    const day = at.slice(0, 10);
    const balance = open.get(day) ?? 0;
    if (codes.includes('8462-4')) open.set(day, balance - 1);
    if (!codes.includes('8480-6')) return [];
    open.set(day, balance + 1);
    return balance < 0 ? [entry] : [];
  });
}

/** Returns how severe the active allergies are, most severe first. */
const risksOf = ({ allergies }: SecondReading): number[] => allergies.map(({ risk }) => risk);

/** Returns how severe an allergy is according to a row on the shared-links page. */
const riskOf = ({ flag, flagged }: { readonly flag: string; readonly flagged: string }): number =>
  flag === 'critical' ? 2 : flagged === 'Low risk' ? 0 : 1;

/** Returns the number of allergies, medicines and problems that a modifier could reverse, excluding withdrawn ones. */
function countModified({ versions }: VariedRecord): number {
  return versions.filter(({ byAi, type, resource }) => {
    const certainty = texts(resource, 'verificationStatus.coding.code');
    const isWithdrawn = ['entered-in-error', 'refuted'].some(
      (code) => resource.status === code || certainty.includes(code),
    );
    const isModified = mentions(resource, 'modifierExtension') || mentions(resource, 'implicitRules');
    return !byAi && /^(Allergy|Medication|Condition)/.test(type) && isModified && !isWithdrawn;
  }).length;
}

/** Returns the sources of a second reading's medicines that a summary may list, as stored, for living and deceased patients. */
function listable(record: VariedRecord, again: SecondReading): string[] {
  const told = new Set(flat([...again.current, ...again.unclear, ...again.planned, ...again.past]));
  return record.versions
    .filter((each) => told.has(reference(each)))
    .filter(({ resource }) => ['active', 'on-hold', 'intended', 'unknown'].includes(String(resource.status)))
    .map(reference)
    .sort();
}

function toldIn({ sections }: Composed): Record<string, readonly string[]> {
  const items = (kind: Kind, isNeeded: boolean): string[] =>
    sections
      .filter((section) => section.kind === kind)
      .flatMap((section) => section.items)
      .filter(({ fact }) => (fact.isNeeded ?? false) === isNeeded)
      .map(({ fact }) => [fact.entry, ...fact.also].map(nameVersion).sort().join(' '))
      .sort();
  return {
    allergies: items('allergies', true),
    medicines: items('medications', true),
    pastMedicines: items('medications', false),
    problems: items('problems', true),
    pastProblems: items('problems', false),
  };
}

const nameVersion = ({
  type,
  id,
  version,
}: {
  readonly type: string;
  readonly id: string;
  readonly version: number;
}): string => `${type}/${id}/_history/${version}`;
