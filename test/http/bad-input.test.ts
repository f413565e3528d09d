/** Bad bodies, each with its documented status and body (docs/spec/decisions.md, section 2). */
import { expect } from 'chai';
import { type Outcome, observationOf, post, refusals } from '#test/support/refusals.ts';

describe('bad input', () => {
  const bad = refusals();
  const { refuses } = bad;
  const observation = (more: object = {}, patient = bad.mine()) => observationOf(patient, more);
  const transaction = (...entry: unknown[]) => ({ resourceType: 'Bundle', type: 'transaction', entry });
  const creates = (resource: object, fullUrl?: string) => ({
    ...(fullUrl === undefined ? {} : { fullUrl }),
    resource,
    request: { method: 'POST', url: (resource as { resourceType: string }).resourceType },
  });

  describe('JSON', () => {
    const malformed = { status: 400, code: 'structure' };
    refuses('malformed JSON', () => post('/Patient', '{"resourceType":"Patient",'), {
      ...malformed,
      says: /JSON/,
    });
    refuses('an array', () => post('/Patient', '[]'), { ...malformed, says: /object/ });
    refuses('a string', () => post('/Patient', '"Patient"'), { ...malformed, says: /object/ });
    refuses('null', () => post('/Patient', 'null'), { ...malformed, says: /object/ });
    refuses('a Bundle that is an array', () => post('/', '[]'), { ...malformed, says: /object/ });
    refuses(
      'a duplicate key',
      () => post('/Patient', '{"resourceType":"Patient","gender":"male","gender":"female"}'),
      {
        ...malformed,
        says: /"gender"/,
      },
    );
    refuses(
      'nesting over 100',
      () => post('/Patient', `{"resourceType":"Patient","x":${'['.repeat(120)}${']'.repeat(120)}}`),
      { ...malformed, says: /100/ },
    );
    refuses(
      'a NUL character',
      () => post('/Patient', '{"resourceType":"Patient","name":[{"family":"a\\u0000b"}]}'),
      {
        status: 422,
        code: 'value',
        expression: 'Patient.name[0].family',
      },
    );
    refuses(
      'a raw control character',
      () => post('/Patient', '{"resourceType":"Patient","name":[{"family":"a\u0001b"}]}'),
      {
        ...malformed,
      },
    );
    refuses(
      'no body',
      () => ['/Patient', { method: 'POST', headers: { 'Content-Type': 'application/fhir+json' } }],
      {
        status: 400,
        code: 'required',
      },
    );
  });

  describe('types', () => {
    refuses('an unknown type in the URL', () => ['/Spaceship'], {
      status: 404,
      code: 'not-supported',
      says: /Spaceship/,
    });
    refuses('an unknown type to create', () => post('/Spaceship', { resourceType: 'Spaceship' }), {
      status: 404,
      code: 'not-supported',
    });
    refuses('an R4 type that is not supported', () => ['/ServiceRequest/1'], {
      status: 404,
      code: 'not-supported',
    });
    refuses('another type than the URL says', () => post('/Patient', observation()), {
      status: 400,
      code: 'value',
      says: /Observation.*Patient/,
    });
    for (const [name, advice] of [
      ['patient', 'Patient, not patient: resource types are case-sensitive'],
      ['Observations', 'Observations is not a supported resource type; did you mean `Observation`?'],
      ['Medicationrequest', 'MedicationRequest, not Medicationrequest: resource types are case-sensitive'],
    ] as const) {
      const says = (before: string): RegExp => new RegExp(`^${before}${advice.replaceAll('?', '\\?')}$`);
      refuses(`GET /${name}`, () => [`/${name}`], { status: 404, code: 'not-supported', says: says('') });
      refuses(`GET /?_type=${name}`, () => [`/?_type=${name}`], {
        status: 400,
        code: 'value',
        says: says('search parameter _type: '),
      });
    }
    refuses('GET /Account', () => ['/Account'], {
      status: 404,
      code: 'not-supported',
      says: /\/metadata lists/,
    });
    refuses('a body without a type', () => post('/Patient', {}), { status: 400, code: 'required' });
    refuses('a write to terminology', () => post('/CodeSystem', { resourceType: 'CodeSystem' }), {
      status: 405,
      code: 'not-supported',
      says: /POST is not supported here; the methods of this URL are GET, HEAD, OPTIONS/,
      headers: { allow: /GET, HEAD/ },
    });
    refuses(
      'an update with another id',
      () => [
        `/Patient/${bad.mine()}`,
        { method: 'PUT', body: JSON.stringify({ resourceType: 'Patient', id: bad.other() }) },
      ],
      { status: 400, code: 'value' },
    );
    refuses(
      'an update without an id',
      () => [`/Patient/${bad.mine()}`, { method: 'PUT', body: JSON.stringify({ resourceType: 'Patient' }) }],
      { status: 400, code: 'value', says: /id/ },
    );
    refuses(
      'an update of what never was',
      () => [
        '/Patient/01890000-0000-7000-8000-000000000000',
        { method: 'PUT', body: '{"resourceType":"Patient","id":"01890000-0000-7000-8000-000000000000"}' },
      ],
      {
        status: 405,
        code: 'not-supported',
        says: /methods .* GET, HEAD, OPTIONS/,
        headers: { allow: /GET/ },
      },
    );
  });

  describe('content', () => {
    refuses('an unknown element', () => post('/Patient', { resourceType: 'Patient', colour: 'red' }), {
      status: 422,
      code: 'structure',
      expression: 'Patient.colour',
    });
    refuses('a bad date', () => post('/Patient', { resourceType: 'Patient', birthDate: '2023-02-30' }), {
      status: 422,
      code: 'value',
      expression: 'Patient.birthDate',
    });
    refuses('a missing required element', () => post('/Observation', observation({ status: undefined })), {
      status: 422,
      code: 'required',
      expression: 'Observation.status',
    });
    refuses(
      'an unknown code in a required binding',
      () => post('/Patient', { resourceType: 'Patient', gender: 'man' }),
      {
        status: 422,
        code: 'code-invalid',
        expression: 'Patient.gender',
      },
    );
    refuses(
      'a type of a record without its patient',
      () => post('/Observation', observation({ subject: undefined })),
      {
        status: 422,
        code: 'required',
        expression: 'Observation.subject',
      },
    );
    refuses(
      'a dangling reference',
      () =>
        post(
          '/Observation',
          observation({ encounter: { reference: 'Encounter/01890000-0000-7000-8000-000000000000' } }),
        ),
      {
        status: 422,
        code: 'value',
        expression: 'Observation.encounter.reference',
      },
    );
    refuses(
      'a patient that never was',
      () => post('/Observation', observation({}, '01890000-0000-7000-8000-000000000000')),
      {
        status: 422,
        code: 'value',
      },
    );
    it('names every fault', async () => {
      const [path, call] = post('/Patient', {
        resourceType: 'Patient',
        gender: 'man',
        birthDate: 'x',
        colour: 1,
      });
      const outcome = JSON.parse((await bad.service().fhir(path, call)).text) as Outcome;
      expect(outcome.issue.map(({ expression }) => expression?.[0])).to.have.members([
        'Patient.gender',
        'Patient.birthDate',
        'Patient.colour',
      ]);
    });
  });

  describe('Bundles', () => {
    const urn = 'urn:uuid:00000000-0000-4000-8000-000000000001';
    refuses(
      'two patients in one transaction',
      () => post('/', transaction(creates(observation()), creates(observation({}, bad.other())))),
      {
        status: 422,
        code: 'business-rule',
      },
    );
    refuses(
      'a dangling urn',
      () => post('/', transaction(creates(observation({ encounter: { reference: urn } })))),
      {
        status: 422,
        code: 'value',
        says: /Bundle\.entry\[0\]|urn:uuid/,
      },
    );
    refuses(
      'a dangling reference inside',
      () => post('/', transaction(creates(observation({ encounter: { reference: 'Encounter/nobody' } })))),
      {
        status: 422,
        code: 'value',
      },
    );
    refuses(
      'one resource twice',
      () => {
        const request = { method: 'PUT', url: `Patient/${bad.mine()}` };
        const entry = { resource: { resourceType: 'Patient', id: bad.mine() }, request };
        return post('/', transaction(entry, entry));
      },
      { status: 400, code: 'duplicate' },
    );
    refuses(
      'unsupported types, all of them named',
      () =>
        post(
          '/',
          transaction(
            creates({ resourceType: 'Claim' }),
            creates(observation()),
            creates({ resourceType: 'Coverage' }),
          ),
        ),
      {
        status: 422,
        code: 'not-supported',
        says: /entry\[0\].*Claim[\s\S]*entry\[2\].*Coverage/,
      },
    );
    refuses('another type of Bundle', () => post('/', { resourceType: 'Bundle', type: 'document' }), {
      status: 422,
      code: 'value',
      expression: 'Bundle.type',
    });
    refuses('no Bundle at the base', () => post('/', { resourceType: 'Patient' }), {
      status: 400,
      code: 'invalid',
    });
    refuses('too many entries', () => post('/', transaction(...Array(21).fill(creates(observation())))), {
      status: 413,
      code: 'too-long',
    });
    refuses('an entry that is none', () => post('/', transaction(creates(observation()), 7)), {
      status: 422,
      code: 'structure',
      expression: 'Bundle.entry[1]',
    });
    refuses(
      'a malformed ifMatch',
      () => {
        const request = { method: 'DELETE', url: `Patient/${bad.mine()}`, ifMatch: 'three' };
        return post('/', transaction({ request }));
      },
      { status: 400, code: 'value', expression: 'Bundle.entry[0].request.ifMatch' },
    );
  });
});
