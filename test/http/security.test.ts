/** Security basics: the headers of every response, and no secrets or clinical data in logs or errors. */
import { expect } from 'chai';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { type Answer, type Call, type Service, startService } from '#test/support/service.ts';

/** A string that is part of every value that the requests below send. */
const MARKER = 'Zanzibarismus';
const SECRET = `sk_test_${'Geheimnis'.repeat(5)}`;

describe('security headers', () => {
  for (const settings of [{}, { BASE_URL: 'https://records.example.org' }]) {
    const https = 'BASE_URL' in settings;
    it(`stand in every answer${https ? ', behind https as well' : ''}`, async () => {
      const service = await startInProcess({}, settings);
      const paths = [
        '/fhir/R4/metadata',
        '/fhir/R4/Patient',
        '/fhir/R4/x',
        '/admin/config',
        '/nowhere',
        '/docs',
      ];
      for (const path of [...paths, '/health/live']) {
        const { headers } = await fetch(service.url + path);
        expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
        expect(headers.get('x-frame-options'), path).to.equal('DENY');
        expect(headers.get('referrer-policy'), path).to.equal('no-referrer');
        expect(headers.get('content-security-policy'), path).to.match(
          /default-src 'none'.*frame-ancestors 'none'/,
        );
        expect(headers.get('strict-transport-security'), path).to.equal(https ? 'max-age=31536000' : null);
        for (const name of ['x-powered-by', 'server']) expect(headers.get(name), path).to.equal(null);
        const html = headers.get('content-type')?.startsWith('text/html') === true;
        expect(headers.has('permissions-policy'), path).to.equal(html);
      }
      await service.stop();
    });
  }
});

describe('logs and errors', () => {
  let database: TestDatabase;
  let service: Service;
  const answers: [string, Answer][] = [];

  const send = async (path: string, call: Call = {}): Promise<Answer> => {
    const answer = await service.fhir(path, call);
    answers.push([`${call.method ?? 'GET'} ${path.slice(0, 80)} ${call.body?.slice(0, 80) ?? ''}`, answer]);
    return answer;
  };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    send(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers });

  before(async () => {
    database = await createDatabase();
    service = await startService({ databaseUrl: database.url, env: { LOG_LEVEL: 'trace' } });
    const patient = { resourceType: 'Patient', name: [{ family: MARKER }] };
    const created = await post('/Patient', patient);
    const id = String(created.json.id);
    const observation = {
      resourceType: 'Observation',
      status: 'final',
      code: { text: MARKER },
      subject: { reference: `Patient/${id}` },
      valueString: MARKER,
    };
    await post('/Observation', observation, {
      'X-Service-Source-System': MARKER,
      'X-Service-Origin-Id': MARKER,
    });
    const wrong: unknown[] = [
      `{"resourceType":"Patient","name":"${MARKER}`,
      `["${MARKER}"]`,
      `{"resourceType":"Patient","name":[{"family":"${MARKER}","family":"${MARKER}"}]}`,
      { ...patient, birthDate: MARKER },
      { ...patient, gender: MARKER },
      { ...patient, name: [{ family: `${MARKER}\u0000` }] },
      { ...patient, identifier: [{ system: `${MARKER} ${MARKER}`, value: MARKER }] },
      { ...patient, text: { status: 'generated', div: `<div>${MARKER}<script>${MARKER}</script></div>` } },
      { ...observation, status: MARKER },
      { ...observation, effectiveDateTime: MARKER },
      { ...observation, valueString: undefined, valueQuantity: { value: MARKER } },
      { ...observation, valueString: undefined, valueQuantity: { value: 1, unit: MARKER, code: MARKER } },
      { ...observation, category: [{ coding: [{ system: MARKER, code: ` ${MARKER}` }] }] },
      { ...observation, note: [{ text: 7, authorString: MARKER }] },
    ];
    for (const body of wrong) await post(`/${isObservation(body) ? 'Observation' : 'Patient'}`, body);
    await post('/Patient/$validate', { ...patient, birthDate: MARKER });
    await post('', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [{ resource: patient, request: {} }],
    });
    await post('', {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [{ resource: { ...patient, birthDate: MARKER }, request: { method: 'POST', url: 'Patient' } }],
    });
    const patches = [
      [{ op: 'replace', path: '/birthDate', value: MARKER }],
      [{ op: 'test', path: '/name/0/family', value: `${MARKER}2` }],
      [{ op: 'add', path: '/nothing/here', value: MARKER }],
    ];
    for (const patch of patches) {
      await send(`/Patient/${id}`, {
        method: 'PATCH',
        body: JSON.stringify(patch),
        headers: { 'Content-Type': 'application/json-patch+json' },
      });
    }
    await send(`/Patient?family=${MARKER}`);
    await send(`/Patient/${id}`, { headers: { 'If-Match': MARKER, 'If-Modified-Since': MARKER } });
    await post('/Patient', patient, { 'Idempotency-Key': MARKER });
    await post('/Patient', { ...patient, gender: 'male' }, { 'Idempotency-Key': MARKER });
    for (const headers of [{ Authorization: `Bearer ${SECRET}` }, { Authorization: `Basic ${SECRET}` }]) {
      await send('/Patient', { headers });
    }
    await send('/Patient', { headers: { 'X-Api-Key': SECRET } });
    await send(`/Patient?access_token=${SECRET}`);
    await send(`${service.url}/admin/organizations`, { headers: { Authorization: `Bearer ${SECRET}` } });
    await post(`${service.url}/admin/organizations`, { name: SECRET, [SECRET]: 1 });
    await send(`/Patient/${id}?_purge=true`, { method: 'DELETE' });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  it('hold no value of a body that was refused', () => {
    const refused = answers.filter(([, { status }]) => status >= 400);
    expect(refused.length).to.be.above(20);
    expect(refused.filter(([, { text }]) => text.includes(MARKER)).map(([what]) => what)).to.deep.equal([]);
  });

  it('hold no credential', () => {
    for (const [what, { text }] of answers) {
      expect(text, what).to.not.contain(SECRET);
      expect(text, what).to.not.contain(service.key);
    }
  });

  it('have nothing of either in the lines of a service that logs everything', async () => {
    const ids = answers.map(([, { headers }]) => headers.get('service-request-id') ?? 'none');
    // A log line may be written after its response.
    await eventually(() => ids.every((id) => service.log().includes(id)));
    const log = service.log();
    expect(log.split('\n').length).to.be.above(answers.length);
    for (const hidden of [MARKER, 'Geheimnis', service.key])
      expect(log.includes(hidden), hidden).to.equal(false);
  });
});

function isObservation(body: unknown): boolean {
  return JSON.stringify(body).includes('Observation');
}
