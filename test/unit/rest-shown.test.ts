/**
 * Resources written through FHIR are shown properly in REST v1, even when they contain more than v1 can express
 * (docs/spec/decisions.md, section 4).
 */
import { expect } from 'chai';
import type { JsonObject } from '#src/shared/json/json.ts';
import { shownCondition } from '#src/v1/condition.ts';
import { shownMedication } from '#src/v1/medication.ts';
import { shownObservation } from '#src/v1/observation.ts';
import { withNames } from '#src/v1/phrase.ts';
import { timelineWords } from '#src/v1/timeline.ts';

const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';
const other = { system: 'urn:local', code: 'GLU' };
const loinc = { system: LOINC, code: '2339-0', display: 'Glucose' };
const mg = (value: number, rest: object = {}) => ({
  value,
  unit: 'mg/dl',
  system: UCUM,
  code: 'mg/dL',
  ...rest,
});

const meaning = (code: string) => ({
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/referencerange-meaning', code }],
});
const normal = { high: mg(9), type: meaning('normal') };

type Case = readonly [what: string, resource: object, shown: object];

const OBSERVATIONS: readonly Case[] = [
  [
    'LOINC among other codings',
    { code: { coding: [other, loinc], text: 'Sugar' } },
    { code: '2339-0', system: LOINC, display: 'Sugar' },
  ],
  [
    'the first coding where none is LOINC',
    { code: { coding: [other], text: 'Sugar' } },
    { code: 'GLU', system: 'urn:local', display: 'Sugar' },
  ],
  ['words without a code', { code: { text: 'Sugar' } }, { code: null, system: null, display: 'Sugar' }],
  ['the UCUM code of a unit', { valueQuantity: mg(5) }, { value: 5, unit: 'mg/dL' }],
  [
    'a unit that is not UCUM’s',
    { valueQuantity: { value: 5, unit: 'spoons' } },
    { value: 5, unit: 'spoons' },
  ],
  ['a number without a unit', { valueInteger: 3 }, { value: 3, unit: null }],
  [
    'a comparator in words',
    { valueQuantity: mg(5, { comparator: '<' }) },
    { value: null, value_text: '< 5 mg/dL' },
  ],
  [
    'a range in words',
    { valueRange: { low: mg(5), high: mg(9) } },
    { value: null, value_text: '5 mg/dL to 9 mg/dL' },
  ],
  ['a range without an upper end', { valueRange: { low: mg(5) } }, { value_text: '>= 5 mg/dL' }],
  ['a range without a lower end', { valueRange: { high: mg(9) } }, { value_text: '<= 9 mg/dL' }],
  ['a range without ends', { valueRange: { id: 'x' } }, { value: null, value_text: null }],
  ['a period that goes on', { valuePeriod: { start: '2026-01-01' } }, { value_text: 'since 2026-01-01' }],
  ['a period of which the end is known', { valuePeriod: { end: '2026' } }, { value_text: 'until 2026' }],
  [
    'a range of reference without a lower end',
    { referenceRange: [{ high: mg(9) }] },
    { reference_range: { low: null, high: 9 } },
  ],
  ['no components and documents as empty lists', {}, { components: [], derived_from: [] }],
  [
    'a ratio in words',
    { valueRatio: { numerator: { value: 1 }, denominator: { value: 128 } } },
    { value_text: '1 : 128' },
  ],
  ['a time', { valueTime: '10:30:00' }, { value_text: '10:30:00' }],
  [
    'a period',
    { valuePeriod: { start: '2026-01-01', end: '2026-02-01' } },
    { value_text: '2026-01-01 to 2026-02-01' },
  ],
  ['samples', { valueSampledData: { data: '1 2 3' } }, { value_text: '1 2 3' }],
  [
    'words of a concept',
    { valueCodeableConcept: { text: 'Positive' } },
    { value_text: 'Positive', value_code: null },
  ],
  [
    'no value, and why',
    { dataAbsentReason: { text: 'asked, not known' } },
    { value: null, value_text: null },
  ],
  [
    'the beginning of a period',
    { effectivePeriod: { start: '2026-01-01', end: '2026-02-01' } },
    { effective_at: '2026-01-01' },
  ],
  ['an instant', { effectiveInstant: '2026-01-01T00:00:00Z' }, { effective_at: '2026-01-01T00:00:00Z' }],
  [
    'a known category among others',
    { category: [{ coding: [{ code: 'chem' }] }, { coding: [{ code: 'laboratory' }] }] },
    { category: 'laboratory' },
  ],
  ['no category that is known', { category: [{ coding: [{ code: 'therapy' }] }] }, { category: null }],
  [
    'no range where several could be meant',
    { referenceRange: [{ low: mg(1) }, { high: mg(9) }] },
    { reference_range: null },
  ],
  [
    'the range of type normal among others, whatever their order',
    { referenceRange: [{ low: mg(1), type: meaning('treatment') }, { high: mg(8) }, normal] },
    { reference_range: { low: null, high: 9 } },
  ],
  [
    'the only range without a type among others',
    { referenceRange: [{ low: mg(1), type: meaning('therapeutic') }, { high: mg(8) }] },
    { reference_range: { low: null, high: 8 } },
  ],
  [
    'no range where two are of type normal',
    { referenceRange: [normal, { ...normal, age: { low: { value: 60 } } }] },
    { reference_range: null },
  ],
  [
    'no range that is only what a treatment aims at',
    { referenceRange: [{ high: mg(9), type: meaning('recommended') }] },
    { reference_range: null },
  ],
  [
    'the only range if its type says of whom it is normal',
    { referenceRange: [{ high: mg(9), type: meaning('postmenopausal') }] },
    { reference_range: { low: null, high: 9 } },
  ],
  [
    'the only range if its type is one of another system',
    { referenceRange: [{ high: mg(9), type: { coding: [{ system: 'urn:x', code: 'pre' }] } }] },
    { reference_range: { low: null, high: 9 } },
  ],
  [
    'a range in the value’s unit alone',
    { valueQuantity: mg(100), referenceRange: [{ low: mg(70), high: { value: 5.5, unit: 'mmol/L' } }] },
    { reference_range: { low: 70, high: null } },
  ],
  ['all notes', { note: [{ text: 'a' }, { text: 'b' }] }, { note: 'a\n\nb' }],
  [
    'documents alone',
    { derivedFrom: [{ reference: 'Observation/1' }, { reference: 'DocumentReference/2' }] },
    { derived_from: ['2'] },
  ],
  ['its status', { status: 'amended' }, { status: 'amended' }],
];

const CONDITIONS: readonly Case[] = [
  [
    'ICD-10 among other codings',
    { code: { coding: [other, { system: 'http://hl7.org/fhir/sid/icd-10', code: 'E11' }] } },
    { code: 'E11', display: null },
  ],
  [
    'the beginning of a period, and the end of the one in which it ended',
    { onsetPeriod: { start: '2019' }, abatementPeriod: { end: '2020' } },
    { onset: '2019', abatement: '2020' },
  ],
  ['words', { onsetString: 'as a child' }, { onset: 'as a child' }],
  ['an age not as a date', { onsetAge: { value: 3, unit: 'a' } }, { onset: null }],
  [
    'another system’s status not',
    { clinicalStatus: { coding: [{ system: 'urn:x', code: 'active' }] } },
    { clinical_status: null },
  ],
];

const MEDICATIONS: readonly Case[] = [
  [
    'the words of a reference',
    { medicationReference: { reference: 'Medication/1', display: 'Metformin' } },
    { code: null, display: 'Metformin' },
  ],
  [
    'the code of a medication within',
    {
      contained: [{ resourceType: 'Medication', id: 'm', code: { coding: [{ code: 'X' }], text: 'Iron' } }],
      medicationReference: { reference: '#m' },
    },
    { code: 'X', display: 'Iron' },
  ],
  ['a moment as its beginning', { effectiveDateTime: '2026-01' }, { start: '2026-01', end: null }],
  ['an open period', { effectivePeriod: { end: '2026-01-01' } }, { start: null, end: '2026-01-01' }],
  [
    'all dosages, also one that is only an instruction for the patient',
    { dosage: [{ text: 'one' }, { patientInstruction: 'x' }, { text: 'two' }] },
    { dosage: 'one\nx\ntwo' },
  ],
  ['a status that v1 does not take', { status: 'not-taken' }, { status: 'not-taken' }],
];

for (const [name, show, cases] of [
  ['an observation', shownObservation, OBSERVATIONS],
  ['a condition', shownCondition, CONDITIONS],
  ['a medication', shownMedication, MEDICATIONS],
] as const)
  describe(`${name} that FHIR wrote, on REST v1`, () => {
    for (const [what, resource, shown] of cases)
      it(`shows ${what}`, () => expect(show(resource as JsonObject)).to.deep.include(shown));
  });

describe('an entry without words, on the timeline', () => {
  const titleOf = (kind: 'observation' | 'document' | 'encounter', resource: object) => {
    const { title, titleSystem } = timelineWords(kind, resource as JsonObject);
    return [title, titleSystem];
  };
  const bare = { system: LOINC, code: '2339-0' };

  it('has the code as its title, and the code’s system', () => {
    expect(titleOf('observation', { code: { coding: [bare] } })).to.deep.equal(['2339-0', LOINC]);
    expect(titleOf('observation', { code: { coding: [other, bare] } })).to.deep.equal(['2339-0', LOINC]);
    expect(titleOf('observation', { code: { coding: [other] } })).to.deep.equal(['GLU', 'urn:local']);
    expect(titleOf('document', { type: { coding: [bare] } })).to.deep.equal(['2339-0', LOINC]);
  });

  it('has no system where there are words, or several concepts', () => {
    expect(titleOf('observation', { code: { coding: [other, loinc] } })).to.deep.equal(['Glucose', null]);
    expect(titleOf('observation', { code: { coding: [bare], text: 'Sugar' } })).to.deep.equal([
      'Sugar',
      null,
    ]);
    expect(titleOf('observation', { code: { coding: [{ code: 'x' }] } })).to.deep.equal(['x', null]);
    const types = { type: [{ coding: [bare] }, { coding: [other] }] };
    expect(titleOf('encounter', types)).to.deep.equal(['LOINC 2339-0, GLU', null]);
    const titled = { type: { coding: [bare] }, content: [{ attachment: { title: 'Letter' } }] };
    expect(titleOf('document', titled)).to.deep.equal(['Letter', null]);
  });
});

describe('the summary of an entry, on the timeline', () => {
  const quantity = (value: number) => ({ value, unit: 'mm[Hg]' });
  const part = (code: string, value: number, rest: object = {}) => ({
    code: { coding: [{ system: LOINC, code, ...rest }] },
    valueQuantity: quantity(value),
  });
  const summaryOf = (kind: 'observation' | 'allergy', resource: object) => {
    const { summary, summaryCodes } = timelineWords(kind, resource as JsonObject);
    return { summary, codes: summaryCodes.map(({ offset, code }) => [offset, code]) };
  };

  it('says where codes without words stand in it', () => {
    const component = [part('8480-6', 120), part('8462-4', 80, { display: 'Diastolic' }), part('8478-0', 93)];
    expect(summaryOf('observation', { status: 'preliminary', component })).to.deep.equal({
      summary: 'preliminary, 8480-6 120 mmHg, Diastolic 80 mmHg, 8478-0 93 mmHg',
      codes: [
        [13, '8480-6'],
        [49, '8478-0'],
      ],
    });
    const found = { coding: [{ system: 'http://snomed.info/sct', code: '260385009' }] };
    expect(summaryOf('observation', { valueCodeableConcept: found }).codes).to.deep.equal([[0, '260385009']]);
    const reaction = [{ manifestation: [{ text: 'Hives' }, found] }];
    expect(summaryOf('allergy', { reaction }).codes).to.deep.equal([[7, '260385009']]);
  });

  it('takes names in their places, and stays one line of a list', () => {
    const { text, codes } = {
      text: '8480-6 120, 8462-4 80',
      codes: [
        { offset: 0, system: LOINC, code: '8480-6' },
        { offset: 12, system: LOINC, code: '8462-4' },
      ],
    };
    const names = new Map([['8462-4', 'Diastolic']]);
    expect(withNames({ text, codes }, ({ code }) => names.get(code))).to.equal(
      'LOINC 8480-6 120, Diastolic 80',
    );
    expect(withNames({ text, codes }, () => 'x'.repeat(400))).to.have.lengthOf(300);
  });

  it('is made of no more parts than one line has', () => {
    let read = 0;
    const parts = (count: number) =>
      Array.from(
        { length: count },
        (_, n): JsonObject => ({
          get code() {
            read += 1;
            return { coding: [{ system: LOINC, code: `${n}-0` }] };
          },
          valueString: '\u{1f600}',
        }),
      );
    const [some, many] = [parts(200), parts(20_000)].map((component) =>
      timelineWords('observation', { component }),
    );
    expect(many).to.deep.equal(some);
    expect([...(many?.summary ?? '')]).to.have.lengthOf(300);
    expect(read).to.be.below(400);
  });

  it('has no place of a code that is cut off', () => {
    const component = [{ code: part('8480-6', 1).code, valueString: 'x'.repeat(280) }];
    const whole = [...component, part('1234567890-0', 1)];
    expect(summaryOf('observation', { component: whole }).codes).to.deep.equal([[0, '8480-6']]);
  });
});

describe('a document that was replaced, on the timeline', () => {
  it('titles an allergy without a code by its reaction, and says which component has no value', () => {
    const titled = (resource: JsonObject) => {
      const { title, titleSystem, summary } = timelineWords('allergy', resource);
      return [title, titleSystem, summary];
    };
    const rash = { manifestation: [{ text: 'rash' }] };
    const amoxicillin = { text: 'Amoxicillin' };
    expect(titled({ reaction: [{ substance: amoxicillin, ...rash }] })).to.deep.equal([
      ...['Amoxicillin', null, 'rash'],
    ]);
    const bare = { coding: [{ system: 'http://snomed.info/sct', code: '372687004' }] };
    expect(titled({ reaction: [{ substance: bare, ...rash }] })).to.deep.equal([
      ...['372687004', 'http://snomed.info/sct', 'rash'],
    ]);
    expect(titled({ reaction: [rash] })).to.deep.equal(['allergy (rash)', null, 'rash']);
    expect(
      titled({ code: { text: 'Penicillin' }, reaction: [{ substance: amoxicillin, ...rash }] }),
    ).to.deep.equal([...['Penicillin', null, 'Amoxicillin: rash']]);
    expect(titled({})[0]).to.equal('allergy');
    const component = [
      { code: { text: 'systolic' }, valueInteger: 120 },
      { code: { text: 'diastolic' } },
      { code: { text: 'mean' }, dataAbsentReason: { text: 'not measured' } },
      { code: { text: 'antigen' }, interpretation: [{ text: 'positive' }] },
    ];
    expect(timelineWords('observation', { component }).summary).to.equal(
      'systolic 120, diastolic (no value), mean not measured, antigen positive',
    );
    expect(timelineWords('immunization', { status: 'completed', isSubpotent: true }).summary).to.equal(
      'subpotent',
    );
  });

  it('says so', () => {
    const document = { status: 'superseded', docStatus: 'final', type: { text: 'Report' } };
    const words = { title: 'Report', titleSystem: null, summary: 'superseded', summaryCodes: [] };
    expect(timelineWords('document', document)).to.deep.equal(words);
    expect(timelineWords('document', { ...document, status: 'current' }).summary).to.equal(null);
  });
});
