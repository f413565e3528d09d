/** The clinical reading of a record matches a second reading of the raw JSON (second-reading.ts). */
import { expect } from 'chai';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { type Entry, readRecord } from '#src/clinical/reading/reading.ts';
import { containedIn } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { TODAY } from '#test/context/records.ts';
import { eachRecord } from './cases.ts';
import { reference, type Version } from './raw.ts';
import type { SecondReading, Told } from './second-reading.ts';
import type { VariedRecord } from './varied-records.ts';

/**
 * The minimum average number of items in each list per record. Without it, the readings could agree because both lists are
 * empty.
 */
const LEAST = {
  dead: 0.02,
  current: 2,
  unclear: 0.1,
  planned: 0.1,
  forbidden: 0.05,
  past: 1,
  critical: 0.5,
  allergies: 1,
  inactiveAllergies: 0.3,
  activeProblems: 2,
  pastProblems: 1,
  vaccinations: 0.5,
};

interface Read extends Entry {
  readonly version: Version;
}

describe('the clinical reading', () => {
  const filled = new Map<string, number>();
  /** Number of records without any items, by list. */
  const bare = new Map<string, number>();
  let records = 0;

  eachRecord('says what a second reading of the raw JSON says', (record, again) => {
    const expected = listsAgain(again);
    expect(listsOf(record), record.name).to.deep.equal(expected);
    records += 1;
    for (const [list, items] of Object.entries(expected))
      filled.set(list, (filled.get(list) ?? 0) + items.length);
    const { current = [], unclear = [], forbidden = [], past = [] } = expected;
    const { critical = [], allergies = [], activeProblems = [] } = expected;
    const main = {
      medicines: [current, unclear, forbidden, past],
      allergies: [critical, allergies],
      problems: [activeProblems],
      values: [[...again.newest.keys()]],
    };
    for (const [lists, all] of Object.entries(main))
      bare.set(lists, (bare.get(lists) ?? 0) + (all.flat().length === 0 ? 1 : 0));
  });

  it('has enough to say', () => {
    for (const [list, least] of Object.entries(LEAST))
      expect((filled.get(list) ?? 0) / records, list).to.be.at.least(least);
    for (const [lists, empty] of bare) expect(empty / records, `records without ${lists}`).to.be.below(0.2);
    expect(bare.size).to.equal(4);
  });
});

const sourcesOf = (told: readonly Told[]): string[] => told.map(({ sources }) => sources.join(' ')).sort();

function listsAgain(again: SecondReading): Record<string, readonly string[]> {
  const { allergies } = again;
  return {
    dead: again.isDead ? ['dead'] : [],
    current: sourcesOf(again.current),
    unclear: sourcesOf(again.unclear),
    planned: sourcesOf(again.planned),
    forbidden: sourcesOf(again.forbidden),
    past: sourcesOf(again.past),
    critical: sourcesOf(allergies.filter(({ isHigh }) => isHigh)),
    allergies: sourcesOf(allergies.filter(({ isHigh }) => !isHigh)),
    inactiveAllergies: sourcesOf(again.inactiveAllergies),
    activeProblems: sourcesOf(again.activeProblems),
    pastProblems: sourcesOf(again.pastProblems),
    vaccinations: again.vaccinations.flatMap(({ sources }) => sources).sort(),
  };
}

function listsOf({ patient, versions, directory }: VariedRecord): Record<string, readonly string[]> {
  const entries = versions.map(
    (version): Read => ({
      type: version.type,
      id: version.id,
      value: plain(version.resource),
      partOfAi: version.byAi ? 'written' : 'no',
      version,
    }),
  );
  const look = (to: Json | undefined, within: JsonObject): JsonObject | undefined =>
    containedIn(within, to) ?? plain(directory.get(String(to)) ?? {});
  const { person, facts } = readRecord(plain(patient.resource), entries, {
    today: TODAY,
    look,
    name: nameConcept,
  });
  const join = (sources: readonly { readonly told: Read }[]): string =>
    sources
      .map(({ told }) => reference(told.version))
      .sort()
      .join(' ');
  const medicines = (standing: string): string[] =>
    facts.medicines
      .filter((each) => each.standing === standing)
      .map(({ sources }) => join(sources))
      .sort();
  const active = facts.allergies.filter(({ isOver }) => !isOver);
  return {
    dead: person.died === undefined ? [] : ['dead'],
    current: medicines('current'),
    unclear: medicines('unclear'),
    planned: medicines('planned'),
    forbidden: medicines('forbidden'),
    past: medicines('past'),
    critical: active
      .filter(({ isCritical }) => isCritical)
      .map((each) => join([each]))
      .sort(),
    allergies: active
      .filter(({ isCritical }) => !isCritical)
      .map((each) => join([each]))
      .sort(),
    inactiveAllergies: facts.allergies
      .filter(({ isOver }) => isOver)
      .map((each) => join([each]))
      .sort(),
    activeProblems: facts.problems
      .filter(({ isOver }) => !isOver)
      .map(({ sources }) => join(sources))
      .sort(),
    pastProblems: facts.problems
      .filter(({ isOver }) => isOver)
      .map(({ sources }) => join(sources))
      .sort(),
    vaccinations: facts.vaccinations
      .filter(({ isGiven }) => isGiven)
      .flatMap(({ doses }) => doses.map(({ told }) => reference(told.version)))
      .sort(),
  };
}

function plain(resource: unknown): JsonObject {
  return JSON.parse(JSON.stringify(resource));
}
