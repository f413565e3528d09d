/** What the clinical reading says of a record equals a second reading of the raw JSON (second-reading.ts). */
import { expect } from 'chai';
import { nameConcept } from '#src/clinical/reading/name.ts';
import { type Entry, readRecord } from '#src/clinical/reading/reading.ts';
import { containedIn } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json.ts';
import { TODAY } from '#test/context/records.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { reference, type Version } from './raw.ts';
import { readAgain, type SecondReading, type Told } from './second-reading.ts';
import { type VariedRecord, variedRecords } from './varied-records.ts';

interface Read extends Entry {
  readonly version: Version;
}

const SEEDS = Array.from({ length: scaled(10, 1) }, (_, n) => steadySeed() + n);

describe('the clinical reading', () => {
  const filled = new Map<string, number>();
  for (const seed of SEEDS) {
    it(`says what a second reading of the raw JSON says (seed ${seed})`, () => {
      for (const record of variedRecords(seed)) {
        const again = readAgain(record.versions, record.directory, TODAY);
        const [said, expected] = [listsOf(record), listsAgain(again)];
        expect(said, record.name).to.deep.equal(expected);
        for (const [list, items] of Object.entries(expected))
          if (items.length > 0) filled.set(list, (filled.get(list) ?? 0) + 1);
      }
    });
  }

  it('has something to say in enough records', () => {
    for (const [list, records] of filled) expect(records, list).to.be.at.least(SEEDS.length);
    expect(filled.size).to.equal(11);
  });
});

const sourcesOf = (told: readonly Told[]): string[] => told.map(({ sources }) => sources.join(' ')).sort();

function listsAgain(again: SecondReading): Record<string, readonly string[]> {
  const { allergies } = again;
  return {
    dead: again.isDead ? ['dead'] : [],
    current: sourcesOf(again.current),
    unclear: sourcesOf(again.unclear),
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
