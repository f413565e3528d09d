/** Cases from public reports about writes, for `test/http/public-reports.test.ts`: none of the faults occurs here. */
import { expect } from 'chai';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { InProcess, KeyedCall } from '../in-process.ts';

const urn = (n: number): string => `urn:uuid:00000000-0000-4000-8000-00000000010${n}`;
const div = (content: string): string => `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>`;

/**
 * Describes the cases.
 * @param service returns the service, which is started before the cases run
 */
export function writesHold(service: () => InProcess): void {
  const send = (method: string, path: string, body: object | string, headers: KeyedCall['headers'] = {}) =>
    service().fhir(path, { method, body: typeof body === 'string' ? body : JSON.stringify(body), headers });
  const create = async (resource: JsonObject): Promise<string> => {
    const answer = await send('POST', `/${String(resource.resourceType)}`, resource);
    expect(answer.status, answer.text).to.equal(201);
    return String(answer.json.id);
  };
  const transaction = (...entry: object[]) =>
    send('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry });
  const post = (resource: JsonObject, fullUrl?: string) => ({
    ...(fullUrl === undefined ? {} : { fullUrl }),
    resource,
    request: { method: 'POST', url: String(resource.resourceType) },
  });
  const total = async (path: string): Promise<unknown> => (await service().fhir(path)).json.total;
  const result = (patient: string, more: object = {}): JsonObject => ({
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'x' },
    subject: { reference: patient },
    ...more,
  });

  describe('transactions', () => {
    it('sent twice keep one patient by its identifier, and refer to it', async () => {
      const identifier = { system: 'https://ex.test/sent-twice', value: '1' };
      for (let n = 0; n < 2; n += 1) {
        const answer = await transaction(
          {
            fullUrl: urn(1),
            resource: { resourceType: 'Patient', identifier: [identifier] },
            request: { method: 'PUT', url: `Patient?identifier=${identifier.system}|${identifier.value}` },
          },
          post(result(urn(1)), urn(2)),
        );
        expect(answer.status, answer.text).to.equal(200);
      }
      const patients = await service().fhir(`/Patient?identifier=${identifier.system}|`);
      expect(patients.json.total).to.equal(1);
      expect(await total(`/Observation?patient.identifier=${identifier.system}|1`)).to.equal(2);
    });

    it('replace the address of an entry wherever it is', async () => {
      const answer = await transaction(
        post({ resourceType: 'Patient' }, urn(1)),
        post(
          result(urn(1), {
            extension: [{ url: 'https://ex.test/of', valueUri: urn(1) }],
            contained: [{ resourceType: 'Specimen', id: 's', subject: { reference: urn(1) } }],
            specimen: { reference: '#s' },
            text: { status: 'additional', div: div(`<a href="${urn(1)}">whose</a>`) },
          }),
          urn(2),
        ),
        post(
          {
            resourceType: 'DiagnosticReport',
            status: 'final',
            code: { text: 'x' },
            subject: { reference: urn(1) },
            result: [{ reference: urn(2) }],
            presentedForm: [{ url: urn(2) }],
          },
          urn(3),
        ),
      );
      expect(answer.status, answer.text).to.equal(200);
      const at = (type: string): string => new RegExp(`${type}/[0-9a-f-]{36}`).exec(answer.text)?.[0] ?? '';
      const observation = (await service().fhir(`/${at('Observation')}`)).text;
      const report = (await service().fhir(`/${at('DiagnosticReport')}`)).text;
      expect(observation + report).not.to.contain('urn:uuid');
      for (const text of [
        `"valueUri":"${at('Patient')}"`,
        `"id":"s","subject":{"reference":"${at('Patient')}"}`,
        `href=\\"${at('Patient')}\\"`,
      ])
        expect(observation).to.contain(text);
      expect(report).to.contain(`"presentedForm":[{"url":"${at('Observation')}"}]`);
    });
  });

  it('URLs of entries and criteria may have raw umlauts and blanks, and a plus sign is a blank', async () => {
    for (const [name, url, path] of [
      ['Ärzte Haus', 'Organization?name:exact=Ärzte Haus', undefined],
      ['FOO BAR', 'Organization?name:exact=FOO+BAR', '/Organization?name:exact=FOO+BAR'],
    ] as const) {
      const resource = { resourceType: 'Organization', name };
      for (const status of ['201 Created', '200 OK']) {
        const answer =
          path === undefined
            ? await transaction({ resource, request: { method: 'PUT', url } })
            : await send('PUT', path, resource);
        const told = path === undefined ? answer.text : `${answer.status}`;
        expect(told, answer.text).to.contain(
          path === undefined ? `"status":"${status}"` : status.slice(0, 3),
        );
      }
      expect(await total(`/Organization?name:exact=${encodeURIComponent(name)}`)).to.equal(1);
    }
  });

  it('decimals keep their digits', async () => {
    const patient = `Patient/${await create({ resourceType: 'Patient' })}`;
    for (const digits of ['1.2E+2', '0.700', '0.12345678901234567890123456789012345678', '100', '1.0e-3']) {
      const body = JSON.stringify(result(patient, { valueQuantity: { value: 4711 } })).replace(
        '4711',
        digits,
      );
      const answer = await send('POST', '/Observation', body);
      expect(answer.status, answer.text).to.equal(201);
      const stored = await service().fhir(`/Observation/${String(answer.json.id)}`);
      expect(stored.text).to.contain(`"value":${digits}}`);
    }
  });

  describe('patches', () => {
    const part = (name: string, value: object) => ({ name, ...value });
    const fhirpath = (type: string, path: string, ...more: object[]) => ({
      resourceType: 'Parameters',
      parameter: [
        {
          name: 'operation',
          part: [part('type', { valueCode: type }), part('path', { valueString: path }), ...more],
        },
      ],
    });
    const JSON_PATCH = 'application/json-patch+json';
    const FHIR = 'application/fhir+json';
    const PATIENT: JsonObject = {
      resourceType: 'Patient',
      extension: [{ url: 'urn:u', valueString: 'x' }],
      name: [{ family: 'a' }, { family: 'b' }],
      deceasedBoolean: true,
    };

    for (const [title, type, body, status, holds] of [
      ['an unknown operation', JSON_PATCH, [{ op: 'increment', path: '/name', value: 1 }], 400, undefined],
      ['a failed test', JSON_PATCH, [{ op: 'test', path: '/name/0/family', value: 'b' }], 422, undefined],
      ['an unknown type of operation', FHIR, fhirpath('upsert', 'Patient.name'), 400, undefined],
      [
        'an insertion at the end',
        FHIR,
        fhirpath('insert', 'Patient.name', part('index', { valueInteger: 2 }), {
          name: 'value',
          valueHumanName: { family: 'c' },
        }),
        200,
        { name: [{ family: 'a' }, { family: 'b' }, { family: 'c' }] },
      ],
      [
        'an insertion beyond the end',
        FHIR,
        fhirpath('insert', 'Patient.name', part('index', { valueInteger: 3 }), {
          name: 'value',
          valueHumanName: { family: 'c' },
        }),
        422,
        undefined,
      ],
      [
        'another type of an extension’s value',
        FHIR,
        fhirpath('replace', "Patient.extension('urn:u').value", part('value', { valueInteger: 5 })),
        200,
        { extension: [{ url: 'urn:u', valueInteger: 5 }] },
      ],
      [
        'another type of a choice',
        FHIR,
        fhirpath('replace', 'Patient.deceased', part('value', { valueDateTime: '2026-01-01' })),
        200,
        { deceasedDateTime: '2026-01-01' },
      ],
      [
        'a second type of a choice',
        JSON_PATCH,
        [{ op: 'add', path: '/deceasedDateTime', value: '2026-01-01' }],
        422,
        undefined,
      ],
    ] as const)
      it(`${status === 200 ? 'take' : 'refuse'} ${title}`, async () => {
        const id = await create(PATIENT);
        const answer = await send('PATCH', `/Patient/${id}`, body, { 'Content-Type': type });
        expect(answer.status, answer.text).to.equal(status);
        const { json } = await service().fhir(`/Patient/${id}`);
        expect(json).to.deep.include(holds ?? PATIENT);
        expect('deceasedBoolean' in json && 'deceasedDateTime' in json).to.equal(false);
      });
  });

  describe('headers', () => {
    it('name the current version in any form; a stale one is 412 everywhere', async () => {
      const id = await create({ resourceType: 'Patient' });
      const resource = { resourceType: 'Patient', id };
      let version = 1;
      for (const form of ['"1"', 'W/"2"', '3']) {
        const answer = await send('PUT', `/Patient/${id}`, resource, { 'If-Match': form });
        expect(answer.status, form).to.equal(200);
        version += 1;
      }
      const stale = { 'If-Match': 'W/"1"' };
      const change = [{ op: 'add', path: '/active', value: true }];
      const patch = { 'Content-Type': 'application/json-patch+json', ...stale };
      const statuses = [
        await send('PUT', `/Patient/${id}`, resource, stale),
        await send('PATCH', `/Patient/${id}`, change, patch),
        await service().fhir(`/Patient/${id}`, { method: 'DELETE', headers: stale }),
        await transaction({
          resource,
          request: { method: 'PUT', url: `Patient/${id}`, ifMatch: 'W/"1"' },
        }),
      ].map(({ status }) => status);
      expect(statuses).to.deep.equal([412, 412, 412, 412]);
      expect((await service().fhir(`/Patient/${id}`)).version).to.equal(version);
    });

    it('ask for FHIR JSON in every usual form', async () => {
      const id = await create({ resourceType: 'Patient' });
      for (const [status, ...forms] of [
        [
          200,
          'application/fhir+json',
          'application/json',
          'application/fhir+json;charset=utf-8',
          'application/fhir+json; charset="UTF-8"',
          'application/fhir+json;q=0.9, application/fhir+xml;q=0.8',
          'application/fhir+xml, application/fhir+json;q=0.1',
          'application/fhir+json; fhirVersion=4.0',
          'application/json, text/plain, */*',
          'application/*',
          'application/*;q=0.5, text/html',
          'text/json',
          'text/*',
          'application/json+fhir',
          'APPLICATION/FHIR+JSON',
          '*/*;q=0.1',
          'text/html, application/xhtml+xml, */*;q=0.8',
          'application/fhir+json , */*',
        ],
        [
          406,
          'application/fhir+xml',
          'application/xml',
          'text/xml',
          'text/turtle',
          'text/html',
          'application/pdf',
          'image/*',
          'application/fhir+json;q=0',
          'application/fhir+json; fhirVersion=3.0',
        ],
      ] as const)
        for (const form of forms) {
          const answer = await service().fhir(`/Patient/${id}`, { headers: { Accept: form } });
          expect(answer.status, form).to.equal(status);
        }
    });

    it('send FHIR JSON in every usual form', async () => {
      for (const [status, ...forms] of [
        [
          201,
          'application/fhir+json',
          'application/json',
          'application/fhir+json; charset=utf-8',
          'application/fhir+json;charset="UTF-8"',
          'application/fhir+json; fhirVersion=4.0',
          'Application/FHIR+JSON',
          'application/json+fhir',
          'text/json',
        ],
        [415, 'application/fhir+xml', 'text/plain', 'application/x-www-form-urlencoded'],
      ] as const)
        for (const form of forms) {
          const answer = await send(
            'POST',
            '/Patient',
            { resourceType: 'Patient' },
            { 'Content-Type': form },
          );
          expect(answer.status, form).to.equal(status);
        }
    });
  });
}
