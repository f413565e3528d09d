/** Cases modelled on faults that users of other servers and clients reported publicly. All data is made up. */
import { expect } from 'chai';
import type { JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, type KeyedCall, startInProcess } from '#test/support/in-process.ts';
import { searchesHold } from '#test/support/public-reports/searches.ts';
import { writesHold } from '#test/support/public-reports/writes.ts';
import type { Answer } from '#test/support/service.ts';

describe('publicly reported faults of other servers', () => {
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess();
    patient = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
  });
  after(() => service.stop());

  const send = (method: string, path: string, body: object, headers: KeyedCall['headers'] = {}) =>
    service.fhir(path, { method, body: JSON.stringify(body), headers });
  /** Returns a text that makes Node send the given text's UTF-8 bytes, because Node writes headers as Latin-1. */
  const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
  const named = (system: string, value: string, more: object = {}): JsonObject => ({
    resourceType: 'Patient',
    identifier: [{ system, value }],
    ...more,
  });
  const total = async (path: string): Promise<unknown> => (await service.fhir(path)).json.total;
  const expectStatus = (answer: Answer, status: number): void => {
    expect(answer.status, answer.text).to.equal(status);
  };

  describe('criteria that arrive as bytes', () => {
    const system = 'https://ex.test/c';

    for (const [title, value, header] of [
      ['UTF-8', 'Über17', utf8('Über17')],
      ['Latin-1', 'Über18', 'Über18'],
      ['escapes', 'Über19', '%C3%9Cber19'],
      ['UTF-8 beyond Latin-1', 'Больница №1', utf8('Больница №1')],
    ] as const)
      it(`are read as ${title} in If-None-Exist`, async () => {
        const condition = { 'If-None-Exist': `identifier=${system}|${header}` };
        expectStatus(await send('POST', '/Patient', named(system, value), condition), 201);
        expectStatus(await send('POST', '/Patient', named(system, value), condition), 200);
      });

    it('may have a blank as a raw plus sign', async () => {
      const condition = { 'If-None-Exist': `identifier=${system}|A+0800` };
      expectStatus(await send('POST', '/Patient', named(system, 'A 0800'), condition), 201);
      expectStatus(await send('POST', '/Patient', named(system, 'A 0800'), condition), 200);
      expectStatus(
        await send('POST', '/Patient', named(system, 'A+0800'), {
          'If-None-Exist': `identifier=${system}|A%2B0800`,
        }),
        201,
      );
    });

    it('are one condition however they are written', async () => {
      const forms = ['', '?', 'Patient?', `${service.base}/Patient?`].flatMap((start) => [
        `${start}identifier=${system}|one form`,
        `${start}identifier=${system}%7Cone%20form`,
      ]);
      const answers = await Promise.all(
        forms.map((form) => send('POST', '/Patient', named(system, 'one form'), { 'If-None-Exist': form })),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([...Array(7).fill(200), 201]);
    });

    it('are refused when their escapes are not UTF-8, and nothing is written', async () => {
      const before = await total('/Organization?_summary=count');
      const organization = { resourceType: 'Organization', name: 'k' };
      const bundle = (entry: object) => ({ resourceType: 'Bundle', type: 'batch', entry: [entry] });
      const transaction = (entry: object) => ({ ...bundle(entry), type: 'transaction' });
      const post = { method: 'POST', url: 'Organization' };
      const criteria = 'identifier=https://ex.test/k%7CA%FC';
      const refused: [string, Promise<Answer>][] = [
        ['PUT', send('PUT', `/Organization?${criteria}`, organization)],
        ['DELETE', service.fhir(`/Organization?${criteria}`, { method: 'DELETE' })],
        ['search', service.fhir('/Patient?family=%FC')],
        ['percent', service.fhir('/Patient?family=%')],
        ['path', service.fhir('/Patient/%FC')],
        ['If-None-Exist', send('POST', '/Organization', organization, { 'If-None-Exist': criteria })],
        [
          'ifNoneExist',
          send(
            'POST',
            '/',
            transaction({ request: { ...post, ifNoneExist: criteria }, resource: organization }),
          ),
        ],
        [
          'PUT entry',
          send(
            'POST',
            '/',
            transaction({
              request: { method: 'PUT', url: `Organization?${criteria}` },
              resource: organization,
            }),
          ),
        ],
        [
          'GET entry',
          send('POST', '/', transaction({ request: { method: 'GET', url: 'Patient?family=%FC' } })),
        ],
        [
          'form',
          service.fhir('/Patient/_search', {
            method: 'POST',
            body: 'family=%FC',
            headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
          }),
        ],
        ['v1', service.fhir(`${service.url}/v1/patients?q=%FC`)],
        ['page', service.fhir(`${service.url}/signin?next=%FC`, { key: null })],
        [
          'token',
          service.fhir(`${service.url}/oauth/token`, {
            method: 'POST',
            key: null,
            body: 'scope=%FC',
            headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
          }),
        ],
        [
          'cursor',
          service.fhir(`/Patient?_cursor=${Buffer.from('["\xff"]', 'latin1').toString('base64url')}`),
        ],
      ];
      for (const [title, answer] of refused)
        expect((await answer).status, `${title}: ${(await answer).text}`).to.equal(400);
      const form = await fetch(`${service.base}/Patient/_search`, {
        method: 'POST',
        body: Buffer.from('family=\xfc', 'latin1'),
        headers: {
          Authorization: `Bearer ${service.key}`,
          'Content-Type': 'application/x-www-form-urlencoded',
        },
      });
      expect(form.status).to.equal(400);
      const inBatch = await send(
        'POST',
        '/',
        bundle({ request: { method: 'GET', url: 'Patient?family=%FC' } }),
      );
      expect(inBatch.text).to.contain('400 Bad Request');
      expect(await total('/Organization?_summary=count')).to.equal(before);
    });

    it('are refused when they are empty', async () => {
      const created = await total('/Patient?_summary=count');
      const transaction = (request: object, resource: object = { resourceType: 'Patient' }) =>
        send('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry: [{ request, resource }] });
      for (const header of ['', '?', 'Patient?', 'identifier=', '_count=1', 'identifier=&family=Größe'])
        expectStatus(
          await send('POST', '/Patient', { resourceType: 'Patient' }, { 'If-None-Exist': header }),
          400,
        );
      const post = { method: 'POST', url: 'Patient' };
      expectStatus(await transaction({ ...post, ifNoneExist: '' }), 400);
      expectStatus(
        await transaction(
          { method: 'PUT', url: `Patient/${patient}`, ifMatch: '' },
          { resourceType: 'Patient', id: patient },
        ),
        400,
      );
      expectStatus(
        await send(
          'PUT',
          `/Patient/${patient}`,
          { resourceType: 'Patient', id: patient },
          { 'If-Match': '' },
        ),
        400,
      );
      expectStatus(await service.fhir('/Patient?identifier=&family=Größe', { method: 'DELETE' }), 400);
      expectStatus(await service.fhir('/Patient', { headers: { Prefer: '' } }), 200);
      expect(await total('/Patient?_summary=count')).to.equal(created);
    });
  });

  describe('rules within one resource', () => {
    const prescription = (more: object): object => ({
      resourceType: 'MedicationRequest',
      status: 'active',
      intent: 'order',
      subject: { reference: `Patient/${patient}` },
      ...more,
    });
    const drug = (id: string) => ({ resourceType: 'Medication', id, code: { text: id } });
    const text = { medicationCodeableConcept: { text: 'x' } };
    const cases: [string, () => object, string?][] = [
      [
        'contained resources with one id',
        () => prescription({ contained: [drug('m'), drug('m')], medicationReference: { reference: '#m' } }),
        'MedicationRequest.contained[1]',
      ],
      [
        'elements with one id',
        () => ({
          resourceType: 'Patient',
          name: [
            { id: 'a', family: 'x' },
            { id: 'a', family: 'y' },
          ],
        }),
        'Patient.name[1]',
      ],
      [
        'a primitive with the id of another',
        () => ({
          resourceType: 'Patient',
          _gender: { id: 'a' },
          gender: 'male',
          name: [{ given: ['x'], _given: [{ id: 'a' }] }],
        }),
        'Patient.name[0].given[0]',
      ],
      [
        'an element with the id of a contained resource',
        () => prescription({ contained: [drug('m')], medicationReference: { id: 'm', reference: '#m' } }),
        'MedicationRequest.contained[0]',
      ],
      [
        'a contained resource of another type than the element takes',
        () => prescription({ ...text, contained: [drug('m')], requester: { reference: '#m' } }),
        'MedicationRequest.requester',
      ],
      [
        'a type other than that of the reference',
        () => prescription({ ...text, requester: { reference: `Patient/${patient}`, type: 'Organization' } }),
        'MedicationRequest.requester.type',
      ],
      [
        'a type other than that of a contained resource',
        () =>
          prescription({
            contained: [drug('m')],
            medicationReference: { reference: '#m', type: 'Substance' },
          }),
        'MedicationRequest.medication.ofType(Reference).type',
      ],
      [
        'a type other than that of a reference elsewhere',
        () =>
          prescription({
            ...text,
            requester: { reference: 'https://ex.test/fhir/Patient/1', type: 'Organization' },
          }),
        'MedicationRequest.requester.type',
      ],
      [
        'a type that the element does not take',
        () => prescription({ ...text, requester: { identifier: { value: '1' }, type: 'Observation' } }),
        'MedicationRequest.requester.type',
      ],
      [
        'the same type, relative or absolute',
        () =>
          prescription({
            ...text,
            requester: { reference: `Patient/${patient}`, type: 'Patient' },
            performer: {
              reference: 'https://ex.test/fhir/Patient/1',
              type: 'http://hl7.org/fhir/StructureDefinition/Patient',
            },
          }),
      ],
      [
        'one id in an element and in an element of a contained resource',
        () =>
          prescription({
            contained: [{ ...drug('m'), code: { id: 'a', text: 'x' } }],
            medicationReference: { id: 'a', reference: '#m' },
          }),
      ],
      [
        'the type of a model that is not of R4',
        () =>
          prescription({ ...text, requester: { identifier: { value: '1' }, type: 'https://ex.test/Robot' } }),
      ],
    ];
    for (const [title, resource, expression] of cases)
      it(`${expression === undefined ? 'allow' : 'refuse'} ${title}`, async () => {
        const body = resource();
        const type = String(Reflect.get(body, 'resourceType'));
        const answer = await send('POST', `/${type}`, body);
        expectStatus(answer, expression === undefined ? 201 : 422);
        const checked = await send('POST', `/${type}/$validate`, body);
        expect(checked.text.includes('"severity":"error"')).to.equal(expression !== undefined);
        if (expression === undefined) return;
        expect(answer.text).to.contain(`"expression":["${expression}`);
        expect(checked.text).to.contain(`"expression":["${expression}`);
      });
  });

  describe('narratives', () => {
    const div = '<div xmlns="http://www.w3.org/1999/xhtml">a</div>';
    const withText = (markup: string) => ({
      resourceType: 'Patient',
      text: { status: 'generated', div: markup },
    });

    it('may have white space around their div', async () => {
      const spaced = withText(`\n  ${div}\r\n\t`);
      const created = await send('POST', '/Patient', spaced);
      expectStatus(created, 201);
      const id = String(created.json.id);
      expectStatus(await send('PUT', `/Patient/${id}`, { ...spaced, id }), 200);
      const entry = [{ request: { method: 'POST', url: 'Patient' }, resource: spaced }];
      expectStatus(await send('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry }), 200);
      expect((await send('POST', '/Patient/$validate', spaced)).text).not.to.contain('"error"');
      for (const markup of [`${div}\n${div}`, `\u00a0${div}`, ' ', `a ${div}`])
        expectStatus(await send('POST', '/Patient', withText(markup)), 422);
    });
  });

  describe('patches', () => {
    const patch = (id: string, body: object, type = 'application/json-patch+json') =>
      send('PATCH', `/Patient/${id}`, body, { 'Content-Type': type });

    it('add to a list that is absent', async () => {
      const id = String(
        (await service.post('/Patient', { resourceType: 'Patient', contact: [{ name: { text: 'x' } }] })).json
          .id,
      );
      const phone = (value: string) => ({ system: 'phone', value });
      const add = (path: string, value: unknown) => ({ op: 'add', path, value });
      const patched = await patch(id, [
        add('/telecom/-', phone('1')),
        add('/telecom/-', phone('2')),
        add('/contact/0/telecom/-', phone('3')),
        { op: 'copy', from: '/telecom/0', path: '/contact/0/telecom/-' },
      ]);
      expectStatus(patched, 200);
      expect(patched.json.telecom).to.deep.equal([phone('1'), phone('2')]);
      expect(patched.json.contact).to.deep.equal([
        { name: { text: 'x' }, telecom: [phone('3'), phone('1')] },
      ]);
      for (const path of ['/link/0/type/-', '/birthDate/-', '/photo/-/-'])
        expectStatus(await patch(id, [add(path, 'x')]), 422);
      const part = (name: string, value: object) => ({ name, ...value });
      const operation = (...parts: object[]) => ({
        resourceType: 'Parameters',
        parameter: [{ name: 'operation', part: parts }],
      });
      const added = await patch(
        id,
        operation(
          part('type', { valueCode: 'insert' }),
          part('path', { valueString: 'Patient.address' }),
          part('index', { valueInteger: 0 }),
          part('value', { valueAddress: { city: 'Oslo' } }),
        ),
        'application/fhir+json',
      );
      expectStatus(added, 200);
      expect(added.json.address).to.deep.equal([{ city: 'Oslo' }]);
    });
  });

  describe('Provenance', () => {
    const provenance = (...target: string[]) => ({
      resourceType: 'Provenance',
      target: target.map((reference) => ({ reference })),
      recorded: '2026-01-01T00:00:00Z',
      agent: [{ who: { display: 'Dr A' } }],
    });
    const entry = (n: number, resource: object) => ({
      fullUrl: `urn:uuid:00000000-0000-4000-8000-00000000000${n}`,
      request: { method: 'POST', url: String(Reflect.get(resource, 'resourceType')) },
      resource,
    });
    const urn = (n: number): string => `urn:uuid:00000000-0000-4000-8000-00000000000${n}`;

    it('may target directory entries beside its record', async () => {
      const administered = {
        resourceType: 'MedicationRequest',
        status: 'active',
        intent: 'order',
        subject: { reference: urn(1) },
        medicationReference: { reference: urn(2) },
      };
      const answer = await service.post('/', {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          entry(4, provenance(urn(2), urn(1), urn(3))),
          entry(1, { resourceType: 'Patient' }),
          entry(2, { resourceType: 'Medication', code: { text: 'Aspirin 75' } }),
          entry(3, administered),
        ],
      });
      const medication = /Medication\/[0-9a-f-]{36}/.exec(answer.text)?.[0] ?? '';
      expectStatus(await send('POST', '/Provenance', provenance(medication, `Patient/${patient}`)), 201);
      expectStatus(await send('POST', '/Provenance', provenance(medication)), 422);
      const other = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
      expectStatus(
        await send('POST', '/Provenance', provenance(`Patient/${other}`, `Patient/${patient}`)),
        422,
      );
    });
  });

  describe('names and media types', () => {
    it('select resourceType among the elements', async () => {
      const answer = await service.fhir('/Patient?_elements=name,id,resourceType');
      expectStatus(answer, 200);
      expectStatus(await service.fhir('/Patient?_elements=nickname'), 400);
    });

    it('take counts of any size, as the most that there is', async () => {
      for (const path of [
        '/Patient?_count=00000000000005',
        '/Patient?_count=99999999999999999999',
        '/ValueSet/administrative-gender/$expand?count=99999999999',
      ])
        expectStatus(await service.fhir(path), 200);
      expectStatus(await service.fhir('/Patient?_count=-1'), 400);
    });

    it('match moments, and offsets with a raw plus sign', async () => {
      const at = (effectiveDateTime: string): object => ({
        resourceType: 'Observation',
        status: 'final',
        code: { text: 'x' },
        subject: { reference: `Patient/${patient}` },
        effectiveDateTime,
      });
      await service.post('/Observation', at('2021-03-09T02:30:00+11:00'));
      await service.post('/Observation', at('2019-11-28T19:00:06Z'));
      for (const [query, count] of [
        ['date=ge2021-03-08T15:30:00.000Z&date=lt2021-03-08T15:30:01Z', 1],
        ['date=2019-11-28T20:00:06+01:00', 1],
        ['date=2019-11-28T19:00:06.500Z', 0],
        ['date=2019-11-28T19:00:06.0000000000Z', 0],
      ] as const)
        expect(await total(`/Observation?${query}`), query).to.equal(count);
    });

    it('take FHIR JSON by the name of earlier releases', async () => {
      const old = 'application/json+fhir';
      const headers = { 'Content-Type': old, Accept: old };
      expectStatus(await send('POST', '/Patient', { resourceType: 'Patient' }, headers), 201);
      for (const format of [old, encodeURIComponent(old)])
        expectStatus(await service.fhir(`/Patient?_format=${format}`), 200);
    });
  });

  describe('entries of Bundles', () => {
    const bundle = (type: string, ...entry: object[]) =>
      send('POST', '/', { resourceType: 'Bundle', type, entry });

    it('read metadata and search by POST', async () => {
      const answer = await bundle(
        'batch',
        { request: { method: 'GET', url: 'metadata' } },
        { request: { method: 'POST', url: `Patient/_search?_id=${patient}` } },
        { request: { method: 'POST', url: `_search?_type=Patient&_id=${patient}` } },
        {
          request: { method: 'PUT', url: 'Patient/nobody' },
          resource: { resourceType: 'Patient', id: 'nobody' },
        },
      );
      expectStatus(answer, 200);
      expect(answer.json).to.have.nested.property('entry[0].resource.resourceType', 'CapabilityStatement');
      for (const index of [1, 2])
        expect(answer.json).to.have.nested.property(`entry[${index}].resource.entry[0].resource.id`, patient);
      expect(answer.json).to.have.nested.property('entry[3].response.status', '405 Method Not Allowed');
      expect(JSON.stringify(answer.json.entry))
        .to.contain('create it with POST Patient')
        .and.not.to.contain('methods of this URL');
    });

    it('refer to what the same transaction writes, by any parameter', async () => {
      const organization = (name: string, more: object = {}) => ({
        resourceType: 'Organization',
        name,
        identifier: [{ system: 'https://ex.test/zz', value: name }],
        ...more,
      });
      const put = (resource: ReturnType<typeof organization>) => ({
        request: { method: 'PUT', url: `Organization?identifier=https://ex.test/zz|${resource.name}` },
        resource,
      });
      const result = (reference: string) => ({
        request: { method: 'POST', url: 'Observation' },
        resource: {
          resourceType: 'Observation',
          status: 'final',
          code: { text: 'x' },
          subject: { reference: `Patient/${patient}` },
          performer: [{ reference }],
        },
      });
      for (const [name, criteria] of [
        ['N1', 'name:exact=N1'],
        ['N2', 'name=n2'],
        ['N3', 'identifier=https://ex.test/zz|N3&name=n3'],
        ['N4', 'type=https://ex.test/t|N4&active=true'],
        ['N5', 'address-city:contains=5'],
      ] as const) {
        const made = organization(name, {
          active: true,
          type: [{ coding: [{ system: 'https://ex.test/t', code: name }] }],
          address: [{ city: `City ${name}` }],
        });
        const answer = await bundle('transaction', result(`Organization?${criteria}`), put(made));
        expectStatus(answer, 200);
        const ids = /Organization\/([0-9a-f-]{36})[\s\S]*/.exec(answer.text);
        const stored = await service.fhir(`/Observation?performer=Organization/${ids?.[1]}`);
        expect(stored.json.total, criteria).to.equal(1);
        // An existing resource that the transaction doesn't change is also found. A resource that it replaces is found in its
        // new form.
        expectStatus(await bundle('transaction', result(`Organization?${criteria}`), put(made)), 200);
      }
      const renamed = { ...organization('N1'), name: 'N1 renamed' };
      const directory = [{ ...put(organization('N1')), resource: renamed }];
      expectStatus(await bundle('transaction', ...directory), 200);
      const two = [
        put(organization('N6', { alias: ['Twin'] })),
        put(organization('N7', { alias: ['Twin'] })),
      ];
      expectStatus(await bundle('transaction', ...two, result('Organization?name=Twin')), 412);
      expectStatus(await bundle('transaction', put(organization('N8')), result('Organization?name=N9')), 422);
    });

    it('are told the place of a reference that matches nothing, or too much', async () => {
      const visit = (...references: string[]) => ({
        request: { method: 'POST', url: 'Encounter' },
        resource: {
          resourceType: 'Encounter',
          status: 'finished',
          class: { code: 'AMB' },
          subject: { reference: `Patient/${patient}` },
          participant: references.map((reference) => ({ individual: { reference } })),
        },
      });
      const place = (n: number) =>
        `"expression":["Bundle.entry[0].resource.participant[${n}].individual.reference"]`;
      const some = { resourceType: 'Practitioner', active: true };
      await service.post('/Practitioner', some);
      await service.post('/Practitioner', some);
      for (const [status, reference] of [
        [422, 'Practitioner?identifier=https://ex.test/none|1'],
        [412, 'Practitioner?active=true'],
        [400, 'Practitioner?identifier=%FC'],
        [400, 'Practitioner?colour=red'],
      ] as const) {
        const answer = await bundle('transaction', visit('https://ex.test/fhir/Practitioner/1', reference));
        expectStatus(answer, status);
        expect(answer.text).to.contain(place(1));
      }
    });
  });

  it('HL7’s definitions answer under their published ids, too', async () => {
    const paths = [
      '/ValueSet/administrative-gender',
      '/ValueSet/administrative-gender/$expand',
      '/ValueSet/administrative-gender/_history/1',
      '/ValueSet/administrative-gender/$validate-code?code=male&system=http://hl7.org/fhir/administrative-gender',
      '/CodeSystem/administrative-gender',
      '/CodeSystem/v3-ActCode',
      '/CodeSystem/administrative-gender/$validate-code?code=male',
    ];
    for (const path of paths) expectStatus(await service.fhir(path), 200);
    for (const path of ['/ValueSet/nobody', '/ValueSet/%7C', '/Patient/administrative-gender'])
      expectStatus(await service.fhir(path), 404);
  });

  writesHold(() => service);
  searchesHold(() => service);
});
