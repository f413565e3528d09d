/**
 * Hashes of answers about a record with changed entries. Separate rules render what a later version or a newer prescription
 * changed, and the other samples (`forms.test.ts`, `test/context/forms.test.ts`) don't reach these rules.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { z } from 'zod';
import { SUMMARY_FORM } from '#src/clinical/summary/document.ts';
import { FORM } from '#src/context/manifest.ts';
import type { Material } from '#src/receipts/material.ts';
import { renderAnswer } from '#src/receipts/render.ts';
import { LINK_FORM } from '#src/shl/content.ts';

/** Maps a kind and a form to the SHA-256 of the answers. */
const ANSWERS = new URL('./forms/changed.json', import.meta.url);
const RECORD = '01a20000-0000-7000-8000-000000000001';
const AT = '2026-11-20T10:00:00.000000Z';

const subject = { reference: `Patient/${RECORD}` };
const state = (set: string, code: string) => ({
  coding: [{ system: `http://terminology.hl7.org/CodeSystem/${set}`, code }],
});
const daily = (value: number, periodUnit = 'd') => [
  {
    timing: { repeat: { frequency: 1, period: 1, periodUnit } },
    doseAndRate: [{ doseQuantity: { value, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' } }],
  },
];
const order = (drug: string, status: string, authoredOn: string, dosageInstruction: object) => ({
  ...{ resourceType: 'MedicationRequest', status, intent: 'order', subject, authoredOn, dosageInstruction },
  medicationCodeableConcept: { text: drug },
});
const weekly = {
  ...{ resourceType: 'MedicationStatement', status: 'active', subject, dosage: daily(15, 'wk') },
  ...{ medicationCodeableConcept: { text: 'Methotrexate' }, effectivePeriod: { start: '2024-03-01' } },
};
const latex = {
  ...{ resourceType: 'AllergyIntolerance', patient: subject, code: { text: 'Latex' }, criticality: 'high' },
  clinicalStatus: state('allergyintolerance-clinical', 'active'),
  verificationStatus: state('allergyintolerance-verification', 'confirmed'),
};
const potassium = {
  ...{ resourceType: 'Observation', status: 'final', subject, effectiveDateTime: '2026-11-12T08:00:00Z' },
  category: [state('observation-category', 'laboratory')],
  code: { coding: [{ system: 'http://loinc.org', code: '2823-3' }], text: 'Potassium' },
  valueQuantity: { value: 4.2, unit: 'mmol/L', system: 'http://unitsofmeasure.org', code: 'mmol/L' },
};
const diabetes = {
  ...{ resourceType: 'Condition', subject, code: { text: 'Diabetes' }, onsetDateTime: '2012-05' },
  clinicalStatus: state('condition-clinical', 'active'),
};

/** The versions of each entry, with the days on which they were stored. */
const ENTRIES: readonly (readonly (readonly [day: string, resource: object])[])[] = [
  [
    [
      '2026-01-02',
      { resourceType: 'Patient', id: RECORD, name: [{ family: 'Sand' }], birthDate: '1957-03-14' },
    ],
  ],
  [
    ['2026-02-01', weekly],
    ['2026-11-10', { ...weekly, dosage: daily(15) }],
  ],
  [['2026-05-03', order('Warfarin', 'completed', '2026-05-03', daily(5))]],
  [['2026-11-11', order('Warfarin', 'active', '2026-11-11', daily(7.5))]],
  [['2026-05-04', order('Furosemide', 'completed', '2026-05-04', [{ text: 'as discussed' }])]],
  [['2026-11-05', order('Furosemide', 'active', '2026-11-05', [{ text: 'one in the morning' }])]],
  [['2026-06-01', order('Bisoprolol', 'active', '2026-06-01', daily(2.5))]],
  [['2026-11-06', order('Bisoprolol', 'active', '2026-11-06', daily(5))]],
  [
    ['2026-02-02', latex],
    ['2026-11-07', { ...latex, verificationStatus: state('allergyintolerance-verification', 'refuted') }],
  ],
  [
    ['2026-11-12', potassium],
    [
      '2026-11-13',
      { ...potassium, status: 'corrected', valueQuantity: { ...potassium.valueQuantity, value: 6.2 } },
    ],
  ],
  [
    ['2026-02-03', diabetes],
    ['2026-11-14', { ...diabetes, code: { text: 'Type 1 diabetes' } }],
  ],
];

const versions = ENTRIES.flatMap((entry, n) => {
  const id = `01a20000-0000-7000-8000-${String(n + 1).padStart(12, '0')}`;
  return entry.map(([day, resource], at) => {
    const recordedAt = `${day}T09:00:00.000000Z`;
    const version = at + 1;
    const meta = { versionId: String(version), lastUpdated: recordedAt };
    const body = JSON.stringify({ ...resource, id, meta });
    const { resourceType: type } = resource as { readonly resourceType: string };
    return { type, id, version, recordedAt, body, authorType: 'practitioner' as const, source: 'Ward 7' };
  });
}).sort((a, b) => (a.recordedAt < b.recordedAt ? -1 : 1));

const material = (kind: Material['kind'], parameters: Material['parameters']): Material => ({
  ...{ kind, record: RECORD, position: AT, versions, directory: [], files: {}, hiddenKey: '' },
  ...{ parameters: { ...parameters, is_past: false }, inputs: { directory: {}, displays: {}, hidden: {} } },
  named: [...new Map(versions.map((each) => [each.id, each])).values()],
});
const base = 'https://annal.example/fhir/R4/';
const id = '01a20000-0000-7000-8000-00000000ffff';
const now = Date.parse(AT) * 1_000;
const ask = { needs: [], budget_tokens: 2_000, format: 'text' as const };

const FORMS = {
  summary: [SUMMARY_FORM, [{ base, id, now }]],
  link: [
    LINK_FORM,
    [
      { base, id, now, content: 'summary' },
      { base, id, content: 'everything' },
    ],
  ],
  context: [
    FORM,
    [
      { ...ask, task: 'medication review' },
      { ...ask, task: 'acute visit', format: 'structured' },
    ].map((each) => ({
      ...{ tenant: '01a20000-0000-7000-8000-00000000eeee' },
      manifest: { form: FORM, version: '0.0.0', patient: RECORD, at: AT, day: AT.slice(0, 10), ask: each },
    })),
  ],
} as const;

/** Sentences that the summary and the contexts must contain. */
const SAID = [
  'dosage changed 2026-11-10, before: 15 mg once a week',
  'dosage changed, prescribed 2026-11-11, before: 5 mg once a day (prescribed 2026-05-03)',
  'earlier dosage, before the one prescribed 2026-11-05: as discussed (prescribed 2026-05-04)',
  'value changed 2026-11-13, before: 4.2 mmol/L',
  'Latex: refuted 2026-11-07, before: active, confirmed, may be life-threatening',
  'name changed 2026-11-14, before: Diabetes',
];

describe('the forms of answers about changed entries', () => {
  for (const [kind, [form, parameters]] of Object.entries(FORMS))
    it(`of ${kind} is another one when an answer is another one`, async () => {
      const hash = createHash('sha256');
      for (const each of parameters) {
        const answer = await renderAnswer(material(kind as Material['kind'], each as never));
        hash.update(answer);
        if (!('content' in each) || each.content === 'summary')
          for (const said of SAID) expect(answer.toString()).to.include(said);
      }
      const current = hash.digest('hex');
      const known: Record<string, Record<string, string>> = existsSync(ANSWERS)
        ? JSON.parse(readFileSync(ANSWERS, 'utf8'))
        : {};
      const forms = known[kind] ?? {};
      // The hash of a known form is never overwritten: if answers change, a new form is needed.
      if (process.env.ANNAL_WRITE_FORMS === '1' && forms[form] === undefined) {
        forms[form] = current;
        writeFileSync(ANSWERS, `${JSON.stringify({ ...known, [kind]: forms }, null, 2)}\n`);
      }
      expect(
        forms[form],
        `answers changed: raise the form of ${kind}, then run ANNAL_WRITE_FORMS=1 npm test -- receipts/changed`,
      ).to.equal(current);
      expect(Math.max(...Object.keys(forms).map(Number)), 'it is the highest').to.equal(form);
    });
});

describe('the page of a shared link', () => {
  const shown = z.object({
    sections: z.map(
      z.string(),
      z.array(
        z.looseObject({
          name: z.string(),
          changes: z.array(z.looseObject({ key: z.string() })).optional(),
          marks: z.array(z.looseObject({ key: z.string() })).optional(),
        }),
      ),
    ),
  });

  for (const parameters of FORMS.link[1])
    it(`marks a dosage that may have changed lately, from ${parameters.content}`, async () => {
      const { readRecord } = await import(
        new URL('../../src/http/shl/viewer/record.js', import.meta.url).href
      );
      const bundle: unknown = JSON.parse((await renderAnswer(material('link', parameters))).toString());
      const find = (name: string, today: string) => {
        const rows = shown.parse(readRecord([bundle], today)).sections.get('medications') ?? [];
        const { changes = [], marks = [] } = rows.find((row) => row.name === name) ?? {};
        return [changes, marks].map((all) => all.map(({ key }) => key));
      };
      expect(find('Furosemide', '2026-11-20')).to.deep.equal([['known.doseearlier'], ['known.dosemaybe']]);
      expect(find('Furosemide', '2027-02-20')).to.deep.equal([['known.doseearlier'], []]);
      expect(find('Warfarin', '2026-11-20')).to.deep.equal([['known.dosechanged'], ['known.changedlately']]);
    });
});
