/**
 * REST v1 returns exactly what was sent for a resource (docs/spec/decisions.md, section 4), and the stored resource is valid
 * R4.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { validateResource } from '#src/fhir/validate.ts';
import { isObject, type JsonObject, parseStored, printJson } from '#src/shared/json/json.ts';
import { shownCondition, toCondition } from '#src/v1/condition.ts';
import { listNames } from '#src/v1/lists.ts';
import { shownMedication, toMedication } from '#src/v1/medication.ts';
import { CATEGORIES, shownObservation, toObservation } from '#src/v1/observation.ts';
import { shownPatient, toPatient, withDemographics } from '#src/v1/patient.ts';
import { readEventDate, TIMELINE, TIMELINE_KINDS, timelineWords } from '#src/v1/timeline.ts';
import { randomSeed } from '#test/support/scale.ts';

const SUBJECT = 'Patient/01890000-0000-7000-8000-000000000000';
const RUNS = { numRuns: 300, seed: randomSeed() };

const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .map((value) => `a${value.replaceAll(/[\x00-\x1f\x7f]/g, '-')}z`);
const code = fc.stringMatching(/^[A-Za-z0-9.-]{1,12}$/);
const system = fc.constantFrom('http://loinc.org', 'urn:oid:1.2.3', 'http://example.org/codes');
const between = (first: string, last: string) =>
  fc
    .date({ min: new Date(first), max: new Date(last), noInvalidDate: true })
    .map((value) => value.toISOString().slice(0, 10));
const date = between('1900-01-01', '2099-12-31');
const decimal = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((value) => value / 1000);
const unit = fc.constantFrom('mg/dL', 'mm[Hg]', '%', '1', '/min', '10*3/uL');
const some = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const coded = { code, system, display: some(text) };

/** Returns what was sent, with null for members that weren't sent. */
const orNull = (given: object): JsonObject =>
  JSON.parse(
    JSON.stringify(given, (_, value: unknown) => (value === undefined ? null : value)),
  ) as JsonObject;

/** Returns a resource as it is stored, after conversion to JSON and back. */
function stored(resource: JsonObject): JsonObject {
  const faults = validateResource(resource, String(resource.resourceType) as 'Patient', {
    bases: [],
    reference: () => undefined,
  });
  expect(faults, JSON.stringify(resource)).to.deep.equal([]);
  return JSON.parse(JSON.stringify(resource)) as JsonObject;
}

describe('REST v1 → FHIR → REST v1', () => {
  it('a patient is the same', () => {
    const given = fc.record({
      given: some(text),
      family: text,
      birth_date: some(date),
      gender: some(fc.constantFrom('male', 'female', 'other', 'unknown')),
      identifiers: fc.array(fc.record({ system: some(system), value: text }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(given, (patient) => {
        expect(shownPatient(stored(toPatient(patient)))).to.deep.equal(orNull(patient));
      }),
      RUNS,
    );
    fc.assert(
      fc.property(given, given, (before, after) => {
        const telecom = [{ system: 'phone', value: '1' }];
        const replaced = stored(withDemographics({ ...stored(toPatient(before)), telecom }, after));
        expect(shownPatient(replaced)).to.deep.equal(orNull(after));
        expect(replaced.telecom).to.deep.equal(telecom);
      }),
      RUNS,
    );
  });

  it('an observation is the same, whatever its value', () => {
    const range = fc.oneof(
      fc.record({ low: decimal, high: some(decimal) }),
      fc.record({ low: fc.constant(undefined), high: decimal }),
    );
    const value = fc.oneof(
      fc.record({ value: decimal, unit, reference_range: some(range) }),
      fc.record({ value_text: text }),
      fc.record({ value_code: fc.record(coded) }),
      fc.record({ value_boolean: fc.boolean() }),
      fc.record({
        components: fc.array(fc.record({ ...coded, value: decimal, unit }), { minLength: 1, maxLength: 3 }),
      }),
    );
    const about = fc.record({
      ...coded,
      category: fc.constantFrom(...CATEGORIES),
      effective_at: date.map((day) => `${day}T10:30:00.5+02:00`),
      note: some(text),
      derived_from: some(fc.array(fc.uuid(), { minLength: 1, maxLength: 2 })),
    });
    const nothing = {
      value: undefined,
      unit: undefined,
      value_text: undefined,
      value_code: undefined,
      value_boolean: undefined,
    };
    fc.assert(
      fc.property(about, value, (one, other) => {
        const given = { ...one, ...other };
        const shown = shownObservation(stored(toObservation(given, SUBJECT)));
        const components =
          'components' in given ? given.components.map((each) => ({ ...nothing, ...each })) : [];
        const lists = { components, derived_from: given.derived_from ?? [] };
        const expected = { reference_range: undefined, ...nothing, ...given, ...lists, status: 'final' };
        expect(shown).to.deep.equal(orNull(expected));
      }),
      RUNS,
    );
  });

  it('a decimal keeps its literal, however precise', () => {
    const literal = fc.stringMatching(/^-?(0|[1-9]\d{0,12})\.\d{1,12}$/);
    fc.assert(
      fc.property(literal, literal, literal, unit, (value, low, part, of) => {
        const [one, two, three] = [value, low, part].map((text) => new LosslessNumber(text));
        if (one === undefined || two === undefined || three === undefined) return;
        const about = { code: 'x', category: 'laboratory', effective_at: '2026-01-01T00:00:00Z', unit: of };
        for (const given of [
          { ...about, value: one, reference_range: { low: two } },
          { ...about, unit: undefined, components: [{ code: 'y', value: three, unit: of }] },
        ]) {
          const resource = parseStored(printJson(toObservation(given, SUBJECT)));
          const shown = parseStored(printJson(shownObservation(resource) as unknown as JsonObject));
          expect(printJson(shown.value)).to.equal('value' in given ? value : 'null');
          if ('reference_range' in given)
            expect(printJson(shown.reference_range)).to.equal(`{"low":${low},"high":null}`);
          if ('components' in given) expect(printJson(shown.components)).to.contain(`"value":${part},`);
        }
      }),
      RUNS,
    );
  });

  it('a condition is the same', () => {
    const given = fc.record({
      ...coded,
      clinical_status: fc.constantFrom('inactive', 'remission', 'resolved'),
      onset: some(date),
      abatement: some(date),
      note: some(text),
    });
    fc.assert(
      fc.property(given, (condition) => {
        expect(shownCondition(stored(toCondition(condition, SUBJECT)))).to.deep.equal(orNull(condition));
      }),
      RUNS,
    );
  });

  it('a medication is the same', () => {
    const given = fc.record({
      ...coded,
      status: fc.constantFrom('active', 'completed', 'stopped', 'on-hold', 'intended', 'unknown'),
      dosage: some(text),
      start: some(between('1900-01-01', '1999-12-31')),
      end: some(between('2000-01-01', '2099-12-31')),
      note: some(text),
    });
    fc.assert(
      fc.property(given, (medication) => {
        const shown = shownMedication(stored(toMedication(medication, SUBJECT)));
        expect(shown).to.deep.equal(orNull(medication));
      }),
      RUNS,
    );
  });

  it('whatever FHIR holds is shown, without a fault', () => {
    const junk = fc.dictionary(
      fc.constantFrom(
        'name',
        'code',
        'category',
        'valueQuantity',
        'component',
        'identifier',
        'note',
        'dosage',
        'effectivePeriod',
        'clinicalStatus',
        'valueRange',
        'referenceRange',
        'derivedFrom',
        'content',
        'period',
        'onsetDateTime',
        'verificationStatus',
        'reaction',
        'class',
        'conclusion',
      ),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(junk, (resource) => {
        if (!isObject(resource)) return;
        for (const show of [shownPatient, shownObservation, shownCondition, shownMedication])
          expect(show(resource)).to.be.an('object');
        for (const kind of TIMELINE_KINDS) {
          const type = TIMELINE[kind];
          expect(timelineWords(kind, resource).title).not.to.equal('');
          expect(listNames(type, resource, false)).to.be.an('array');
          const when = readEventDate(type, resource);
          if (when !== undefined) expect(when.at).to.be.a('number');
        }
      }),
      RUNS,
    );
  });
});
