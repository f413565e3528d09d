/** The Patient as an application sees it under a grant (docs/spec/decisions.md, sections 1, 3 and 9). */
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { objects } from '#src/fhir/parts.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';

describe('the Patient under a grant', () => {
  let service: InProcess;
  let second: SecondInstance;
  let granting: Granting;
  let owner: AdminUser;
  let organization: string;
  let application: Application;

  before(async () => {
    service = await startInProcess();
    second = await startSecondInstance(service);
    granting = await Granting.open(service);
    owner = await signIn(service, 'owner@example.org');
    organization = (await owner.done('POST', '/organizations', { name: 'Hearty' })).id;
    application = await newApplication();
  });
  after(async () => {
    await granting?.close();
    await second?.close();
    await service?.stop();
  });

  async function newApplication(): Promise<Application> {
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    return granting.register(owner, id);
  }
  async function newPatient(rest: object = {}): Promise<string> {
    const body = { resourceType: 'Patient', name: [{ family: 'Sand' }], birthDate: '1957-03-14', ...rest };
    return String((await service.post('/Patient', body)).json.id);
  }
  const read = (allowed: Allowed, query = '', headers: Record<string, string> = {}) =>
    service.fhir(`/Patient/${allowed.patient}${query}`, { key: allowed.token, headers });
  const grantFor = async (rest: object = {}): Promise<Allowed> =>
    granting.allow(application, await newPatient(rest));

  it('has the pairwise id in place of the real one everywhere, in any letter case, and else what the owner sees', async () => {
    const id = await newPatient();
    const upper = id.toUpperCase();
    const body = {
      resourceType: 'Patient',
      id,
      text: {
        status: 'generated',
        div: `<div xmlns="http://www.w3.org/1999/xhtml"><a href="Patient/${id}">${upper}</a></div>`,
      },
      extension: [{ url: 'https://app.example/weight', valueDecimal: 1.5 }],
      identifier: [{ system: `urn:uuid:${id}`, value: upper }],
      name: [{ family: `Sand-${id}` }],
      link: [{ other: { reference: `Patient/${id}` }, type: 'seealso' }],
      contact: [{ telecom: [{ system: 'url', value: `${service.base}/Patient/${id}` }] }],
    };
    const text = JSON.stringify(body).replace('1.5', '1.50');
    expect((await service.fhir(`/Patient/${id}`, { method: 'PUT', body: text })).status).to.equal(200);
    const allowed = await granting.allow(application, id);
    const [own, seen] = [await service.fhir(`/Patient/${id}`), await read(allowed)];
    expect(seen.status).to.equal(200);
    expect(seen.text.toLowerCase()).not.to.contain(id);
    expect(seen.text).to.equal(
      own.text.replaceAll(id, allowed.patient).replaceAll(upper, allowed.patient.toUpperCase()),
    );
    expect(seen.text).to.contain('1.50').and.to.contain(`"id":"${allowed.patient}"`);
    for (const [name, value] of seen.headers) expect(value.toLowerCase(), name).not.to.contain(id);
    for (const name of ['etag', 'last-modified', 'content-type'])
      expect(seen.headers.get(name), name).to.equal(own.headers.get(name));
  });

  it('answers HEAD, conditions, _summary, _elements, _format and _pretty as for the owner', async () => {
    const allowed = await grantFor({ photo: [{ url: 'https://app.example/p.png' }] });
    const head = await service.fhir(`/Patient/${allowed.patient}`, { key: allowed.token, method: 'HEAD' });
    expect([head.status, head.text, head.version]).to.deep.equal([200, '', 1]);
    for (const [query, headers] of [
      ['', { 'If-None-Match': 'W/"1"' }],
      ['', { 'If-None-Match': 'W/"2"' }],
      ['', { 'If-Modified-Since': new Date(Date.now() + 60_000).toUTCString() }],
      ['?_summary=true', {}],
      ['?_summary=count', {}],
      ['?_elements=name', {}],
      ['?_format=xml', {}],
      ['?_format=json&_pretty=true', {}],
      ['', { Accept: 'text/html' }],
    ] as [string, Record<string, string>][]) {
      const own = await service.fhir(`/Patient/${allowed.record}${query}`, { headers });
      const seen = await read(allowed, query, headers);
      expect([seen.status, seen.text], `${query} ${JSON.stringify(headers)}`).to.deep.equal([
        own.status,
        own.text.replaceAll(allowed.record, allowed.patient),
      ]);
    }
    expect((await read(allowed, '', { 'If-None-Match': 'W/"1"' })).status).to.equal(304);
  });

  it('leaves out references into other records, and keeps those within the record and to the directory', async () => {
    const other = await newPatient();
    const record = await newPatient();
    const related = async (patient: string) =>
      String(
        (
          await service.post('/RelatedPerson', {
            resourceType: 'RelatedPerson',
            patient: { reference: `Patient/${patient}` },
          })
        ).json.id,
      );
    const [near, far] = [await related(record), await related(other)];
    const practitioner = String(
      (await service.post('/Practitioner', { resourceType: 'Practitioner' })).json.id,
    );
    const reference = (text: string, rest: object = {}) => ({
      url: 'https://app.example/of',
      valueReference: { reference: text, ...rest },
    });
    const body = {
      resourceType: 'Patient',
      id: record,
      contained: [
        { resourceType: 'Organization', id: 'o', name: 'Ward' },
        { resourceType: 'RelatedPerson', id: 'r', patient: { reference: '#' } },
      ],
      extension: [
        reference(`Patient/${other}`, { display: 'Twin', identifier: { value: 'T-1' } }),
        reference(`${service.base}/Patient/${other}/_history/1`),
        reference(`RelatedPerson/${far}`),
        reference(`RelatedPerson/${near}`),
        reference('https://elsewhere.example/Patient/7'),
      ],
      generalPractitioner: [{ reference: `Practitioner/${practitioner}` }],
      managingOrganization: { reference: '#o' },
      link: [
        { other: { reference: `Patient/${other}` }, type: 'seealso' },
        { other: { reference: `RelatedPerson/${near}` }, type: 'seealso' },
      ],
    };
    const put = await service.fhir(`/Patient/${record}`, { method: 'PUT', body: JSON.stringify(body) });
    expect(put.status, String(put)).to.equal(200);
    const allowed = await granting.allow(application, record);
    const seen = (await read(allowed)).json;
    const values = objects(seen.extension).map(({ valueReference }) => valueReference);
    expect(values).to.deep.equal([
      { display: 'Twin', identifier: { value: 'T-1' } },
      { type: 'Patient' },
      { type: 'RelatedPerson' },
      { reference: `RelatedPerson/${near}` },
      { reference: 'https://elsewhere.example/Patient/7' },
    ]);
    expect(seen).to.deep.include({
      generalPractitioner: body.generalPractitioner,
      managingOrganization: body.managingOrganization,
      contained: body.contained,
      link: [{ other: { type: 'Patient' }, type: 'seealso' }, body.link[1]],
    });
    const whole = JSON.stringify(seen);
    for (const id of [other, far, record]) expect(whole).not.to.contain(id);
  });

  it('is open to every grant, whatever its scopes', async () => {
    const record = await newPatient();
    const narrow = await granting.allow(application, record, { scopes: ['patient/Observation.rs'] });
    expect((await read(narrow)).status).to.equal(200);
    const plain = await granting.tokenOf(narrow, ['openid']);
    expect((await read({ ...narrow, token: plain })).status).to.equal(200);
  });

  it('is at one path only', async () => {
    const allowed = await grantFor();
    const { patient } = allowed;
    const { port } = new URL(service.url);
    const status = (path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { Authorization: `Bearer ${allowed.token}` };
        // A URL isn't used here, because it would be normalised.
        httpRequest({ host: '127.0.0.1', port, path, headers }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        })
          .on('error', reject)
          .end();
      });
    expect(await status(`/fhir/R4/Patient/${patient}`)).to.equal(200);
    for (const [path, expected] of [
      [`/fhir/R4/Patient/${patient}/../../Observation`, 404],
      [`/fhir/R4/Patient/${patient}/_history`, 200],
      [`/fhir/R4/Patient/${patient}/_history/1`, 200],
      [`/fhir/R4/Patient/${patient}/Observation`, 200],
      [`/fhir/R4/Patient/${patient}/*`, 200],
      [`/fhir/R4/Patient/${patient}/$everything`, 200],
      [`/fhir/R4/Patient/${patient}%2F$everything`, 404],
      [`/fhir/R4/Patient/${patient}%2F_history`, 404],
      [`/fhir/R4/Patient/${patient};v=1`, 404],
      [`/fhir/R4/Patient/${patient}%00`, 404],
      [`/fhir/R4/patient/${patient}`, 404],
      [`/fhir/R4//Patient/${patient}`, 404],
      [`/fhir/r4/Patient/${patient}`, 404],
      [`//fhir/R4/Patient/${patient}`, 404],
      [`/fhir/R4/Observation/${patient}`, 404],
      [`/fhir/R4/Patient/${patient}?_id=${allowed.record}`, 200],
    ] as const)
      expect(await status(path), path).to.equal(expected);
  });

  it('is unknown under the real id and any other id, written in whatever way', async () => {
    const allowed = await grantFor();
    const stranger = await grantFor();
    const unknown = '01890000-0000-7000-8000-000000000000';
    const refusal = async (id: string) => {
      const { status, text } = await service.fhir(`/Patient/${id}`, { key: allowed.token });
      return [status, text.replaceAll(decodeURIComponent(id), 'ID')];
    };
    const known = await refusal(unknown);
    expect(known[0]).to.equal(404);
    for (const id of [
      allowed.record,
      allowed.record.toUpperCase(),
      encodeURIComponent(allowed.record).replaceAll('-', '%2D'),
      allowed.patient.toUpperCase(),
      stranger.patient,
      stranger.record,
    ])
      expect(await refusal(id), id).to.deep.equal(known);
  });

  it('is gone while it is deleted, without the real id', async () => {
    const allowed = await grantFor();
    await service.fhir(`/Patient/${allowed.record}`, { method: 'DELETE' });
    const gone = await read(allowed);
    expect([gone.status, gone.version]).to.deep.equal([410, 2]);
    expect(gone.text).to.contain(`Patient/${allowed.patient}`).and.not.to.contain(allowed.record);
    expect((await service.fhir(`/Patient/${allowed.record}`, { key: allowed.token })).status).to.equal(404);
  });

  it('is read large and small, from whichever project owns the record', async () => {
    const owned = await service.newProject();
    const note = 'x'.repeat(40_000);
    const body = JSON.stringify({ resourceType: 'Patient', name: [{ text: note }] });
    const made = await service.fhir('/Patient', { method: 'POST', body, key: owned });
    const allowed = await granting.allow(application, String(made.json.id));
    const seen = await read(allowed);
    expect([seen.status, seen.text.length]).to.deep.equal([200, made.text.length]);
    expect((await service.fhir(`/Patient/${made.json.id}`)).status).to.equal(404);
  });

  it('is noted for the application’s project: without the real id, and found by the record’s purge', async () => {
    const allowed = await grantFor();
    const answer = await read(allowed);
    const id = answer.headers.get('service-request-id');
    const row = async () =>
      (await service.pool.query('select * from operations.request_log where request_id = $1', [id])).rows[0];
    await eventually(async () => (await row()) !== undefined);
    expect(await row()).to.include({
      project: application.project,
      environment: 'sandbox',
      application_id: application.applicationId,
      key_id: null,
      identity: null,
      path: `/fhir/R4/Patient/${allowed.patient}`,
      named: allowed.record,
    });
    const { data } = await owner.done(
      'GET',
      `/projects/${application.project}/logs?application=${application.applicationId}&request_id=${id}`,
    );
    expect(data).to.have.length(1);
    expect(JSON.stringify(data)).not.to.contain(allowed.record);
    expect(data[0]).to.include({ application_id: application.applicationId });
  });

  describe('on two instances', () => {
    /** Reads on both instances at the same time, using a connection to each that stays open. */
    async function statuses({ patient, token }: Allowed): Promise<(number | undefined)[]> {
      return Promise.all(
        [service.url, second.url].map(
          (url) =>
            new Promise<number | undefined>((resolve, reject) => {
              const headers = { Authorization: `Bearer ${token}` };
              httpRequest(`${url}/fhir/R4/Patient/${patient}`, { headers }, (response) => {
                response.resume().on('end', () => resolve(response.statusCode));
              })
                .on('error', reject)
                .end();
            }),
        ),
      );
    }
    async function endsWith(allowed: Allowed, end: () => Promise<unknown>): Promise<void> {
      expect(await statuses(allowed)).to.deep.equal([200, 200]);
      await end();
      expect(await statuses(allowed)).to.deep.equal([401, 401]);
      const refused = await service.fhir('/Observation', { key: allowed.token });
      expect(refused.headers.get('www-authenticate')).to.contain('invalid_token');
    }

    it('ends with the grant', async () => {
      const allowed = await grantFor();
      await endsWith(allowed, () => granting.revoke(allowed));
    });

    it('ends with the application', async () => {
      const one = await newApplication();
      const allowed = await granting.allow(one, await newPatient());
      const client = await granting.clientToken(one);
      expect((await service.fhir('/Patient', { key: client })).status).to.equal(200);
      await endsWith(allowed, () => owner.done('DELETE', `/applications/${one.applicationId}`));
      expect((await service.fhir('/Patient', { key: client })).status).to.equal(401);
    });

    it('ends with the application’s project', async () => {
      const one = await newApplication();
      const allowed = await granting.allow(one, await newPatient());
      const client = await granting.clientToken(one);
      await endsWith(allowed, () => owner.done('DELETE', `/projects/${one.project}`));
      expect((await service.fhir('/Patient', { key: client })).status).to.equal(401);
    });

    it('ends with the project of the record', async () => {
      const { id: project } = await owner.done('POST', `/organizations/${organization}/projects`, {
        name: 'R',
      });
      const { key } = await owner.done('POST', `/projects/${project}/keys`, {
        name: 'k',
        environment: 'sandbox',
      });
      const body = JSON.stringify({ resourceType: 'Patient' });
      const made = await service.fhir('/Patient', { method: 'POST', body, key });
      const allowed = await granting.allow(application, String(made.json.id));
      await endsWith(allowed, () => owner.done('DELETE', `/projects/${project}`));
    });

    it('ends when the grant expires, to the second of the database', async () => {
      const allowed = await granting.allow(application, await newPatient(), { seconds: 3 });
      await eventually(async () => {
        const both = await statuses(allowed);
        return both.every((status) => status === 401);
      });
      const { rows } = await service.pool.query<{ over: boolean }>(
        'select expires_at <= (extract(epoch from now()) * 1000000)::int8 as over from consents.grants where grant_id = $1',
        [allowed.data.grant_id],
      );
      expect(rows[0]?.over).to.equal(true);
    });

    it('ends with the purge of the record', async () => {
      const allowed = await grantFor();
      await endsWith(allowed, async () => {
        const purge = `/Patient/${allowed.record}?_purge=true`;
        await eventually(async () => (await service.fhir(purge, { method: 'DELETE' })).status === 204);
      });
    });
  });
});
