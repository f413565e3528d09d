import { expect } from 'chai';
import fc from 'fast-check';
import { newUuid } from '#src/shared/ids.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { dataOf, restOf } from '#test/support/rest.ts';
import { steadySeed } from '#test/support/scale.ts';

/** docs/spec/interface.md, sections 2.3 and 4.3; docs/spec/decisions.md, section 4 */
describe('the timeline of REST v1', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const { v1, get, made, fhir } = restOf(() => service);
  const person = async () => String((await made('/patients', { family: 'Zeit' })).id);
  const lab = (effective_at: string, value = 5) => ({
    ...{ code: '2339-0', display: 'Glucose', category: 'laboratory' },
    ...{ value, unit: 'mg/dL', effective_at },
  });
  /** Writes a patient's resource through FHIR, and returns its id. */
  const written = async (type: string, patient: string, rest: object, owner = 'subject') => {
    const answer = await service.post(`/${type}`, {
      resourceType: type,
      [owner]: { reference: `Patient/${patient}` },
      ...rest,
    });
    return String(answer.json.id);
  };
  /** Replaces a resource through FHIR. */
  const replaced = async (type: string, id: string, change: object) => {
    const body = JSON.stringify({ ...(await fhir(type, id)), ...change });
    const answer = await service.fhir(`/${type}/${id}`, {
      method: 'PUT',
      body,
      headers: { 'Content-Type': 'application/fhir+json' },
    });
    expect(answer.status, answer.text).to.equal(200);
  };
  /** Returns all pages of a list. */
  const walked = async (path: string, limit: number, between?: () => Promise<unknown>) => {
    const found: JsonObject[] = [];
    let cursor = '';
    for (let page = 0; ; page += 1) {
      const answer = await get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`);
      found.push(...dataOf(answer));
      if (page === 0) await between?.();
      if (answer.json.next_cursor === null) return { found, total: answer.json.total };
      cursor = `&cursor=${encodeURIComponent(String(answer.json.next_cursor))}`;
    }
  };

  it('shows the four kinds, the newest first, each in a line', async () => {
    const patient = await person();
    const value = await made(`/patients/${patient}/observations`, {
      ...lab('2026-03-31T09:30:00+02:00'),
      author_type: 'device',
    });
    await made(`/patients/${patient}/conditions`, {
      code: 'E11',
      display: 'Diabetes mellitus type 2',
      onset: '2019-05-01',
    });
    await made(`/patients/${patient}/medications`, {
      ...{ code: 'A10BA02', display: 'Metformin' },
      ...{ start: '2019-06-01', dosage: '500 mg twice a day' },
    });
    await written('Encounter', patient, {
      ...{ status: 'finished', class: { code: 'AMB', display: 'ambulatory' } },
      period: { start: '2026-03-31' },
    });
    const answer = await get(`/patients/${patient}/timeline`);
    expect(dataOf(answer).map(({ id: _, fhir: __, ...entry }) => entry)).to.deep.equal([
      {
        ...{ kind: 'observation', date: '2026-03-31T09:30:00+02:00', date_means: 'measured' },
        ...{ title: 'Glucose', summary: '5 mg/dL', author_type: 'device', version: 1 },
      },
      {
        ...{ kind: 'medication', date: '2019-06-01', date_means: 'taken', title: 'Metformin' },
        ...{ summary: 'active, 500 mg twice a day', author_type: 'import', version: 1 },
      },
      {
        ...{ kind: 'condition', date: '2019-05-01', date_means: 'onset' },
        ...{ title: 'Diabetes mellitus type 2' },
        ...{ summary: 'active', author_type: 'import', version: 1 },
      },
    ]);
    expect(answer.json).to.include({ total: 3, next_cursor: null });
    expect(dataOf(answer)[0]).to.include({ id: value.id, fhir: `Observation/${String(value.id)}` });
  });

  it('names codes that were sent without words, in titles and summaries; what is stored stays', async () => {
    const patient = await person();
    const coded = (code: string) => ({ coding: [{ system: 'http://loinc.org', code }] });
    const part = (code: string, value: number) => ({
      code: coded(code),
      valueQuantity: { value, unit: 'mm[Hg]' },
    });
    const component = [part('8480-6', 120), part('8462-4', 80), part('99999-9', 1)];
    const id = await written('Observation', patient, {
      ...{ status: 'preliminary', code: coded('85354-9'), effectiveDateTime: '2026-03-01', component },
    });
    const [entry] = dataOf(await get(`/patients/${patient}/timeline`));
    expect(entry).to.include({
      title: 'Blood pressure panel',
      summary:
        'preliminary, Systolic blood pressure 120 mmHg, Diastolic blood pressure 80 mmHg, LOINC 99999-9 1 mmHg',
    });
    expect((await fhir('Observation', id)).component).to.deep.equal(component);
  });

  it('names codes by concepts, else shows them with their system; a tag of SNOMED CT stays in FHIR', async () => {
    const patient = await person();
    const title = async (code: JsonObject) => {
      const id = await written('Condition', patient, { code });
      const [entry] = dataOf(await get(`/patients/${patient}/timeline`)).filter((each) => each.id === id);
      const { json } = await get(`/conditions/${id}`);
      const [listed] = dataOf(await get(`/patients/${patient}/conditions`)).filter((each) => each.id === id);
      expect(listed).to.deep.equal(json);
      expect((await fhir('Condition', id)).code).to.deep.equal(code);
      return [entry?.title, json.display];
    };
    const icd10 = (code: string) => ({ coding: [{ system: 'http://hl7.org/fhir/sid/icd-10', code }] });
    expect(await title(icd10('E11'))).to.deep.equal(['Type 2 diabetes', 'Type 2 diabetes']);
    expect(await title(icd10('N18.3'))).to.deep.equal(['ICD-10 N18.3', null]);
    // Two concepts have this code, and neither covers its whole meaning.
    expect(await title(icd10('R11'))).to.deep.equal(['ICD-10 R11', null]);
    const display = 'Hypertension (disorder)';
    const snomed = {
      coding: [{ system: 'http://snomed.info/sct', code: '59621000', display }],
      text: display,
    };
    expect(await title(snomed)).to.deep.equal(['Hypertension', 'Hypertension']);
    const worded = { ...snomed, text: 'High pressure (at work)' };
    expect(await title(worded)).to.deep.equal(['High pressure (at work)', 'High pressure (at work)']);
  });

  it('has prescriptions where they are asked for, as a list and by their ids', async () => {
    const patient = await person();
    const doctor = await service.post('/Practitioner', {
      resourceType: 'Practitioner',
      name: [{ given: ['Ada'], family: 'Wu' }],
    });
    const drug = await service.post('/Medication', {
      resourceType: 'Medication',
      code: { coding: [{ system: 'http://www.whocc.no/atc', code: 'C10AA05' }] },
    });
    const request = { status: 'active', intent: 'order', medicationCodeableConcept: { text: 'Simvastatin' } };
    const whole = await written('MedicationRequest', patient, {
      ...{ status: 'active', intent: 'plan', authoredOn: '2026-02-03T00:30:00+02:00' },
      medicationReference: { reference: `Medication/${String(drug.json.id)}` },
      requester: { reference: `Practitioner/${String(doctor.json.id)}` },
      dosageInstruction: [
        {
          text: '1 tablet in the evening',
          timing: {
            repeat: {
              ...{ frequency: 1, period: 1, periodUnit: 'wk' },
              boundsPeriod: { start: '2026-02-04', end: '2026-05-04' },
            },
          },
        },
      ],
      dispenseRequest: { numberOfRepeatsAllowed: 3, quantity: { value: 90, unit: 'tablet' } },
      note: [{ text: 'with food' }],
    });
    const short = await written('MedicationRequest', patient, {
      ...{ ...request, status: 'stopped', authoredOn: '2025', requester: { display: 'Dr. Lee' } },
    });
    await written('MedicationRequest', patient, { ...request, status: 'entered-in-error' });
    const not = await written('MedicationRequest', patient, { ...request, doNotPerform: true });
    const path = `/patients/${patient}/prescriptions`;
    const [first, second, ...others] = dataOf(await get(path));
    expect(others).to.deep.equal([]);
    expect(first).to.deep.include({
      ...{ id: whole, patient, code: 'C10AA05', system: 'http://www.whocc.no/atc', display: 'atorvastatin' },
      ...{
        status: 'active',
        intent: 'plan',
        prescribed_on: '2026-02-03T00:30:00+02:00',
        prescriber: 'Ada Wu',
      },
      // The text alone doesn't say that the dose is taken once a week.
      dosage: '1 tablet in the evening (once a week, from 2026-02-04 until 2026-05-04)',
      ...{ start: '2026-02-04', end: '2026-05-04', note: 'with food' },
      ...{ quantity: { value: 90, unit: 'tablet' }, refills: 3, version: 1, author_type: 'import' },
      fhir: `MedicationRequest/${whole}`,
    });
    const other = await person();
    const taken = await written('MedicationStatement', other, {
      ...{ status: 'active', medicationCodeableConcept: { text: 'Methotrexate' } },
      dosage: [
        {
          ...{ timing: { repeat: { frequency: 1, period: 1, periodUnit: 'wk' } } },
          doseAndRate: [{ doseQuantity: { value: 15, unit: 'mg' } }],
        },
      ],
    });
    expect(
      dataOf(await get(`/patients/${other}/medications`)).map(({ id, dosage }) => [id, dosage]),
    ).to.deep.include([taken, '15 mg once a week']);
    // The prescription date is neither a start date nor an end date.
    expect(second).to.deep.include({
      ...{
        id: short,
        display: 'Simvastatin',
        status: 'stopped',
        prescribed_on: '2025',
        start: null,
        end: null,
      },
      ...{ prescriber: 'Dr. Lee', dosage: null, quantity: null, refills: null },
    });
    expect((await get(`${path}/${whole}`)).json).to.deep.equal(first);
    expect((await get(`${path}/${short}`)).json).to.deep.equal(second);
    expect(dataOf(await get(`${path}?status=stopped`)).map(({ id }) => id)).to.deep.equal([short]);
    expect((await walked(path, 1)).found).to.deep.equal([first, second]);
    const stranger = await person();
    for (const missing of [
      `${path}/${not}`,
      `${path}/${newUuid()}`,
      `/patients/${stranger}/prescriptions/${whole}`,
      `/patients/${newUuid()}/prescriptions`,
    ])
      expect((await get(missing)).status, missing).to.equal(404);
    expect((await get(`${path}?status=sold`)).status).to.equal(422);
    expect((await v1('POST', path, {})).status).to.equal(405);
    // Medications are still only statements, and the timeline includes prescriptions only on request.
    expect(dataOf(await get(`/patients/${patient}/medications`))).to.deep.equal([]);
    expect(dataOf(await get(`/patients/${patient}/timeline`))).to.deep.equal([]);
    const entries = dataOf(await get(`/patients/${patient}/timeline?kinds=prescription&from=2025-06-01`));
    expect(entries.map(({ kind, title, summary, date }) => [kind, title, summary, date])).to.deep.equal([
      [
        'prescription',
        'atorvastatin',
        'active, plan, 1 tablet in the evening (once a week, from 2026-02-04 until 2026-05-04)',
        '2026-02-03T00:30:00+02:00',
      ],
      ['prescription', 'Simvastatin', 'stopped', '2025'],
    ]);
  });

  it('shows the other kinds when they are asked for', async () => {
    const patient = await person();
    const text = (said: string) => ({ text: said });
    await written('Procedure', patient, {
      status: 'not-done',
      statusReason: text('refused, twice'),
      code: text('Biopsy'),
      performedDateTime: '2020',
    });
    await written(
      'Immunization',
      patient,
      { status: 'completed', vaccineCode: text('Influenza'), occurrenceDateTime: '2021-10' },
      'patient',
    );
    await written('AllergyIntolerance', patient, {
      ...{ patient: { reference: `Patient/${patient}` }, subject: undefined },
      ...{ code: text('Penicillin'), recordedDate: '2022-01-01' },
      clinicalStatus: {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' },
        ],
      },
    });
    await written('DiagnosticReport', patient, {
      ...{ status: 'final', code: text('Blood count'), conclusion: 'Normal' },
      effectiveDateTime: '2023-01-01',
    });
    await written('CarePlan', patient, {
      status: 'active',
      intent: 'plan',
      title: 'Walk',
      created: '2024-01-01',
    });
    await written('Goal', patient, {
      ...{ lifecycleStatus: 'active', description: text('5 kg less'), startDate: '2025-01-01' },
    });
    const kinds = 'encounter,procedure,immunization,allergy,report,care_plan,goal';
    const shown = dataOf(await get(`/patients/${patient}/timeline?kinds=${kinds}`));
    expect(shown.map(({ kind, date, title, summary }) => [kind, date, title, summary])).to.deep.equal([
      ['goal', '2025-01-01', '5 kg less', 'active'],
      ['care_plan', '2024-01-01', 'Walk', 'active, plan'],
      ['report', '2023-01-01', 'Blood count', 'Normal'],
      ['allergy', '2022-01-01', 'Penicillin', 'active'],
      ['immunization', '2021-10', 'Influenza', null],
      ['procedure', '2020', 'Biopsy', 'not-done, reason: refused, twice'],
    ]);
    expect(dataOf(await get(`/patients/${patient}/timeline?kinds=goal,report`))).to.have.length(2);
    expect(dataOf(await get(`/patients/${patient}/timeline`))).to.deep.equal([]);
  });

  it('keeps a decimal as it was written, and the moment of recording where nothing says a date', async () => {
    const patient = await person();
    const value = { value: '1.50', unit: 'mg/dL' };
    const text = JSON.stringify({
      ...{ resourceType: 'Observation', status: 'preliminary', code: { text: 'Creatinine' } },
      ...{ subject: { reference: `Patient/${patient}` }, valueQuantity: value },
    }).replace('"1.50"', '1.50');
    const answer = await service.fhir('/Observation', {
      method: 'POST',
      body: text,
      headers: { 'Content-Type': 'application/fhir+json' },
    });
    expect(answer.status, answer.text).to.equal(201);
    const [entry] = dataOf(await get(`/patients/${patient}/timeline`));
    expect(entry).to.include({ title: 'Creatinine', summary: 'preliminary, 1.50 mg/dL' });
    expect(String(entry?.date)).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}000Z$/);
  });

  it('leaves out what is deleted, entered in error, refuted, or modified by an extension; lists show the last two', async () => {
    const patient = await person();
    const base = { code: { text: 'Gout' }, onsetDateTime: '2020-01-01' };
    const verified = (code: string) => ({
      verificationStatus: {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-ver-status', code }],
      },
    });
    const gone = await written('Condition', patient, base);
    await written('Condition', patient, { ...base, ...verified('entered-in-error') });
    const refuted = await written('Condition', patient, { ...base, ...verified('refuted') });
    const modified = await written('Condition', patient, {
      ...base,
      modifierExtension: [{ url: 'http://example.org/not', valueBoolean: true }],
    });
    const ruled = await written('Condition', patient, { ...base, implicitRules: 'http://example.org/rules' });
    const shown = await written('Condition', patient, base);
    expect((await v1('DELETE', `/conditions/${gone}`)).status).to.equal(204);
    const timeline = await get(`/patients/${patient}/timeline`);
    expect(dataOf(timeline).map(({ id }) => id)).to.deep.equal([shown]);
    expect(timeline.json.total).to.equal(1);
    const list = await get(`/patients/${patient}/conditions`);
    expect(dataOf(list).map(({ id }) => id)).to.deep.equal([shown, ruled, modified, refuted]);
    expect(list.json.total).to.equal(4);
  });

  it('has last what says no date, with the moment of its entry', async () => {
    const patient = await person();
    const undated = await written('Condition', patient, { code: { text: 'Gout' } });
    const dated = await written('Condition', patient, { code: { text: 'Mumps' }, onsetDateTime: '1903' });
    const entries = dataOf(await get(`/patients/${patient}/timeline`));
    expect(entries.map(({ id, date_means }) => [id, date_means])).to.deep.equal([
      [dated, 'onset'],
      [undated, 'entered'],
    ]);
    expect(Date.now() - Date.parse(String(entries[1]?.date))).to.be.within(-1_000, 600_000);
    const walked: unknown[] = [];
    for (let cursor = ''; ; ) {
      const { json } = await get(`/patients/${patient}/timeline?limit=1${cursor}`);
      walked.push(...(json.data as { id: string }[]).map(({ id }) => id));
      if (json.next_cursor === null) break;
      cursor = `&cursor=${String(json.next_cursor)}`;
    }
    expect(walked).to.deep.equal([dated, undated]);
    expect(
      dataOf(await get(`/patients/${patient}/timeline?from=1800-01-01`)).map(({ id }) => id),
    ).to.deep.equal([dated]);
    const until = await get(`/patients/${patient}/timeline?to=1900-01-01`);
    expect([until.json.total, ...dataOf(until).map(({ id }) => id)]).to.deep.equal([1, undated]);
  });

  it('is cut by days, both included, and counts what is in them', async () => {
    const patient = await person();
    const days = ['2015-01-01', '2020-02-28', '2020-02-29', '2020-03-01', '2026-01-01'];
    for (const day of days) await made(`/patients/${patient}/observations`, lab(`${day}T23:59:59.999Z`));
    const all = fc.constantFrom(undefined, ...days, '2019-06-01', '2030-01-01');
    await fc.assert(
      fc.asyncProperty(all, all, fc.constantFrom('timeline', 'observations'), async (from, to, path) => {
        const query = new URLSearchParams({
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
        });
        if (from !== undefined && to !== undefined && to < from) {
          const refused = await get(`/patients/${patient}/${path}?${query}`);
          const { errors } = refused.json.error as { errors?: { field: string }[] };
          expect([refused.status, errors?.map(({ field }) => field)]).to.deep.equal([
            422,
            ['query.from', 'query.to'],
          ]);
          return;
        }
        const { found, total } = await walked(`/patients/${patient}/${path}?${query}`, 2);
        const within = days.filter((day) => (from ?? '') <= day && day <= (to ?? '9'));
        const dates = found.map(({ date, effective_at }) => String(date ?? effective_at).slice(0, 10));
        expect(dates).to.deep.equal(within.reverse());
        expect(total).to.equal(within.length);
      }),
      { numRuns: 15, seed: steadySeed() },
    );
  });

  for (const path of ['timeline', 'observations', 'observations?code=2339-0'])
    it(`${path}: pages show the list as it was, whatever moves, comes and goes meanwhile`, async () => {
      const patient = await person();
      const ids: string[] = [];
      for (let n = 1; n <= 7; n += 1) {
        ids.unshift(
          String((await made(`/patients/${patient}/observations`, lab(`2026-01-0${n}T12:00:00Z`))).id),
        );
      }
      const [, shown = '', , early = '', gone = '', wrong = ''] = ids;
      const { found, total } = await walked(`/patients/${patient}/${path}`, 2, async () => {
        await made(`/patients/${patient}/observations`, lab('2020-01-01T12:00:00Z'));
        await replaced('Observation', shown, { effectiveDateTime: '2010-01-01' });
        await replaced('Observation', early, { effectiveDateTime: '2027-01-01' });
        await v1('DELETE', `/observations/${gone}`);
        await replaced('Observation', wrong, { status: 'entered-in-error' });
      });
      expect(found.map(({ id }) => id)).to.deep.equal(ids.filter((id) => id !== gone && id !== wrong));
      expect(total).to.equal(7);
      const now = await walked(`/patients/${patient}/${path}`, 200);
      expect(now.found.map(({ id }) => id)).to.have.members([
        ...ids.filter((id) => id !== gone && id !== wrong),
        now.found[4]?.id,
      ]);
      expect(now.total).to.equal(6);
    });

  it('names a medication by the Medication that it refers to, as that stands now, or stood last', async () => {
    const patient = await person();
    const stocked = async (code: object) => {
      const answer = await service.post('/Medication', { resourceType: 'Medication', code });
      return String(answer.json.id);
    };
    const atc = { system: 'http://www.whocc.no/atc', code: 'B01AA03', display: 'warfarin' };
    const [coded, plain] = [await stocked({ coding: [atc] }), await stocked({ text: 'Ointment no. 7' })];
    const blank = String((await service.post('/Medication', { resourceType: 'Medication' })).json.id);
    const taken = (year: number, medicationReference: object, rest: object = {}) =>
      written('MedicationStatement', patient, {
        ...{ status: 'active', effectiveDateTime: String(year), medicationReference },
        ...rest,
      });
    const ids = [
      await taken(2020, { reference: `Medication/${coded}` }),
      await taken(2019, { reference: `Medication/${plain}`, display: 'an ointment' }),
      await taken(2018, { reference: `Medication/${blank}`, display: 'something' }),
      await taken(2017, { reference: `Medication/${blank}` }),
      await taken(
        2016,
        { reference: '#m' },
        {
          contained: [{ resourceType: 'Medication', id: 'm', code: { text: 'Tea' } }],
        },
      ),
      await taken(2015, { reference: `${service.url}/fhir/R4/Medication/${coded}` }),
      await taken(2014, { reference: `Medication/${coded}/_history/1` }),
    ];
    const { code, system, display } = atc;
    const nothing = { code: null, system: null, display: null };
    const expected = (name = display) => [
      { code, system, display: name },
      { ...nothing, display: 'Ointment no. 7' },
      { ...nothing, display: 'something' },
      nothing,
      { ...nothing, display: 'Tea' },
      { code, system, display: name },
      { code, system, display },
    ];
    const path = `/patients/${patient}/medications`;
    const seen = async (name?: string) => {
      const listed = dataOf(await get(path));
      expect(listed.map((one) => one.id)).to.deep.equal(ids);
      const shown = listed.map((one) => ({ code: one.code, system: one.system, display: one.display }));
      expect(shown).to.deep.equal(expected(name));
      expect(dataOf(await get(`${path}?status=active&limit=1`))).to.deep.equal([listed[0]]);
      for (const one of listed) expect((await get(`/medications/${String(one.id)}`)).json).to.deep.equal(one);
      const titles = dataOf(await get(`/patients/${patient}/timeline`)).map(({ title }) => title);
      const unnamed = 'medication';
      expect(titles).to.deep.equal(expected(name).map((one) => one.display ?? unnamed));
    };
    await seen();
    await replaced('Medication', coded, { code: { coding: [{ ...atc, display: 'Warfarin 5 mg' }] } });
    await seen('Warfarin 5 mg');
    await service.fhir(`/Medication/${coded}`, { method: 'DELETE' });
    await seen('Warfarin 5 mg');
  });

  it('lists observations by code and category together, and counts them', async () => {
    const patient = await person();
    const path = `/patients/${patient}/observations`;
    const wanted = [
      String((await made(path, lab('2026-01-03T12:00:00Z'))).id),
      String((await made(path, lab('2026-01-02T12:00:00Z'))).id),
    ];
    await made(path, { ...lab('2026-01-01T12:00:00Z'), category: 'survey' });
    await made(path, { ...lab('2026-01-01T12:00:00Z'), code: '718-7' });
    const both = `${path}?code=2339-0&category=laboratory`;
    expect((await walked(both, 1)).found.map(({ id }) => id)).to.deep.equal(wanted);
    expect((await get(both)).json.total).to.equal(2);
    expect((await get(`${path}?code=718-7&category=survey`)).json).to.include({ total: 0 });
  });

  it('lists observations by the first fifty codings of their code; all are found by FHIR', async () => {
    const patient = await person();
    const path = `/patients/${patient}/observations`;
    const coding = Array.from({ length: 51 }, (_, n) => ({
      system: 'http://example.org',
      code: `c${n + 1}`,
    }));
    const category = [
      {
        coding: [
          {
            system: 'http://terminology.hl7.org/CodeSystem/observation-category',
            code: 'laboratory',
          },
        ],
      },
    ];
    const id = await written('Observation', patient, { status: 'final', code: { coding }, category });
    for (const n of [1, 50, 51]) {
      const code = `code=${encodeURIComponent(`http://example.org|c${n}`)}`;
      const listed = n === 51 ? [] : [id];
      for (const list of [`${path}?${code}`, `${path}?${code}&category=laboratory`])
        expect((await get(list)).json, list).to.deep.include({ total: listed.length });
      expect(dataOf(await get(`${path}?${code}`)).map((one) => one.id)).to.deep.equal(listed);
      const searched = await service.fhir(`/Observation?subject=Patient/${patient}&${code}`);
      expect(searched.json.total, code).to.equal(1);
    }
    for (const list of [path, `${path}?category=laboratory`, `/patients/${patient}/timeline`])
      expect(
        dataOf(await get(list)).map((one) => one.id),
        list,
      ).to.deep.equal([id]);
  });

  it('takes a cursor of the kinds that are shown unasked when they are spelled out, in any order', async () => {
    const patient = await person();
    for (const code of ['I10', 'E11']) await made(`/patients/${patient}/conditions`, { code });
    const path = `/patients/${patient}/timeline?limit=1`;
    const cursor = encodeURIComponent(String((await get(path)).json.next_cursor));
    const second = dataOf(await get(`${path}&cursor=${cursor}`));
    expect(second).to.have.length(1);
    const kinds = 'kinds=document,observation,medication,condition';
    expect(dataOf(await get(`${path}&${kinds}&cursor=${cursor}`))).to.deep.equal(second);
  });

  it('takes a cursor for the list that it is of, and for no other', async () => {
    const [patient, other] = [await person(), await person()];
    for (const one of [patient, other]) {
      for (const day of [1, 2, 3]) {
        await made(`/patients/${one}/observations`, lab(`2026-01-0${day}T12:00:00Z`));
        await made(`/patients/${one}/conditions`, { code: 'I10' });
      }
    }
    const observations = `/patients/${patient}/observations?limit=1`;
    const id = String(dataOf(await get(observations))[0]?.id);
    await replaced('Observation', id, { status: 'amended' });
    const lists = [
      ...[observations, `${observations}&code=2339-0`, `${observations}&from=2020-01-01`],
      `/patients/${other}/observations?limit=1`,
      `/patients/${patient}/conditions?limit=1`,
      ...[`/patients/${patient}/timeline?limit=1`, `/patients/${patient}/timeline?limit=1&kinds=observation`],
      ...['/patients?limit=1', `/patients/${patient}/provenance/Observation/${id}?limit=1`],
    ];
    const cursors: string[] = [];
    for (const list of lists) cursors.push(String((await get(list)).json.next_cursor));
    for (const [n, list] of lists.entries()) {
      for (const [of, cursor] of cursors.entries()) {
        const answer = await get(`${list}&cursor=${encodeURIComponent(cursor)}`);
        const { field } = (answer.json.error ?? {}) as { field?: string };
        expect([answer.status, field], `${list} with the cursor of ${lists[of]}`).to.deep.equal(
          n === of ? [200, undefined] : [422, 'query.cursor'],
        );
      }
    }
  });

  it('refuses kinds that there are not, days that there are not, and cursors of nothing; 404 for whom nobody sees', async () => {
    const patient = await person();
    const refused = [
      ['kinds=observation,labs', 'query.kinds'],
      ['kinds=,', 'query.kinds'],
      ['from=2026-02-30', 'query.from'],
      ['limit=201', 'query.limit'],
      ['cursor=x', 'query.cursor'],
      [`cursor=${Buffer.from('[1,1,"1","x"]').toString('base64url')}`, 'query.cursor'],
      ['order=asc', 'query.order'],
    ];
    for (const [query, field] of refused) {
      const answer = await get(`/patients/${patient}/timeline?${query}`);
      expect(answer.status, query).to.equal(422);
      expect((answer.json.error as { field: string }).field, query).to.equal(field);
      expect(answer.text, query).not.to.include('is missing');
    }
    expect((await get(`/patients/${newUuid()}/timeline`)).status).to.equal(404);
  });
});
