import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { asRead, dataOf, restOf } from '#test/support/rest.ts';

/** docs/spec/interface.md, sections 2.2 and 4.3; docs/spec/decisions.md, section 4 */
describe('observations of REST v1', () => {
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess();
    patient = String((await made('/patients', { family: 'Berg' })).id);
  });
  after(() => service.stop());

  const { v1, get, made, fhir } = restOf(() => service);

  const at = { category: 'laboratory', effective_at: '2026-03-31T09:30:00+02:00' };
  const values: readonly [string, object, object, object][] = [
    [
      'a number',
      { code: '4548-4', value: 6.1, unit: '%', reference_range: { low: 4, high: 5.6 }, note: 'fasting' },
      {
        code: '4548-4',
        system: 'http://loinc.org',
        value: 6.1,
        unit: '%',
        reference_range: { low: 4, high: 5.6 },
      },
      {
        valueQuantity: { value: 6.1, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
        note: [{ text: 'fasting' }],
      },
    ],
    [
      'components',
      {
        code: '85354-9',
        display: 'Blood pressure',
        components: [
          { code: '8480-6', value: 120, unit: 'mm[Hg]' },
          { code: 'urn:x|dia', value: 80, unit: 'mm[Hg]', display: 'Diastolic' },
        ],
      },
      { display: 'Blood pressure', value: null },
      {
        code: {
          coding: [{ system: 'http://loinc.org', code: '85354-9', display: 'Blood pressure' }],
          text: 'Blood pressure',
        },
      },
    ],
    [
      'a text',
      { code: '8251-1', value_text: 'unremarkable' },
      { value_text: 'unremarkable' },
      { valueString: 'unremarkable' },
    ],
    [
      'a code',
      { code: '882-1', value_code: { code: 'http://snomed.info/sct|112144000', display: 'A' } },
      { value_code: { code: '112144000', system: 'http://snomed.info/sct', display: 'A' } },
      {
        valueCodeableConcept: {
          coding: [{ system: 'http://snomed.info/sct', code: '112144000', display: 'A' }],
          text: 'A',
        },
      },
    ],
    ['a truth', { code: '74204-9', value_boolean: false }, { value_boolean: false }, { valueBoolean: false }],
    [
      'a symptom',
      { code: 'urn:own|tired', category: 'symptom', value_boolean: true },
      { category: 'symptom', system: 'urn:own', code: 'tired' },
      {
        category: [{ coding: [{ system: 'https://annal.dev/fhir/observation-category', code: 'symptom' }] }],
      },
    ],
  ];
  for (const [name, given, shown, stored] of values) {
    it(`with ${name} are the same on both interfaces`, async () => {
      const record = await made(`/patients/${patient}/observations`, { ...at, ...given });
      const plain = JSON.parse(JSON.stringify(record)) as JsonObject;
      expect(JSON.parse((await get(`/observations/${String(record.id)}`)).text)).to.deep.include(shown);
      expect(plain.patient).to.equal(patient);
      expect(plain.status).to.equal('final');
      expect(await fhir('Observation', record.id)).to.deep.include(stored);
    });
  }

  it('without seconds have none, and name documents that are there', async () => {
    const document = await service.post('/DocumentReference', {
      resourceType: 'DocumentReference',
      status: 'current',
      subject: { reference: `Patient/${patient}` },
      content: [{ attachment: { title: 'x' } }],
    });
    const body = { code: '4548-4', category: 'laboratory', value: 5, unit: '%' };
    const id = String(document.json.id);
    const record = await made(`/patients/${patient}/observations`, {
      ...body,
      effective_at: '2026-01-01T10:00Z',
      derived_from: id,
    });
    expect(record).to.deep.include({ effective_at: '2026-01-01T10:00:00Z', derived_from: [id] });
    const referred = { ...body, ...at, derived_from: [`DocumentReference/${id}`, id] };
    const same = await made(`/patients/${patient}/observations`, referred);
    expect(same.derived_from).to.deep.equal([id]);
    const { derivedFrom } = await fhir('Observation', same.id);
    expect(derivedFrom).to.deep.equal([{ reference: `DocumentReference/${id}` }]);
    for (const wrong of [`Patient/${id}`, ['DocumentReference/'], 'a b']) {
      const answer = await v1('POST', `/patients/${patient}/observations`, {
        ...referred,
        derived_from: wrong,
      });
      expect(answer.status, answer.text).to.equal(422);
      expect(answer.text).to.contain('must be the id of a document, or DocumentReference/<id>');
    }
    const unknown = await v1('POST', `/patients/${patient}/observations`, {
      ...body,
      ...at,
      derived_from: [newUuid()],
    });
    expect(unknown.status, unknown.text).to.equal(422);
    expect(unknown.text).to.contain('derived_from');
  });

  it('have empty lists where they have no items, and are taken back with them', async () => {
    const given = { code: '4548-4', ...at, value: 5, unit: '%', components: [], derived_from: [] };
    const record = await made(`/patients/${patient}/observations`, given);
    expect(record).to.deep.include({ components: [], derived_from: [] });
    const listed = dataOf(await get(`/patients/${patient}/observations`)).find(({ id }) => id === record.id);
    expect(listed).to.deep.include({ components: [], derived_from: [] });
  });

  it('without a display have that of the terminology in answers, and none in what is stored', async () => {
    const owner = String((await made('/patients', { family: 'Wort' })).id);
    const blood = 'Blood pressure panel';
    const given = {
      code: '85354-9',
      ...at,
      components: [
        { code: '8480-6', value: 120, unit: 'mm[Hg]' },
        { code: '8462-4', display: 'Diastolic', value: 80.0, unit: 'mm[Hg]' },
        { code: 'urn:x|dia', value: 80, unit: 'mm[Hg]' },
      ],
    };
    const created = await made(`/patients/${owner}/observations`, given);
    expect(created.display).to.equal(blood);
    const displays = (Array.isArray(created.components) ? created.components : []).map(
      (part) => (part as JsonObject).display,
    );
    expect(displays).to.deep.equal(['Systolic blood pressure', 'Diastolic', null]);
    expect((await get(`/observations/${String(created.id)}`)).json).to.deep.equal(asRead(created));
    expect(dataOf(await get(`/patients/${owner}/observations`))).to.deep.equal([asRead(created)]);
    const stored = (await fhir('Observation', created.id)).code;
    expect(stored).to.deep.equal({ coding: [{ system: 'http://loinc.org', code: '85354-9' }] });
    const drug = await made(`/patients/${owner}/medications`, { code: 'A10BA02' });
    expect(String(drug.display).toLowerCase()).to.equal('metformin');
    const code = { coding: [{ system: 'http://www.whocc.no/atc', code: 'C09AA05' }] };
    const medication = String(
      (await service.post('/Medication', { resourceType: 'Medication', code })).json.id,
    );
    await service.post('/MedicationStatement', {
      resourceType: 'MedicationStatement',
      status: 'active',
      subject: { reference: `Patient/${owner}` },
      medicationReference: { reference: `Medication/${medication}` },
    });
    const drugs = dataOf(await get(`/patients/${owner}/medications`)).map(({ display }) => display);
    expect(drugs.map((each) => String(each).toLowerCase())).to.have.members(['metformin', 'ramipril']);
    const imported = await v1('POST', `/patients/${owner}/labs/import`, {
      date: '2026-03-31',
      items: [{ code: '2345-7', value: 5, unit: 'mmol/L' }],
    });
    const [glucose] = imported.json.observations as JsonObject[];
    expect(glucose?.display).to.equal('Glucose [Mass/volume] in Serum or Plasma');
    const titles = dataOf(await get(`/patients/${owner}/timeline`)).map(({ title }) => title);
    expect(titles).to.include.members([blood, glucose?.display, ...drugs]);
  });

  it('take units as people write them, and answer with UCUM', async () => {
    const body = { code: '8480-6', ...at, value: 120, unit: 'mmHg' };
    const record = await made(`/patients/${patient}/observations`, body);
    expect(record.unit).to.equal('mm[Hg]');
    const { valueQuantity } = await fhir('Observation', record.id);
    expect(valueQuantity).to.include({ unit: 'mm[Hg]', code: 'mm[Hg]', system: 'http://unitsofmeasure.org' });
    const parts = { code: '85354-9', ...at, components: [{ code: '8867-4', value: 60, unit: 'bpm' }] };
    const [part] = (await made(`/patients/${patient}/observations`, parts)).components as JsonObject[];
    expect(part?.unit).to.equal('/min');
    const lab = await v1('POST', `/patients/${patient}/observations`, { ...body, category: 'lab' });
    expect((lab.json.error as JsonObject).message).to.contain('; did you mean `laboratory`?');
    for (const [unit, says] of [
      ['C', 'unit is ambiguous; write Cel for degrees Celsius'],
      ['mph', 'unit is ambiguous; write [mi_i]/h for miles per hour'],
      ['G/L', 'unit is ambiguous; write 10*9/L for giga per litre, or g/L for grams per litre'],
      [
        'MMOL/L',
        'unit must be a unit of UCUM, such as mg/dL or mm[Hg], not `MMOL/L`; did you mean `mmol/L`?',
      ],
      [
        'kilogrms',
        'unit must be a unit of UCUM, such as mg/dL or mm[Hg], not `kilogrms`; did you mean `kilograms`?',
      ],
      [
        'furlongs',
        'unit must be a unit of UCUM, such as mg/dL or mm[Hg], not `furlongs`; docs/rest.md lists the spellings that are accepted',
      ],
    ]) {
      const answer = await v1('POST', `/patients/${patient}/observations`, { ...body, unit });
      expect(answer.status, answer.text).to.equal(422);
      expect((answer.json.error as JsonObject).message).to.equal(says);
    }
  });

  it('need no unit where LOINC has none, and then have 1', async () => {
    const gravity = { code: '2965-2', ...at, value: 1.02 };
    expect(await made(`/patients/${patient}/observations`, gravity)).to.include({ value: 1.02, unit: '1' });
    for (const [given, field, says] of [
      [{ ...gravity, code: '8480-6' }, 'unit', 'LOINC gives 8480-6 in mm[Hg]'],
      [{ ...gravity, code: 'urn:x|y' }, 'unit', 'give the UCUM unit, or 1'],
      [
        {
          code: '85354-9',
          ...at,
          components: [
            { code: '2965-2', value: 1 },
            { code: '8480-6', value: 1 },
          ],
        },
        'components.1.unit',
        'LOINC gives 8480-6 in mm[Hg]',
      ],
    ] as const) {
      const answer = await v1('POST', `/patients/${patient}/observations`, given);
      expect(answer.status, answer.text).to.equal(422);
      const { errors } = answer.json.error as { errors: { field: string; message: string }[] };
      expect(errors.map((each) => each.field)).to.deep.equal([field]);
      expect(errors[0]?.message).to.contain(`${field} is missing: ${says}`);
    }
  });

  it('that FHIR wrote are shown in words where v1 has no field', async () => {
    const { id } = (
      await service.post('/Observation', {
        resourceType: 'Observation',
        status: 'amended',
        subject: { reference: `Patient/${patient}` },
        code: { text: 'CRP' },
        valueQuantity: { value: 5, comparator: '<', unit: 'mg/L' },
        effectivePeriod: { start: '2026-01-01' },
      })
    ).json;
    const shown = JSON.parse((await get(`/observations/${String(id)}`)).text) as JsonObject;
    expect(shown).to.include({
      code: null,
      display: 'CRP',
      value: null,
      value_text: '< 5 mg/L',
      effective_at: '2026-01-01',
      category: null,
      status: 'amended',
    });
  });

  it('are listed by category, code and day, without what was entered in error', async () => {
    const mine = String((await made('/patients', { given: 'Lists' })).id);
    const days = ['2026-01-01T23:59:59Z', '2026-01-02T00:00:00Z', '2026-01-03T12:00:00Z'];
    const ids: string[] = [];
    for (const effective_at of days) {
      const body = { code: '4548-4', category: 'laboratory', value: 5, unit: '%', effective_at };
      ids.unshift(String((await made(`/patients/${mine}/observations`, body)).id));
    }
    const pulse = {
      code: '8867-4',
      category: 'vital-signs',
      value: 60,
      unit: '/min',
      effective_at: days[0],
    };
    const vital = String((await made(`/patients/${mine}/observations`, pulse)).id);
    const wrong = { ...(await fhir('Observation', vital)), id: undefined, status: 'entered-in-error' };
    await service.post('/Observation', wrong);
    const list = async (query: string) => {
      const answer = await get(`/patients/${mine}/observations${query}`);
      const found = dataOf(answer).map(({ id }) => String(id));
      expect(answer.json.total, query).to.equal(found.length);
      return found;
    };
    expect(await list('')).to.deep.equal([ids[0], ids[1], vital, ids[2]]);
    expect(await list('?category=vital-signs')).to.deep.equal([vital]);
    expect(await list('?code=4548-4')).to.deep.equal(ids);
    expect(await list(`?code=${encodeURIComponent('http://loinc.org|8867-4')}`)).to.deep.equal([vital]);
    expect(await list('?code=urn:other|8867-4')).to.deep.equal([]);
    expect(await list('?code=8867-4&category=vital-signs')).to.deep.equal([vital]);
    expect(await list('?code=8867-4&category=laboratory')).to.deep.equal([]);
    expect(await list('?code=4548-4&category=laboratory&from=2026-01-02')).to.deep.equal(ids.slice(0, 2));
    expect(await list('?from=2026-01-02')).to.deep.equal(ids.slice(0, 2));
    expect(await list('?to=2026-01-01')).to.deep.equal([vital, ids[2]]);
    expect(await list('?from=2026-01-02&to=2026-01-02')).to.deep.equal([ids[1]]);
    const first = await get(`/patients/${mine}/observations?limit=1`);
    expect(first.json.total).to.equal(4);
  });

  it('keep decimals as they were written, on both interfaces', async () => {
    const mine = String((await made('/patients', { given: 'Literals' })).id);
    const post = (body: string) =>
      service.fhir(`${service.url}/v1/patients/${mine}/observations`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: `{"code":"2160-0","category":"laboratory","effective_at":"2026-01-01T00:00:00Z",${body}}`,
      });
    const one = await post('"value":1.50,"unit":"mg/dL","reference_range":{"low":0.70,"high":1.2}');
    const parts =
      '[{"code":"a","value":2.00,"unit":"1"},{"code":"b","value":3,"unit":"1"},{"code":"c","value":12345678901234567890.5,"unit":"1"}]';
    const several = await post(`"components":${parts}`);
    for (const answer of [one, several]) expect(answer.status, answer.text).to.equal(201);
    const texts = await Promise.all(
      [one, several].flatMap(({ json }) => [
        service.fhir(`/Observation/${String(json.id)}`),
        get(`/observations/${String(json.id)}`),
      ]),
    );
    const [fhirOne = '', v1One = '', fhirSeveral = '', v1Several = ''] = texts.map(({ text }) => text);
    expect(fhirOne).to.contain('"valueQuantity":{"value":1.50,').and.to.contain('"low":{"value":0.70,');
    for (const text of [one.text, v1One, (await get(`/patients/${mine}/observations`)).text]) {
      expect(text).to.contain('"value":1.50,"unit":"mg/dL"');
      expect(text).to.contain('"reference_range":{"low":0.70,"high":1.2}');
    }
    for (const text of [several.text, v1Several, fhirSeveral]) {
      for (const literal of ['2.00', '3', '12345678901234567890.5'])
        expect(text).to.contain(`"value":${literal},"unit":"1"`);
    }
    const large = await post('"value":1e999,"unit":"1"');
    expect(large.status).to.equal(422);
  });

  it('tell what is implausible by the member that was sent, the same when a request is sent again', async () => {
    const vital = { ...at, category: 'vital-signs', code: '8310-5' };
    const send = (body: object, headers = {}) =>
      v1('POST', `/patients/${patient}/observations`, { ...vital, ...body }, headers);
    const key = { 'Idempotency-Key': newUuid() };
    const first = await send({ value: 370, unit: '°C' }, key);
    expect(first.status, first.text).to.equal(201);
    expect(first.json.value).to.equal(370);
    expect(first.json.warnings).to.deep.equal([
      {
        field: 'value',
        code: 'impossible_value',
        message: '370 °C is outside what is possible in a living person (9 to 47 °C)',
      },
    ]);
    expect((await send({ value: 370, unit: '°C' }, key)).text).to.equal(first.text);
    expect((await get(`/observations/${String(first.json.id)}`)).json).not.to.have.property('warnings');
    expect((await send({ value: 370, unit: '[degF]' })).json.warnings).to.have.length(1);
    expect((await send({ value: 98.6, unit: '[degF]' })).json.warnings).to.deep.equal([]);
    const told = async (body: object): Promise<string[]> => {
      const { warnings } = (await send(body)).json;
      return (warnings as JsonObject[]).map(({ field, code }) => `${String(field)}: ${String(code)}`);
    };
    expect(await told({ code: '29463-7', value: 70, unit: 'mmol/L' })).to.deep.equal(['unit: unit_mismatch']);
    expect(await told({ value: 37, unit: 'Cel', effective_at: '2962-01-01T00:00:00Z' })).to.deep.equal([
      'effective_at: future_date',
    ]);
    const components = [
      { code: '8480-6', value: 1_200, unit: 'mmHg' },
      { code: '8462-4', value: 80, unit: 'kg' },
    ];
    expect(await told({ code: '85354-9', components })).to.deep.equal([
      'components.0.value: impossible_value',
      'components.1.unit: unit_mismatch',
    ]);
  });

  it('are deleted softly', async () => {
    const body = { ...at, code: '4548-4', value: 5, unit: '%' };
    const { id } = await made(`/patients/${patient}/observations`, body);
    const remove = () => v1('DELETE', `/observations/${String(id)}`);
    expect((await remove()).status).to.equal(204);
    expect((await get(`/observations/${String(id)}`)).status).to.equal(404);
    expect((await service.fhir(`/Observation/${String(id)}`)).status).to.equal(410);
    expect((await remove()).status).to.equal(204);
    expect((await v1('DELETE', `/observations/${newUuid()}`)).status).to.equal(404);
    expect((await v1('DELETE', `/conditions/${String(id)}`)).status).to.equal(404);
  });

  const refused: readonly [string, object, ...string[]][] = [
    ['no value', {}, 'value'],
    ['two values', { value: 1, unit: '1', value_text: 'x' }, 'value_text'],
    ['a value without its unit', { value: 1 }, 'unit'],
    ['a unit that UCUM does not know', { value: 1, unit: 'furlongs' }, 'unit'],
    ['a unit without its value', { value_text: 'x', unit: '1' }, 'unit'],
    ['a range of a text', { value_text: 'x', reference_range: { low: 1 } }, 'reference_range'],
    ['a range without ends', { value: 1, unit: '1', reference_range: {} }, 'reference_range'],
    ['a range upside down', { value: 1, unit: '1', reference_range: { low: 2, high: 1 } }, 'reference_range'],
    ['an unknown member', { value_text: 'x', colour: 'red' }, 'colour'],
    [
      'an unknown member within',
      { components: [{ code: 'a', value: 1, unit: '1', x: 1 }] },
      'components.0.x',
    ],
    ['a unit of a component', { components: [{ code: 'a', value: 1, unit: 'zz' }] }, 'components.0.unit'],
    ['a moment without an offset', { value_text: 'x', effective_at: '2026-01-01T10:00:00' }, 'effective_at'],
    ['a day that there is not', { value_text: 'x', effective_at: '2026-02-30T10:00:00Z' }, 'effective_at'],
    ['a category that there is not', { value_text: 'x', category: 'other' }, 'category'],
    ['two systems', { value_text: 'x', code: 'urn:a|1', system: 'urn:b' }, 'system'],
    ['a number as a text', { value: '1', unit: '1' }, 'value'],
    ['several at once', { value: '1', category: 1, code: '' }, 'value', 'category', 'code'],
  ];
  it('are told what is missing, and what there is too much of', async () => {
    const faults = async (given: object): Promise<unknown> => {
      const answer = await v1('POST', `/patients/${patient}/observations`, {
        ...at,
        code: '4548-4',
        ...given,
      });
      return ((answer.json.error as JsonObject).errors as JsonObject[]).map(
        ({ code, message }) => `${code}: ${message}`,
      );
    };
    const all = 'value, value_text, value_code, value_boolean, components';
    expect(await faults({})).to.deep.equal([`required: provide one of ${all}`]);
    expect(await faults({ value_text: 'x', value_boolean: true })).to.deep.equal([
      `value: value_boolean must not be combined with value_text; send only one of ${all}`,
    ]);
    expect(await faults({ value: 1 })).to.deep.equal(['required: unit is missing: LOINC gives 4548-4 in %']);
    expect(await faults({ value_text: 'x', effective_at: 'May' })).to.deep.equal([
      'value: effective_at must be a date-time with a time zone, for example 2026-09-01T08:00:00Z',
    ]);
    expect(await faults({ value_text: 'x', effective_at: '2026-09-01T08:00' })).to.deep.equal([
      'value: effective_at needs a time zone, for example 2026-09-01T08:00:00Z',
    ]);
  });
  for (const [name, given, ...fields] of refused) {
    it(`are refused with ${name}`, async () => {
      const body = { ...at, code: '4548-4', ...given };
      const answer = await v1('POST', `/patients/${patient}/observations`, body);
      expect(answer.status, answer.text).to.equal(422);
      const named = (answer.json.error as JsonObject).errors as JsonObject[];
      expect(named.map(({ field }) => field)).to.include.members(fields);
    });
  }
});
