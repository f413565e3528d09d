/** `_asOf` and `as_of`: where they work, what they refuse, and who sees what (docs/as-of.md). */
import { expect } from 'chai';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { signIn } from '#test/support/admin.ts';
import { moment } from '#test/support/as-of.ts';
import { type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const UNKNOWN = '01890000-0000-7000-8000-000000000000';

describe('as of a moment', () => {
  let service: InProcess;
  let granting: Granting;
  let application: Application;
  /** Times at which the record didn't exist yet, the Observation had version 1, and the Observation had version 2. */
  let times: [string, string, string];
  let patient: string;
  let observation: string;

  const observed = (value: number, category: string, rest: object = {}) => ({
    resourceType: 'Observation',
    status: 'final',
    category: [
      {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: category }],
      },
    ],
    code: { coding: [{ system: 'http://loinc.org', code: '4548-4' }] },
    subject: { reference: `Patient/${patient}` },
    effectiveDateTime: '2026-03-01T08:00:00Z',
    valueQuantity: { value, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
    ...rest,
  });
  const created = async (body: Readonly<Record<string, unknown>>): Promise<string> =>
    String((await service.post(`/${String(body.resourceType)}`, body)).json.id);
  const replaced = async (id: string, body: object): Promise<void> => {
    const answer = await service.fhir(`/Observation/${id}`, {
      method: 'PUT',
      body: JSON.stringify({ ...body, id }),
    });
    expect(answer.status, answer.text).to.equal(200);
  };
  const asOf = (path: string, at: string, key = service.key) =>
    service.fhir(`${path}${path.includes('?') ? '&' : '?'}_asOf=${encodeURIComponent(at)}`, { key });

  before(async () => {
    service = await startInProcess({}, { ACCESS_LOG: 'all' });
    granting = await Granting.open(service);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    application = await granting.register(owner, id);
    const first = moment();
    patient = await created({ resourceType: 'Patient', name: [{ family: 'Sand' }] });
    observation = await created(observed(5.1, 'laboratory'));
    const second = moment();
    await replaced(observation, observed(6.2, 'laboratory'));
    times = [first, second, moment()];
    await replaced(observation, observed(7.3, 'laboratory'));
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  it('reads the version of then, with its headers', async () => {
    for (const [n, value] of [5.1, 6.2].entries()) {
      const answer = await asOf(`/Observation/${observation}`, times[n + 1] ?? '');
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.version).to.equal(n + 1);
      expect(answer.text).to.include(`"value":${value}`);
    }
    const known = await service.fhir(`/Observation/${observation}?_asOf=${times[1]}`, {
      headers: { 'If-None-Match': 'W/"1"' },
    });
    expect(known.status).to.equal(304);
  });

  it('takes an instant with any offset, and the moment at which a version was stored', async () => {
    const plus = new Date(Date.parse(times[1]) + 3_600_000).toISOString().replace('Z', '+01:00');
    const early = await asOf(`/Observation/${observation}`, plus);
    expect(early.status, early.text).to.equal(200);
    const { json } = await asOf(`/Observation/${observation}`, times[2]);
    const { lastUpdated } = json.meta as { lastUpdated: string };
    expect((await asOf(`/Observation/${observation}`, lastUpdated)).version).to.equal(2);
  });

  it('answers 404 for what did not exist yet, as for what never did', async () => {
    for (const path of [
      `/Patient/${patient}`,
      `/Observation/${observation}`,
      `/Observation/${observation}/_history`,
      `/Patient/${patient}/$everything`,
      `/Patient/${patient}/$summary`,
    ])
      for (const [which, at, key] of [
        [path, times[0], service.key],
        [path.replace(patient, UNKNOWN).replace(observation, UNKNOWN), times[2], service.key],
        [path, times[2], await service.newProject()],
      ] as const) {
        const answer = await asOf(which, at, key);
        expect(answer.status, `${which} ${at}: ${answer.text}`).to.equal(404);
        expect(answer.text.replaceAll(/[0-9a-f-]{36}/g, '…')).to.equal(
          (await service.fhir(path, { key: await service.newProject() })).text.replaceAll(
            /[0-9a-f-]{36}/g,
            '…',
          ),
        );
      }
  });

  it('refuses a moment that has not come, and a malformed one, naming the parameter', async () => {
    const future = toInstant(nowMicros() + 60_000_000);
    for (const path of [
      `/Patient/${patient}`,
      `/Observation/${observation}/_history`,
      `/Patient/${patient}/$everything`,
      `/Patient/${patient}/$summary`,
    ])
      for (const text of [
        future,
        '',
        '2026',
        '2026-03-01',
        '2026-03-01T08:00Z',
        '2026-03-01T08:00:00',
        '2026-02-30T08:00:00Z',
        'now',
        `${times[1]}&_asOf=${times[1]}`,
      ]) {
        const answer = await service.fhir(`${path}?_asOf=${text}`);
        expect(answer.status, `${path} ${text}: ${answer.text}`).to.equal(400);
        expect(answer.text).to.include('_asOf').and.include('"location":["http._asOf"]');
      }
  });

  it('is refused where it does not work, with the places where it does', async () => {
    for (const [method, path, body] of [
      ['GET', '/Observation/_history'],
      ['GET', '/_history'],
      ['GET', '/Observation'],
      ['GET', `/Patient/${patient}/*`],
      ['GET', `/Encounter/${patient}/Observation`],
      ['GET', '/Observation?patient.name=x'],
      ['GET', `/Observation/${observation}/_history/1`],
      ['GET', '/Observation/$validate'],
      ['GET', '/ValueSet/administrative-gender/$expand'],
      ['GET', '/CodeSystem/administrative-gender'],
      ['PUT', `/Patient/${patient}`, { resourceType: 'Patient', id: patient }],
      ['POST', '/Patient', { resourceType: 'Patient' }],
      ['DELETE', `/Patient/${patient}`],
    ] as const) {
      const answer = await service.fhir(`${path}${path.includes('?') ? '&' : '?'}_asOf=${times[1]}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (answer.status === 405) continue;
      expect(answer.status, `${method} ${path}: ${answer.text}`).to.equal(400);
      expect(answer.text, path).to.include('Patient/<id>/$everything');
    }
    expect((await service.fhir(`/Patient/${patient}`)).version).to.equal(1);
  });

  it('is taken from Parameters and by entries of a Bundle', async () => {
    const parameters = (at: string) => ({
      resourceType: 'Parameters',
      parameter: [{ name: '_asOf', valueInstant: at }],
    });
    const path = `/Patient/${patient}/$everything`;
    const posted = await service.post(path, parameters(times[1]));
    expect(posted.text).to.include('"value":5.1').and.not.include('"value":7.3');
    const future = await service.fhir(path, {
      method: 'POST',
      body: JSON.stringify(parameters(toInstant(nowMicros() + 60_000_000))),
    });
    expect([future.status, future.text.includes('Parameters.parameter[0].value')]).to.deep.equal([400, true]);
    const bundle = await service.post('/', {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [`Observation/${observation}`, `Observation/${observation}/_history/1`].map((url) => ({
        request: { method: 'GET', url: `${url}?_asOf=${times[1]}` },
      })),
    });
    const statuses = (bundle.json.entry as { response: { status: string } }[]).map((e) => e.response.status);
    expect(statuses).to.deep.equal(['200 OK', '400 Bad Request']);
    expect(bundle.text).to.include('"value":5.1');
  });

  it('keeps the moment in the links to further pages', async () => {
    const first = await asOf(`/Observation/${observation}/_history?_count=1`, times[2]);
    const next = (first.json.link as { relation: string; url: string }[]).find((l) => l.relation === 'next');
    expect(next?.url).to.include('_asOf=');
    const second = await service.fhir(next?.url ?? '');
    expect(second.text).to.include('"value":5.1');
    const page = await asOf(`/Patient/${patient}/$everything?_count=1`, times[1]);
    const further = (page.json.link as { relation: string; url: string }[]).find(
      (l) => l.relation === 'next',
    );
    expect((await service.fhir(further?.url ?? '')).text).to.include('"value":5.1');
  });

  it('gives one summary for one moment', async () => {
    const path = `/Patient/${patient}/$summary`;
    const [one, other] = [await asOf(path, times[1]), await asOf(path, times[1])];
    expect(one.status, one.text).to.equal(200);
    expect(one.text).to.equal(other.text).and.include('5.1');
    expect(one.json.timestamp).to.equal(times[1]);
    expect((await asOf(path, times[2])).json.id).to.not.equal(one.json.id);
  });

  it('shows under a grant what it covers now and covered then', async () => {
    const moved = await created(observed(1, 'laboratory'));
    const then = moment();
    await replaced(moved, observed(2, 'vital-signs'));
    const between = moment();
    const back = await created(observed(3, 'vital-signs'));
    const later = moment();
    await replaced(back, observed(4, 'laboratory'));
    const { token, patient: known } = await granting.allow(application, patient, {
      scopes: ['patient/Observation.rs?category=laboratory', 'patient/Patient.rs'],
    });
    for (const [id, at, status] of [
      [moved, then, 404],
      [moved, between, 404],
      [back, later, 404],
      [observation, then, 200],
    ] as const) {
      const answer = await asOf(`/Observation/${id}`, at, token);
      expect(answer.status, `${id} ${at}`).to.equal(status);
      const history = await asOf(`/Observation/${id}/_history`, at, token);
      expect(history.status, `${id} ${at}`).to.equal(status);
      const { text } = await asOf(`/Patient/${known}/$everything`, at, token);
      expect(text.includes(id), `${id} ${at} ${text}`).to.equal(status === 200);
    }
    const own = await asOf(`/Observation/${moved}`, then);
    expect(own.status).to.equal(200);
    expect((await asOf(`/Patient/${patient}`, then, token)).status).to.equal(404);
  });

  it('reads items, lists and what is made of a record on REST v1', async () => {
    const value = async (path: string, at: string) => {
      const answer = await v1(path, at);
      expect(answer.status, `${path}: ${answer.text}`).to.equal(200);
      return answer.text;
    };
    const paths = [
      `/observations/${observation}`,
      `/patients/${patient}/observations`,
      `/patients/${patient}/timeline`,
      `/patients/${patient}/series?code=4548-4`,
    ];
    for (const path of paths) {
      expect(await value(path, times[1]), path)
        .to.match(/5\.1\b/)
        .and.not.match(/7\.3\b/);
      expect(await value(path, times[2]), path).to.match(/6\.2\b/);
      for (const [at, key, status] of [
        [times[0], service.key, 404],
        [times[1], await service.newProject(), 404],
        [toInstant(nowMicros() + 60_000_000), service.key, 422],
        ['', service.key, 422],
        ['2026', service.key, 422],
        ['2026-03-01T08:00:00', service.key, 422],
      ] as const) {
        const answer = await v1(path, at, key);
        expect(answer.status, `${path} ${at}: ${answer.text}`).to.equal(status);
        if (status === 422) expect(answer.text).to.include('"field":"query.as_of"');
      }
    }
    expect(await value(`/patients/${patient}`, times[1])).to.include('Sand');
    const alias = await service.fhir(`${service.url}/v1${paths[3]}&at=${times[1]}`);
    expect(alias.text).to.equal(await value(paths[3] ?? '', times[1]));
    expect((await v1(`${paths[3]}&at=${times[2]}`, times[1])).text).to.include('"field":"query.at"');
    const context = (as_of?: string) =>
      service.fhir(`${service.url}/v1/context`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ patient, needs: ['labs:4548-4'], as_of }),
      });
    expect((await context(times[1])).text).to.include('5.1');
    expect((await context(times[0])).status).to.equal(404);
    expect((await context(toInstant(nowMicros() + 60_000_000))).text).to.include('"field":"as_of"');
  });

  it('names on REST v1 where as_of works, and keeps cursors to their moment', async () => {
    for (const path of ['/patients', `/patients/${patient}/patterns`, `/patients/${patient}/links`]) {
      const answer = await v1(path, times[1]);
      expect([answer.status, answer.text.includes('by its id')], answer.text).to.deep.equal([422, true]);
    }
    const list = `/patients/${patient}/observations?limit=1`;
    const then = moment();
    await created(observed(8, 'laboratory'));
    const page = await v1(list, moment());
    expect(page.json.next_cursor).to.be.a('string');
    const further = `${list}&cursor=${String(page.json.next_cursor)}`;
    expect((await v1(further, then)).status).to.equal(422);
    expect((await service.fhir(`${service.url}/v1${further}`)).status).to.equal(422);
  });

  it('is in the access log like other reads', async () => {
    const before = await logged();
    await asOf(`/Observation/${observation}`, times[1]);
    await asOf(`/Patient/${patient}/$everything`, times[1]);
    expect((await logged()) - before).to.equal(2);
  });

  it('has no past of a purged record', async () => {
    const id = await created({ resourceType: 'Patient', name: [{ family: 'Gone' }] });
    const at = moment();
    expect((await asOf(`/Patient/${id}`, at)).status).to.equal(200);
    await service.fhir(`/Patient/${id}?_purge=true`, { method: 'DELETE' });
    for (const path of ['', '/_history', '/$everything', '/$summary'])
      expect((await asOf(`/Patient/${id}${path}`, at)).status, path).to.equal(404);
  });

  function v1(path: string, at: string, key = service.key) {
    const url = `${service.url}/v1${path}${path.includes('?') ? '&' : '?'}as_of=${encodeURIComponent(at)}`;
    return service.fhir(url, { key });
  }

  async function logged(): Promise<number> {
    const { rows } = await service.pool.query<{ count: number }>(
      'select count(*)::int as count from operations.access_entry where record = $1',
      [patient],
    );
    return rows[0]?.count ?? 0;
  }
});
