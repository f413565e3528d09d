/** How a summary, and the page of a link to a summary, treat past entries that the summary doesn't list. */
import { expect } from 'chai';
import { z } from 'zod';
import { inEnglish, readEnglish } from '#src/clinical/reading/english.ts';
import type { Phrase } from '#src/clinical/reading/phrases.ts';
import { choose } from '#src/clinical/summary/choose.ts';
import { summaryDocument } from '#src/clinical/summary/document.ts';

type Resource = { readonly resourceType: string } & Readonly<Record<string, unknown>>;

const idOf = (n: number): string => `01890a5d-ac96-774b-bcce-${String(n).padStart(12, '0')}`;
const text = (words: string) => ({ text: words });
const state = (code: string) => ({ coding: [{ code }] });
const loinc = (code: string) => ({ coding: [{ system: 'http://loinc.org', code }] });

const drug = (name: string, status: string, authoredOn: string, more: object = {}): Resource => ({
  ...{ resourceType: 'MedicationRequest', intent: 'order', status, authoredOn },
  ...{ medicationCodeableConcept: text(name), ...more },
});
const allergy = (name: string, status: string): Resource => ({
  resourceType: 'AllergyIntolerance',
  clinicalStatus: state(status),
  code: text(name),
});
const plan = (status: string, more: object = {}): Resource => ({
  ...{ resourceType: 'CarePlan', status, intent: 'plan', title: `A plan, ${status}` },
  ...more,
});
const observed = (code: string, effectiveDateTime: string, more: object = {}): Resource => ({
  ...{ resourceType: 'Observation', status: 'final', code: loinc(code), effectiveDateTime },
  ...more,
});

const bundles = z.object({
  entry: z.array(z.object({ resource: z.record(z.string(), z.unknown()) })),
});
const compositions = z.object({
  text: z.object({ div: z.string() }),
  section: z.array(z.object({ title: z.string(), text: z.object({ div: z.string() }) })),
});

function summarize(...resources: readonly Resource[]) {
  const stored = resources.map((resource, n) => {
    const id = idOf(n + 1);
    return { type: resource.resourceType, id, body: JSON.stringify({ ...resource, id }) };
  });
  const patient = { type: 'Patient', id: idOf(0), body: `{"resourceType":"Patient","id":"${idOf(0)}"}` };
  const written = summaryDocument(
    choose({ base: 'https://annal.example/fhir/R4/', patient, record: stored }),
    {
      ...{ id: idOf(99), now: Date.parse('2026-11-01') * 1_000, directory: [] },
    },
  );
  const bundle: unknown = JSON.parse(written);
  const composition = compositions.parse(bundles.parse(bundle).entry[0]?.resource);
  const divs = new Map(composition.section.map((each) => [each.title, each.text.div]));
  return { bundle, overview: composition.text.div, divs };
}

const viewed = z.object({
  onlyPast: z.set(z.string()),
  notListed: z.map(z.string(), z.number()),
  sections: z.map(
    z.string(),
    z.array(
      z.object({ name: z.string(), says: z.array(z.looseObject({ key: z.string() })), flag: z.string() }),
    ),
  ),
});

async function view(bundle: unknown) {
  const { readRecord } = await import(new URL('../../src/http/shl/viewer/record.ts', import.meta.url).href);
  return viewed.parse(readRecord([bundle], '2026-11-01'));
}

describe('what is over in a summary', () => {
  const record = [
    drug('Simvastatin', 'active', '2021-01-04'),
    drug('Simvastatin', 'completed', '2019-02-03'),
    drug('Simvastatin', 'completed', '2020-02-03'),
    drug('Amoxicillin', 'completed', '2012-01-01'),
    drug('amoxicillin', 'completed', '2013-01-01'),
    drug('Codeine', 'stopped', '2014-01-01'),
    drug('Ketorolac', 'active', '2015-01-01', { doNotPerform: true }),
    allergy('Nuts', 'active'),
    allergy('Milk', 'resolved'),
    plan('active'),
    plan('completed'),
    plan('revoked'),
    plan('completed', { intent: 'proposal' }),
    ...['2019', '2020', '2021'].map((year) => observed('72166-2', `${year}-01-01`, { valueString: year })),
  ];

  it('is counted in the narratives of its sections, each drug once', () => {
    const { divs } = summarize(...record);
    expect(divs.get('Medications')).to.contain('<p>2 past medicines are not listed here.</p>');
    expect(divs.get('Allergies and intolerances')).to.contain('<p>1 past allergy is not listed here.</p>');
    expect(divs.get('Plan of care')).to.contain('<p>2 past care plans are not listed here.</p>');
    expect(divs.get('Social history')).to.contain(
      '<p>2 earlier statements about tobacco or alcohol are not listed here.</p>',
    );
    const [medicine, , , , , , , nuts] = record;
    const { divs: none } = summarize(...[medicine, nuts].flatMap((each) => each ?? []));
    for (const [title, div] of none) expect(div, title).to.not.contain('not listed');
  });

  it('is counted where nothing is current, and of sections that the summary doesn’t have', () => {
    const { divs, overview } = summarize(drug('Codeine', 'stopped', '2014-01-01'), plan('completed'));
    expect(divs.get('Medications')).to.contain(
      'only past ones.</p><p>1 past medicine is not listed here.</p>',
    );
    expect(divs.has('Plan of care')).to.equal(false);
    expect(overview).to.contain('Left out of this summary: 1 past care plan.');
  });

  it('is said on the page of a link: counts, prescriptions that are over, what must not be given', async () => {
    const { notListed, sections } = await view(summarize(...record).bundle);
    expect([...notListed]).to.deep.equal([
      ['allergies', 1],
      ['medications', 2],
      ['plan', 2],
      ['social', 2],
    ]);
    const [simvastatin, ketorolac, ...others] = sections.get('medications') ?? [];
    expect(others).to.deep.equal([]);
    expect(simvastatin?.says).to.deep.equal([
      { key: 'known.prescribedtimes', times: 3, days: { from: '2019-02-03', until: '2021-01-04' } },
    ]);
    expect([ketorolac?.name, ketorolac?.flag]).to.deep.equal(['Ketorolac', 'critical']);
    expect(ketorolac?.says).to.deep.include.members([
      { key: 'known.ordered', days: { day: '2015-01-01' }, times: undefined },
    ]);
  });

  it('is read from English as it is written', () => {
    const [day, from, until] = ['2019', '2019-05', '2021-05-02'];
    for (const phrase of [
      { says: 'prescribed', days: { day } },
      { says: 'prescribedtwice', days: { from, until } },
      { says: 'prescribedtimes', days: { from, until }, times: 17 },
      { says: 'prescribedsame', days: { day: until }, times: 2 },
      { says: 'taken', days: { from, until } },
      { says: 'takensince', days: { day } },
      { says: 'contradicted', days: {}, state: 'not-taken' },
      { says: 'stopped', days: {} },
    ] satisfies Phrase[])
      expect(readEnglish(`active; ${inEnglish(phrase)}`), phrase.says).to.deep.equal([phrase]);
  });

  it('has systolic pressures before diastolic ones of the day, and of one measurement', () => {
    const pressure = (code: string, at: string) => observed(code, at, { valueString: `${code} ${at}` });
    const { divs } = summarize(
      pressure('8480-6', '2021-05-02T08:00:00Z'),
      pressure('8462-4', '2021-05-02T08:01:00Z'),
      pressure('8480-6', '2021-05-01T08:00:00Z'),
      pressure('8462-4', '2021-05-03T08:00:00Z'),
      observed('55284-4', '2021-06-01', {
        component: [
          { code: loinc('8462-4'), valueString: 'low' },
          { code: loinc('8480-6'), valueString: 'high' },
        ],
      }),
    );
    const div = [...divs.values()].join();
    expect(div).to.match(/: high; [^;]*: low/);
    expect([...div.matchAll(/<td>(8\d+-\d [^<]+)<\/td>/g)].map(([, cell]) => cell)).to.deep.equal([
      '8462-4 2021-05-03T08:00:00Z',
      '8480-6 2021-05-02T08:00:00Z',
      '8462-4 2021-05-02T08:01:00Z',
      '8480-6 2021-05-01T08:00:00Z',
    ]);
  });
});
