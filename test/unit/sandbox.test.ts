/** Synthetic patients: forty plausibility rules over many seeds, and proof that the rules find what is wrong. */
import { expect } from 'chai';
import { accounts } from '#src/sandbox/accounts.ts';
import { generateSandbox } from '#src/sandbox/generate.ts';
import { SEED } from '#src/sandbox/seed.ts';
import type { SyntheticData } from '#src/sandbox/synthetic.ts';
import { IdSource } from '#src/shared/ids.ts';
import { bundledResources } from '#src/terminology/bundled/bundled.ts';
import { conceptRows } from '#src/terminology/rows.ts';
import { isUnit } from '#src/terminology/units.ts';
import { PLANTED, plant } from '#test/support/sandbox/planted.ts';
import { implausible, RULES } from '#test/support/sandbox/plausibility.ts';
import { View } from '#test/support/sandbox/view.ts';
import { scaled } from '#test/support/scale.ts';
import { tell } from '#test/support/tell.ts';

const TODAY = '2026-11-22';
const FIRST_IDS = '11111111-1111-4111-8111-111111111111';

const made = (seed: string, ids = FIRST_IDS, today = TODAY): SyntheticData =>
  generateSandbox({ seed, today, ids: new IdSource(ids, Date.parse(today)) });

/** Returns the data as text, with each id replaced by the place where the id first appears. */
function withoutIds(data: SyntheticData): string {
  const places = new Map<string, string>();
  return JSON.stringify(data).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
    if (!places.has(id)) places.set(id, `#${places.size}`);
    return places.get(id) ?? '';
  });
}

describe('sandbox', () => {
  it('makes plausible patients from every seed', function () {
    const seeds = scaled(1_000, 2);
    this.timeout(10_000 + seeds * 3_000);
    expect(RULES).to.have.length(40);
    for (let seed = 0; seed < seeds; seed += 1) {
      // These days include leap days, and the ends of months and years.
      const today = new Date(Date.parse(TODAY) + seed * 37 * 86_400_000).toISOString().slice(0, 10);
      const faults = implausible(made(`seed ${seed}`, FIRST_IDS, today), today);
      expect([...faults], `seed ${seed} on ${today}`).to.deep.equal([]);
    }
    tell(`${seeds} seeds against ${RULES.length} rules`);
  });

  it('makes the same from the same seed, with the ids of another', () => {
    const one = made('a', FIRST_IDS);
    const again = made('a', FIRST_IDS);
    const reset = made('a', '22222222-2222-4222-8222-222222222222');
    expect(JSON.stringify(again)).to.equal(JSON.stringify(one));
    expect(withoutIds(reset)).to.equal(withoutIds(one));
    const ids = new Set(one.records.flatMap(({ resources }) => resources.map(({ id }) => id)));
    expect(reset.records.flatMap(({ resources }) => resources).filter(({ id }) => ids.has(id))).to.deep.equal(
      [],
    );
    expect(withoutIds(made('b'))).not.to.equal(withoutIds(one));
  });

  it('uses only codes that the bundled terminology has, but for ICD-10 and tags of languages', () => {
    const known = new Map(
      bundledResources().flatMap((each) =>
        each.resourceType === 'CodeSystem' && each.concept !== undefined
          ? [[each.url, new Set([...conceptRows(0, each.concept)].map(({ code }) => code))] as const]
          : [],
      ),
    );
    const unknown = new Set<string>();
    const notBundled = new Set<string>();
    JSON.parse(JSON.stringify(made(SEED)), (_, value: { system?: unknown; code?: unknown } | null) => {
      if (typeof value?.system !== 'string' || typeof value.code !== 'string') return value;
      const codes = known.get(value.system);
      if (codes === undefined) notBundled.add(value.system);
      else if (!codes.has(value.code) && !isUnit(value.system, value.code))
        unknown.add(`${value.system}|${value.code}`);
      return value;
    });
    expect([...unknown]).to.deep.equal([]);
    expect([...notBundled].sort()).to.deep.equal(['http://hl7.org/fhir/sid/icd-10', 'urn:ietf:bcp:47']);
  });

  it('makes the first so many when fewer are wanted, the same ones', () => {
    const ids = new IdSource(FIRST_IDS, Date.parse(TODAY));
    const some = generateSandbox({ seed: 'a', today: TODAY, ids, patients: 3 });
    expect(some.records).to.deep.equal(made('a').records.slice(0, 3));
  });

  it('has a Patient for everybody of age who is alive to sign in as, and their children as dependents', () => {
    const people = accounts(TODAY);
    const { records } = made(SEED);
    const patients = records.map(({ resources }) => resources[0]?.resource ?? {});
    expect(new Set(people.map(({ email }) => email))).to.have.length(people.length);
    for (const { number, email, name, age } of people) {
      const [patient, ...others] = patients.filter((one) =>
        JSON.stringify(one.telecom).includes(`"${email}"`),
      );
      expect(others, number).to.deep.equal([]);
      const text = JSON.stringify(patient);
      for (const word of [`"${number}"`, ...name.split(' ').map((part) => `"${part}"`)])
        expect(text).to.include(word);
      const years = (Date.parse(TODAY) - Date.parse(String(patient?.birthDate))) / (365.25 * 86_400_000);
      expect(Math.floor(years), number).to.equal(age);
      expect(age).to.be.at.least(18);
      expect(patient?.deceasedDateTime).to.equal(undefined);
    }
    const related = records.flatMap(({ resources }) =>
      resources
        .filter(({ type }) => type === 'RelatedPerson')
        .map(({ resource }) => JSON.stringify(resource)),
    );
    const parents = people.flatMap(({ number, email, dependents }) =>
      dependents.map(
        () => related.filter((one) => one.includes(`"${number}"`) && one.includes(`"${email}"`)).length,
      ),
    );
    expect(parents).to.deep.equal([1, 1, 1]);
    expect(people).to.have.length(30 - parents.length - 1);
    expect(accounts(TODAY, 3)).to.deep.equal(people.slice(0, 2), 'fewer are the first ones');
    expect(accounts(TODAY, 0)).to.deep.equal([]);
    // Deceased patients get no address, and nobody has two addresses.
    expect(
      patients.filter(({ telecom }) => JSON.stringify(telecom).includes('@patients.example.org')),
    ).to.have.length(27);
  });

  describe('the rules of plausibility', () => {
    let clean: SyntheticData;
    before(() => {
      clean = made('clean');
      expect([...implausible(clean, TODAY)]).to.deep.equal([]);
    });
    RULES.forEach(({ says, check }, index) => {
      it(`find what breaks rule ${index + 1}: ${says}`, () => {
        const planting = PLANTED[index];
        if (planting === undefined) throw new Error('nothing is planted for it');
        expect(check(new View(plant(clean, planting), TODAY))).not.to.deep.equal([]);
      });
    });
  });
});
