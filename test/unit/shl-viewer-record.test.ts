/**
 * How the shared-link page reads a record (docs/shared-links.md): it shows nothing that didn't happen, and nothing that is
 * incomplete.
 */
import { expect } from 'chai';
import { z } from 'zod';

const FOLDER = new URL('../../src/http/shl/viewer/', import.meta.url);

const row = z.object({
  name: z.string(),
  details: z.array(z.string()),
  flag: z.string(),
  flagged: z.string(),
  range: z.string(),
  date: z.string(),
  key: z.string().optional(),
  isEmpty: z.boolean().optional(),
  value: z.string(),
  parts: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
});
const shown = z.object({
  sections: z.map(z.string(), z.array(row)),
  hidden: z.map(z.string(), z.number()),
  changed: z.number(),
});

type Resource = Readonly<Record<string, unknown>>;

type Row = z.output<typeof row>;

interface Groups {
  readonly groupRows: (rows: readonly Row[]) => readonly {
    readonly latest: Row;
    readonly failed: Row | undefined;
    readonly earlier: readonly Row[];
  }[];
}

interface Viewer {
  readonly readRecord: (resources: readonly Resource[], today?: string, lang?: string) => unknown;
  readonly inWords: (text: string, say: (key: string) => string) => string;
}

const text = (value: string) => ({ text: value });
const quantity = (value: number, unit: string) => ({ value, unit });
const withdrawn = { coding: [{ code: 'entered-in-error' }] };
const loinc = (code: string) => ({ system: 'http://loinc.org', code });

describe('the record on the page of a shared link', () => {
  let viewer: Viewer;
  let groups: Groups;

  before(async () => {
    const { readRecord } = await import(new URL('record.ts', FOLDER).href);
    const { inWords } = await import(new URL('texts.ts', FOLDER).href);
    viewer = { readRecord, inWords };
    groups = await import(new URL('groups.ts', FOLDER).href);
  });

  const phrases = z.array(z.object({ key: z.string() }));
  const said = z.object({
    sections: z.map(z.string(), z.array(z.object({ isOver: z.boolean(), says: phrases }))),
  });
  const over = z.object({
    sections: z.map(z.string(), z.array(z.object({ name: z.string(), isOver: z.boolean() }))),
  });
  /** Returns the names of past medicines. */
  const overOf = (today: string, ...resources: readonly Resource[]): string[] => {
    const rows = over.parse(viewer.readRecord(resources, today)).sections.get('medications') ?? [];
    return rows.filter(({ isOver }) => isOver).map(({ name }) => name);
  };
  /** Returns a section's rows; the page's own texts appear as keys in braces. */
  const rowsOf = (section: string, ...resources: readonly Resource[]): z.output<typeof row>[] => {
    const rows = shown.parse(viewer.readRecord(resources)).sections.get(section) ?? [];
    const separators: Readonly<Record<string, string>> = { 'shl.comma': ',', 'shl.semicolon': ';' };
    const inKeys = (said: string): string => viewer.inWords(said, (key) => separators[key] ?? `{${key}}`);
    return rows.map((each) => ({ ...each, details: each.details.map(inKeys).filter((part) => part !== '') }));
  };
  const namesIn = (section: string, ...resources: readonly Resource[]): string[] =>
    rowsOf(section, ...resources).map(({ name }) => name);
  const drug = (name: string, more: object): Resource => ({
    resourceType: 'MedicationStatement',
    status: 'active',
    medicationCodeableConcept: text(name),
    ...more,
  });
  const dosage = (of: object): string =>
    rowsOf('medications', drug('Drug', { dosage: [of] }))[0]?.details.join('|') ?? '';
  const observed = (more: object): Resource => ({
    resourceType: 'Observation',
    status: 'final',
    code: text('Sodium'),
    ...more,
  });

  it('leaves out what was not done, not taken, cancelled, or planned at most, and says what must not be given', () => {
    const vaccine = (status: string): Resource => ({
      resourceType: 'Immunization',
      status,
      vaccineCode: text(status),
    });
    expect(
      namesIn('immunizations', ...['completed', 'not-done', 'entered-in-error'].map(vaccine)),
    ).to.deep.equal(['completed']);
    const procedures = ['completed', 'in-progress', 'not-done', 'preparation'].map((status) => ({
      resourceType: 'Procedure',
      status,
      code: text(status),
    }));
    expect(namesIn('procedures', ...procedures)).to.deep.equal(['completed', 'in-progress']);
    const request = (name: string, more: object): Resource => ({
      resourceType: 'MedicationRequest',
      status: 'active',
      intent: 'order',
      medicationCodeableConcept: text(name),
      ...more,
    });
    expect(
      namesIn(
        'medications',
        drug('taken', {}),
        drug('not taken', { status: 'not-taken' }),
        request('ordered', {}),
        request('forbidden', { doNotPerform: true }),
        request('allowed', { doNotPerform: false }),
        request('an idea', { intent: 'proposal' }),
        request('cancelled', { status: 'cancelled' }),
        request('a draft', { status: 'draft' }),
      ),
    ).to.deep.equal(['taken', 'ordered', 'allowed', 'forbidden', 'not taken']);
    expect(
      namesIn('results', observed({ status: 'registered' }), observed({ status: 'cancelled' })),
    ).to.deep.equal([]);
  });

  it('says of a drug that it is stopped, completed or planned, and lists current ones first', () => {
    const rows = rowsOf(
      'medications',
      drug('old', { status: 'stopped', effectiveDateTime: '2026-05-01' }),
      drug('done', { status: 'completed', effectiveDateTime: '2026-04-01' }),
      drug('now', { effectiveDateTime: '2020-01-01' }),
      drug('soon', { status: 'intended' }),
      drug('pause', { status: 'on-hold' }),
      drug('who knows', { status: 'unknown' }),
    );
    expect(rows.map(({ name, details }) => [name, ...details])).to.deep.equal([
      ['now'],
      ['pause', 'on hold'],
      ['who knows', 'state not recorded'],
      ['soon', 'planned'],
      ['old', 'stopped'],
      ['done', 'completed'],
    ]);
    const ended = ['stopped', 'completed', 'active'].map((status) => drug(status, { status }));
    expect(overOf('2026-05-10', ...ended)).to.have.members(['stopped', 'completed']);
  });

  it('says states, classes, judgements and reasons in the reader’s words, and drops none that it has no word for', () => {
    const coded = (code: string) => [{ coding: [{ code }] }];
    const german = (section: string, ...resources: readonly Resource[]) =>
      shown
        .parse(viewer.readRecord(resources, undefined, 'de'))
        .sections.get(section)
        ?.map(({ name, details, flagged }) => [name, flagged, ...details.filter((detail) => detail !== '')]);
    expect(
      german(
        'results',
        observed({ interpretation: coded('HH'), valueString: 'x' }),
        observed({ interpretation: coded('POS'), status: 'preliminary' }),
        observed({ interpretation: coded('Z9'), valueString: 'x' }),
        observed({ dataAbsentReason: { coding: [{ code: 'not-performed', display: 'Not Performed' }] } }),
      ),
    ).to.deep.equal([
      ['Sodium', 'Kritisch hoch'],
      ['Sodium', '', 'positiv', 'vorläufig'],
      ['Sodium', '', 'Z9'],
      ['Sodium', '', 'nicht gemessen'],
    ]);
    const visit = (more: object): Resource => ({ resourceType: 'Encounter', status: 'finished', ...more });
    expect(
      german(
        'other',
        visit({ class: { code: 'AMB' } }),
        visit({ class: { code: 'IMP' }, type: [text('Check-up')], status: 'in-progress' }),
        visit({ class: { code: 'XYZ' } }),
      ),
    ).to.deep.equal([
      ['Ambulanter Besuch', ''],
      ['Check-up', '', 'Krankenhausaufenthalt', 'läuft'],
      ['XYZ', ''],
    ]);
    expect(
      german('problems', {
        resourceType: 'Condition',
        code: text('Gout'),
        clinicalStatus: { coding: [{ code: 'relapse' }] },
        verificationStatus: { coding: [{ code: 'differential' }] },
      }),
    ).to.deep.equal([['Gout', '', 'Rückfall', 'eine von mehreren Möglichkeiten']]);
  });

  it('says of a drug that is active from the day after its period that the period is over', () => {
    const isUnclear = (end: string): boolean =>
      said
        .parse(
          viewer.readRecord([drug('Drug', { effectivePeriod: { start: '2020-01-01', end } })], '2026-05-10'),
        )
        .sections.get('medications')?.[0]?.says[0]?.key === 'known.unclear';
    for (const end of ['2026-05-09', '2026-05-09T23:00:00Z', '2026-04', '2025'])
      expect(isUnclear(end), end).to.equal(true);
    for (const end of ['2026-05-10', '2026-05-10T01:00:00Z', '2026-05', '2026', '2027-01-01'])
      expect(isUnclear(end), end).to.equal(false);
  });

  it('says what each date of a drug means, and that nothing of a dead person is current', () => {
    const order = (authoredOn: string, status: string): Resource => ({
      resourceType: 'MedicationRequest',
      intent: 'order',
      medicationCodeableConcept: text('Simvastatin 20 mg'),
      ...{ status, authoredOn },
    });
    const rows = (...resources: readonly Resource[]) =>
      said.parse(viewer.readRecord(resources)).sections.get('medications') ?? [];
    const repeats = [order('2012-04-26', 'stopped'), order('2013-04-26', 'stopped')];
    expect(rows(...repeats).map(({ says }) => says.map(({ key }) => key))).to.deep.equal([
      ['known.stopped', 'known.prescribedtwice'],
    ]);
    const keys = (more: object) => rows(drug('Drug', more)).map(({ says }) => says.map(({ key }) => key));
    expect(keys({ effectiveDateTime: '2020-01-01' })).to.deep.equal([['known.takenon']]);
    expect(keys({ effectivePeriod: { start: '2020-01-01' } })).to.deep.equal([['known.takensince']]);
    expect(keys({ dateAsserted: '2020-01-01' })).to.deep.equal([['known.recorded']]);
    const dead = { resourceType: 'Patient', deceasedDateTime: '2014-01-01' };
    const [row, ...others] = rows(...repeats, order('2014-04-26', 'active'), dead);
    expect(others).to.have.length(0);
    expect(row?.isOver).to.equal(true);
    expect(row?.says[0]?.key).to.equal('known.ofdeceased');
  });

  it('tells dosages in full', () => {
    const once = { repeat: { frequency: 1, period: 1, periodUnit: 'd' } };
    const one = [{ doseQuantity: quantity(1, 'tablet') }];
    for (const [given, told] of [
      [{ text: '1-0-1', timing: { repeat: { when: ['HS'] } } }, '1-0-1 (before going to sleep)'],
      [{ doseAndRate: one, timing: once }, '1 tablet once a day'],
      [
        { doseAndRate: one, timing: { repeat: { timeOfDay: ['08:00:00', '20:30:00'] } } },
        '1 tablet at 08:00 and 20:30',
      ],
      [{ doseAndRate: one, asNeededCodeableConcept: text('pain') }, '1 tablet, as needed: pain'],
    ] as const)
      expect(dosage(given), JSON.stringify(given)).to.equal(told);
  });

  it('flags what interpretations call abnormal, and no more', () => {
    const flag = (...codes: readonly string[]): string =>
      rowsOf(
        'results',
        observed({
          valueQuantity: quantity(150, 'mmol/L'),
          interpretation: codes.map((code) => ({ coding: [{ code }] })),
        }),
      )[0]?.flag ?? 'none';
    const flags = {
      H: 'high',
      HU: 'high',
      HH: 'critical-high',
      L: 'low',
      LU: 'low',
      LL: 'critical-low',
      A: 'abnormal',
      AA: 'critical-abnormal',
      N: '',
      POS: '',
      DET: '',
      R: '',
      D: '',
      U: '',
    };
    for (const [code, said] of Object.entries(flags)) expect(flag(code), code).to.equal(said);
    expect(flag('A', 'H')).to.equal('high');
    expect(flag('H', 'AA')).to.equal('critical-abnormal');
    const beyond = {
      valueQuantity: quantity(150, 'mmol/L'),
      referenceRange: [{ high: quantity(145, 'mmol/L') }],
    };
    const flagged = (code: string): string | undefined =>
      rowsOf('results', observed({ ...beyond, interpretation: [{ coding: [{ code }] }] }))[0]?.flag;
    // As on patients' pages, the range decides if the laboratory calls a value normal that is outside it.
    expect([flagged('U'), flagged('N')]).to.deep.equal(['high', 'high']);
    const bounded = (value: number, comparator: string): string | undefined =>
      rowsOf(
        'results',
        observed({ ...beyond, valueQuantity: { ...quantity(value, 'mmol/L'), comparator } }),
      )[0]?.flag;
    expect([bounded(200, '>'), bounded(145, '>'), bounded(145, '>='), bounded(200, '<')]).to.deep.equal([
      ...['high', 'high', '', ''],
    ]);
  });

  it('shows no entry that a mark could turn around, wherever it stands, and counts them', () => {
    const modifierExtension = [{ url: 'https://example.org/not', valueBoolean: true }];
    const { sections, hidden } = shown.parse(
      viewer.readRecord([
        { resourceType: 'AllergyIntolerance', code: text('Peanut'), modifierExtension },
        { resourceType: 'AllergyIntolerance', code: text('Latex') },
        observed({ implicitRules: 'https://example.org/rules' }),
        {
          resourceType: 'MedicationRequest',
          status: 'active',
          intent: 'order',
          medicationReference: { reference: '#drug' },
          contained: [{ resourceType: 'Medication', id: 'drug', code: text('Drug'), modifierExtension }],
        },
        {
          resourceType: 'MedicationStatement',
          status: 'active',
          medicationCodeableConcept: text('Other drug'),
          dosage: [{ text: '1-0-1' }, { text: '2-0-0', modifierExtension }],
        },
        observed({
          component: [{ code: text('part'), valueQuantity: quantity(1, 'mg'), modifierExtension }],
        }),
      ]),
    );
    expect([...sections.values()].flat().map(({ name }) => name)).to.deep.equal(['Latex']);
    expect([...hidden]).to.deep.equal([
      ['allergies', 1],
      ['results', 2],
      ['medications', 2],
    ]);
  });

  it('lists what is out of its range first, and reports that say nothing last', () => {
    const measured = (code: string, value: number, day: string, more: object = {}): Resource =>
      observed({
        ...{ code: { coding: [loinc(code)], text: `Code ${code}` }, effectiveDateTime: day },
        ...{ valueQuantity: quantity(value, 'mmol/L'), ...more },
      });
    const said = (code: string) => ({ interpretation: [{ coding: [{ code }] }] });
    const report = (name: string, more: object = {}): Resource => ({
      ...{ resourceType: 'DiagnosticReport', status: 'final', effectiveDateTime: '2026-05-04' },
      ...{ code: text(name), ...more },
    });
    const rows = namesIn(
      'results',
      report('Empty report'),
      report('Told report', { conclusion: 'No fracture' }),
      measured('1', 140, '2026-05-03'),
      measured('2', 7, '2026-02-03', said('H')),
      measured('3', 1, '2026-01-03', said('LL')),
      // A value that was high in the past isn't listed among the values that are high now.
      measured('4', 5, '2026-01-02'),
      measured('4', 9, '2025-01-02', said('H')),
    );
    expect(rows).to.deep.equal([
      ...['Code 3', 'Code 2', 'Told report', 'Code 1', 'Code 4', 'Code 4', 'Empty report'],
    ]);
  });

  it('lets the newest value with a result lead, with a later measurement without one beside it', () => {
    const measured = (day: string, more: object): Resource =>
      observed({ code: { coding: [loinc('2951-2')], text: 'Na' }, effectiveDateTime: day, ...more });
    const high = { interpretation: [{ coding: [{ code: 'H' }] }] };
    const rows = shown
      .parse(
        viewer.readRecord([
          measured('2026-05-03', { dataAbsentReason: text('clotted') }),
          measured('2026-05-02', { valueQuantity: quantity(151, 'mmol/L'), ...high }),
          measured('2026-05-01', {}),
          measured('2026-04-01', { valueQuantity: quantity(140, 'mmol/L') }),
          observed({ effectiveDateTime: '2026-06-01', valueQuantity: quantity(1, 'mmol/L') }),
        ]),
      )
      .sections.get('results');
    const days = (some: readonly (z.output<typeof row> | undefined)[]) => some.map((each) => each?.date);
    const [first, second] = groups.groupRows(rows ?? []);
    expect(days([first?.latest, first?.failed])).to.deep.equal(['2026-05-02', '2026-05-03']);
    expect(days(first?.earlier ?? [])).to.deep.equal(['2026-05-01', '2026-04-01']);
    expect(days([second?.latest, second?.failed])).to.deep.equal(['2026-06-01', undefined]);
    const [none] = groups.groupRows(rows?.filter(({ value }) => value === '') ?? []);
    expect(days([none?.latest, none?.failed])).to.deep.equal(['2026-05-03', undefined]);
  });

  it('names results and their parts as the pages of patients do, by the code of LOINC', () => {
    const of = (...coding: readonly object[]) => ({ coding, text: 'Long name' });
    const names = namesIn(
      'results',
      observed({ code: of({ system: 'urn:x', code: '1' }, loinc('4548-4')) }),
      observed({ code: of(loinc('1-8')) }),
      observed({ code: of({ system: 'urn:x', code: '4548-4' }) }),
    );
    expect(names.map((name) => viewer.inWords(name, (key) => `{${key}}`))).to.deep.equal([
      ...['{result.hba1c}', 'Long name', 'Long name'],
    ]);
    const component = [{ code: of(loinc('8480-6')), valueQuantity: quantity(120, 'mm[Hg]') }];
    const [part] = rowsOf('results', observed({ component }))[0]?.parts ?? [];
    expect(viewer.inWords(part?.name ?? '', (key) => `{${key}}`)).to.equal('{result.systolic}');
  });

  it('lists a vaccine once with the days of its doses, numbered if their numbers tell them apart', () => {
    const dose = (name: string, day: object, number: number): Resource => ({
      ...{ resourceType: 'Immunization', status: 'completed', vaccineCode: text(name), ...day },
      protocolApplied: [{ doseNumberPositiveInt: number }],
    });
    const rows = z
      .object({
        sections: z.map(z.string(), z.array(z.object({ name: z.string(), says: z.array(z.unknown()) }))),
      })
      .parse(
        viewer.readRecord([
          dose('influenza', { occurrenceDateTime: '2023-02-11' }, 1),
          dose('influenza', { occurrenceDateTime: '2025-02-11' }, 1),
          dose('hepatitis B', { occurrenceDateTime: '2020-03-01' }, 1),
          dose('hepatitis B', { occurrenceString: 'in spring 2021' }, 2),
        ]),
      )
      .sections.get('immunizations');
    const on = (day: string, before: string) => ({
      key: 'known.on',
      days: { day },
      times: undefined,
      before,
    });
    const [mark, end] = ['\ue000shl.dose\ue001', { key: 'known.doses', doses: 2 }];
    expect(rows?.map(({ name, says }) => ({ name, says }))).to.deep.equal([
      { name: 'influenza', says: [on('2025-02-11', ''), on('2023-02-11', ''), end] },
      {
        name: 'hepatitis B',
        says: [on('2020-03-01', `${mark} 1`), { text: 'in spring 2021', before: `${mark} 2` }, end],
      },
    ]);
  });

  it('says how many entries a Bundle leaves out because an AI changed them', () => {
    const tag = { system: 'https://annal.dev/fhir/left-out', code: 'changed-by-ai', display: '2 changed' };
    const bundle = (...tags: readonly object[]): Resource => ({
      resourceType: 'Bundle',
      meta: { tag: tags },
    });
    const changed = (...resources: readonly Resource[]): number =>
      shown.parse(viewer.readRecord(resources)).changed;
    expect(changed(bundle(tag))).to.equal(2);
    expect(changed(bundle({ ...tag, system: 'https://example.org' }), bundle())).to.equal(0);
  });

  const toldBefore = z.object({
    before: z.array(z.object({ kind: z.string(), name: z.string().optional(), text: z.string().optional() })),
  });
  const leftOut = (n: number): object => ({
    tag: [{ system: 'https://annal.dev/fhir/left-out', code: 'changed-by-ai', display: `${n} changed` }],
  });
  /** Returns, by section, what the page says about the state before an AI changed it. */
  const beforeIn = (resource: Resource): (string | undefined)[][] =>
    toldBefore
      .parse(viewer.readRecord([resource]))
      .before.map(({ kind, name, text: paragraph }) => [kind, name ?? paragraph]);
  const entriesOf = (...resources: readonly Resource[]) => resources.map((resource) => ({ resource }));

  it('tells what was there before an AI changed it from the narratives of a summary, as text', () => {
    const section = (code: string, ...paragraphs: readonly string[]) => ({
      code: { coding: [loinc(code)] },
      text: {
        div: `<div xmlns="http://www.w3.org/1999/xhtml"><p>Not shown: 1 entry</p>${paragraphs.map((each) => `<p>${each}</p>`).join('')}</div>`,
      },
    });
    const [drugs, allergies] = [
      section('10160-0', 'Before AI changed it: Warfarin', 'Before <b>AI</b> changed it: markup'),
      section('48765-2', 'Before AI changed it: Nuts &amp; &lt;b&gt;seeds&lt;/b&gt;; Criticality: high'),
    ];
    const composition = { resourceType: 'Composition', section: [drugs, allergies, { code: {} }, 'x'] };
    expect(
      beforeIn({ resourceType: 'Bundle', meta: leftOut(2), entry: entriesOf(composition) }),
    ).to.deep.equal([
      ['allergies', 'Before AI changed it: Nuts & <b>seeds</b>; Criticality: high'],
      ['medications', 'Before AI changed it: Warfarin'],
    ]);
  });

  it('says of a plan when it began and ended', () => {
    const period = { start: '2016-03-21', end: '2019-09-23' };
    const plan = { resourceType: 'CarePlan', status: 'completed', title: 'Monitoring', period };
    const read = viewer.readRecord([plan]) as { sections: Map<string, object[]> };
    const says = [
      { key: 'known.since', days: { day: '2016-03-21' } },
      { key: 'days.until', days: { day: '2019-09-23' } },
    ];
    expect(read.sections.get('plan')?.[0]).to.deep.include({ date: '', says });
  });

  it('says of a plan its state and its activities', () => {
    const activity = [
      { detail: { code: text('Walking'), status: 'in-progress' } },
      { reference: { display: 'Diet' } },
    ];
    expect(
      rowsOf('plan', { resourceType: 'CarePlan', status: 'active', title: 'Care', activity })[0]?.details,
    ).to.deep.equal(['active', '{shl.activities}: Walking, in progress; Diet']);
  });

  it('has identifiers and the address of the person of a whole record, and not of a summary', () => {
    const patient = {
      ...{ resourceType: 'Patient', identifier: [{ value: '123' }] },
      address: [{ line: ['1 Main Street'], postalCode: '0150', city: 'Oslo' }],
    };
    const read = (...resources: readonly Resource[]) =>
      viewer.readRecord([{ resourceType: 'Bundle', type: 'collection', entry: entriesOf(...resources) }]) as {
        readonly patient: { readonly identifiers: readonly string[]; readonly address: string };
        readonly isRecord: boolean;
      };
    const whole = read(patient);
    const { identifiers, address } = whole.patient;
    expect([identifiers, viewer.inWords(address, () => ',')]).to.deep.equal([
      ...[['123'], '1 Main Street, 0150 Oslo'],
    ]);
    const { identifiers: none, address: nowhere } = read(patient, { resourceType: 'Composition' }).patient;
    expect([none, nowhere]).to.deep.equal([[], '']);
    const document = (attachment: object) => ({
      resourceType: 'DocumentReference',
      content: [{ attachment }],
    });
    expect(whole.isRecord).to.equal(true);
    expect(read(patient, document({ url: 'x' })).isRecord).to.equal(true);
    expect(read(patient, document({ data: 'QQ==' })).isRecord).to.equal(false);
    expect(read(patient, { resourceType: 'Composition' }).isRecord).to.equal(false);
  });

  it('has a systolic pressure before a diastolic one that is out of its range', () => {
    const pressure = (code: string, value: number): Resource =>
      observed({
        ...{ code: { coding: [loinc(code)] }, valueQuantity: quantity(value, 'mm[Hg]') },
        referenceRange: [{ high: { value: 90 + (code === '8480-6' ? 60 : 0) } }],
      });
    const rows = shown
      .parse(viewer.readRecord([pressure('8462-4', 110), pressure('8480-6', 130)]))
      .sections.get('results');
    expect(groups.groupRows(rows ?? []).map(({ latest }) => latest.value)).to.deep.equal([
      ...['130 mmHg', '110 mmHg'],
    ]);
  });

  it('writes a blood pressure as one value, whatever the code of its panel, unless it has further parts', () => {
    const part = (code: string, value: number): Resource => ({
      ...{ code: { coding: [loinc(code)] }, valueQuantity: quantity(value, 'mm[Hg]') },
    });
    const pressure = [part('8462-4', 78.1), part('8480-6', 123.6)];
    const [row] = rowsOf('results', observed({ code: { coding: [loinc('55284-4')] }, component: pressure }));
    expect([row?.value, row?.parts]).to.deep.equal(['124/78 mmHg', []]);
    const [more] = rowsOf(
      'results',
      observed({ code: { coding: [loinc('85354-9')] }, component: [...pressure, part('8478-0', 93)] }),
    );
    expect([more?.value, more?.parts?.map(({ value }) => value)]).to.deep.equal([
      '',
      ['124 mmHg', '78 mmHg', '93 mmHg'],
    ]);
  });

  it('knows of a section without entries whether all that the record has are over', () => {
    const section = (code: string, words: string) => ({
      code: { coding: [{ system: 'http://loinc.org', code }] },
      text: { div: `<div><p>This record holds ${words}</p></div>` },
    });
    const read = viewer.readRecord([
      {
        resourceType: 'Composition',
        section: [
          section('10160-0', 'no current medications, only past ones.'),
          section('48765-2', 'no information about allergies. That does not mean that there are none.'),
        ],
      },
    ]);
    expect([...(read as { onlyPast: Set<string> }).onlyPast]).to.deep.equal(['medications']);
  });

  it('tells it from the Bundle in a Bundle of everything, and takes nothing of that for a fact', () => {
    const pill = { resourceType: 'Medication', id: 'm', code: text('Warfarin 5 mg') };
    const earlier = [
      drug('', { medicationCodeableConcept: undefined, medicationReference: { reference: 'Medication/m' } }),
      { resourceType: 'AllergyIntolerance', code: text('Penicillin'), criticality: 'high' },
      { resourceType: 'AllergyIntolerance', code: text('Latex'), verificationStatus: withdrawn },
      { resourceType: 'Condition', code: text('Odd'), implicitRules: 'https://example.org' },
      { resourceType: 'Patient', name: [{ family: 'Sand' }], birthDate: '1957-03-14' },
    ];
    const nested = (meta: object): Resource => ({
      resourceType: 'Bundle',
      type: 'collection',
      meta,
      entry: entriesOf(...earlier, pill),
    });
    const bundle = (meta: object): Resource => ({
      resourceType: 'Bundle',
      meta: leftOut(4),
      entry: entriesOf({ ...pill, code: text('Changed') }, nested(meta)),
    });
    expect(beforeIn(bundle(leftOut(4)))).to.deep.equal([
      ['patient', 'Sand'],
      ['allergies', 'Penicillin'],
      ['medications', 'Warfarin 5 mg'],
    ]);
    expect(beforeIn(bundle({}))).to.deep.equal([]);
    const { sections, changed } = shown.parse(viewer.readRecord([bundle(leftOut(4))]));
    expect([...sections.values()].flat()).to.deep.equal([]);
    expect(changed).to.equal(4);
  });

  it('lists a drug once that is stated and prescribed, with each of its dosages', () => {
    const coding = [{ system: 'http://www.whocc.no/atc', code: 'A10BA02' }];
    const request = (name: string, more: object): Resource => ({
      ...drug(name, more),
      resourceType: 'MedicationRequest',
      intent: 'order',
    });
    const listed = (...resources: readonly Resource[]): string[][] =>
      rowsOf('medications', ...resources).map(({ name, details }) => [name, ...details]);
    const dosed = { dosageInstruction: [{ text: '1-0-1' }] };
    expect(listed(drug('Metformin', {}), request('metformin', dosed))).to.deep.equal([
      ['Metformin', '1-0-1'],
    ]);
    expect(
      listed(
        drug('Metformin', { medicationCodeableConcept: { coding, text: 'Metformin' } }),
        request('x', { medicationCodeableConcept: { coding, text: 'Glucophage' } }),
      ),
    ).to.have.length(1);
    expect(listed(drug('A', { dosage: [{ text: '1-0-0' }] }), request('A', dosed))).to.deep.equal([
      ['A', '1-0-0', '1-0-1'],
    ]);
    expect(listed(drug('A', { status: 'stopped' }), request('A', {}))).to.have.length(1);
    expect(listed(drug('', {}), request('B', {}))).to.have.length(2);
  });

  it('takes the normal range of several, or says whom each applies to', () => {
    const of = (...referenceRange: readonly object[]) => {
      const [row] = rowsOf('results', observed({ valueQuantity: quantity(14, 'g/dL'), referenceRange }));
      return [row?.range, row?.flag];
    };
    const end = (value: number) => quantity(value, 'g/dL');
    const male = { low: end(15), high: end(17), appliesTo: [{ text: 'Male' }] };
    const female = { low: end(12), high: end(16), appliesTo: [{ text: 'Female' }] };
    expect(of(male, female)).to.deep.equal([`15 – 17 (Male)\ue000shl.semicolon\ue001 12 – 16 (Female)`, '']);
    const meaning = (code: string) => ({
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/referencerange-meaning', code }],
      text: code,
    });
    const target = { high: end(11), type: meaning('treatment') };
    expect(of(target, { ...female, type: meaning('normal') })).to.deep.equal(['12 – 16 (Female)', '']);
    expect(of(target)).to.deep.equal(['≤ 11 (treatment)', '']);
    const adult = { age: { low: { value: 18, code: 'a' } } };
    expect(of({ ...male, ...adult }, { high: end(13), type: meaning('normal') })).to.deep.equal([
      '≤ 13',
      'high',
    ]);
    expect(of({ low: end(15), ...adult })).to.deep.equal(['≥ 15 (at least 18 years)', 'low']);
    const other = (value: number) => quantity(value, 'mmol/L');
    expect(of({ low: other(7), high: other(10) })).to.deep.equal(['7 – 10 mmol/L', '']);
  });

  it('writes numbers, units, ranges and titres for reading', () => {
    const values = [
      [
        { code: { coding: [loinc('8480-6')] }, valueQuantity: quantity(133.74837485214002, 'mm[Hg]') },
        '134 mmHg',
      ],
      [{ valueQuantity: quantity(5, '{score}') }, '5'],
      [{ valueQuantity: { value: 6.04, comparator: '<=', unit: 'umol/L' } }, '≤6.04 µmol/L'],
      [{ valueQuantity: { value: 5, code: '1' } }, '5'],
      [{ valueRatio: { numerator: { value: 1 }, denominator: { value: 128 } } }, '1:128'],
    ] as const;
    for (const [given, shown] of values)
      expect(rowsOf('results', observed(given))[0]?.value, JSON.stringify(given)).to.equal(shown);
  });
});
