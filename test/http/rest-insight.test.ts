/** Series, patterns and comparisons in REST v1 (docs/spec/decisions.md, section 4 "Series", "Patterns"). */
import { expect } from 'chai';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { signIn } from '#test/support/admin.ts';
import { Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { dataOf, restOf } from '#test/support/rest.ts';

const DAY = 86_400_000;

describe('series and patterns of REST v1', () => {
  let service: InProcess;
  let granting: Granting;
  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  const { v1, get, made } = restOf(() => service);
  const person = async () => String((await made('/patients', { family: 'Reihe' })).id);
  const glucose = (effective_at: string, value: number, rest: object = {}) => ({
    ...{ code: '2345-7', category: 'laboratory', value, unit: 'mg/dL', effective_at },
    ...rest,
  });
  const record = (patient: string, body: object) => made(`/patients/${patient}/observations`, body);
  const one = (answer: { readonly status: number; readonly text: string; readonly json: JsonObject }) => {
    expect(answer.status, answer.text).to.equal(200);
    const { data } = answer.json;
    const [first] = Array.isArray(data) ? data.filter(isObject) : [];
    if (first === undefined) throw new Error(`no series in ${answer.text}`);
    return first;
  };
  const values = ({ points }: JsonObject) =>
    Array.isArray(points) ? points.filter(isObject).map(({ value }) => value) : [];
  const points = ({ points: all }: JsonObject) => (Array.isArray(all) ? all.filter(isObject) : []);
  /** Records many values in one transaction. */
  const many = async (patient: string, all: readonly { day: number; value: number; code?: string }[]) => {
    const entry = all.map(({ day, value, code = '4548-4' }) => ({
      resource: {
        resourceType: 'Observation',
        status: 'final',
        code: { coding: [{ system: 'http://loinc.org', code }] },
        subject: { reference: `Patient/${patient}` },
        effectiveDateTime: new Date(Date.UTC(2024, 0, 1, 8) + Math.round(day * DAY)).toISOString(),
        valueQuantity: { value, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
      },
      request: { method: 'POST', url: 'Observation' },
    }));
    return service.post('', { resourceType: 'Bundle', type: 'transaction', entry });
  };
  /** Returns a small variation, which is the same every time. */
  const waver = (n: number) => {
    const turned = Math.sin(n * 12.9898) * 43_758.5453;
    return Math.round(200 * (turned - Math.floor(turned) - 0.5)) / 1000;
  };

  it('shows values in one unit, with exact versions, ranges and statistics', async () => {
    const patient = await person();
    const first = await record(
      patient,
      glucose('2026-03-01T08:00:00+01:00', 90, { reference_range: { low: 70, high: 99 } }),
    );
    await record(patient, glucose('2026-03-03T08:00:00+01:00', 108));
    await record(patient, glucose('2026-03-02T08:00:00+01:00', 5.5, { unit: 'mmol/L' }));
    await record(patient, glucose('2026-03-04T08:00:00+01:00', 4, { unit: 'U/L' }));
    const series = one(await get(`/patients/${patient}/series?code=2345-7`));
    expect(series).to.include({
      code: '2345-7',
      system: 'http://loinc.org',
      display: 'Glucose [Mass/volume] in Serum or Plasma',
      unit: 'mg/dL',
    });
    expect(values(series)).to.deep.equal([90, 99.0858, 108]);
    expect(points(series)[0]).to.deep.equal({
      at: '2026-03-01T08:00:00+01:00',
      value: 90,
      comparator: null,
      n: 1,
      fhir: `Observation/${String(first.id)}/_history/1`,
      reference_range: { low: 70, high: 99 },
    });
    expect(series.stats).to.deep.equal({ count: 3, min: 90, max: 108, mean: 99.0286, slope: 9 });
    expect(series.warnings).to.deep.equal([
      { kind: 'unit', text: "left out: U/L can't be converted to mg/dL", count: 1 },
    ]);
    const short = await get(`/series?patient=${patient}&code=2345-7`);
    expect(one(short)).to.deep.equal(series);
    // The newest name for the code in the record takes precedence over the terminology's name.
    await record(patient, glucose('2026-03-06T08:00:00Z', 91, { display: 'Sugar, fasting' }));
    await record(patient, glucose('2026-03-05T08:00:00Z', 92, { display: 'Sugar' }));
    await record(patient, glucose('2026-03-07T08:00:00Z', 93));
    expect(one(await get(`/patients/${patient}/series?code=2345-7`)).display).to.equal('Sugar, fasting');
  });

  it('shows the digits of values and ranges as they were written, unless they were converted', async () => {
    const patient = await person();
    const write = async (day: number, value: string, unit: string): Promise<void> => {
      const body = `{"resourceType":"Observation","status":"final","subject":{"reference":"Patient/${patient}"},
        "effectiveDateTime":"2026-03-0${day}","code":{"coding":[{"system":"http://loinc.org","code":"718-7"}]},
        "valueQuantity":{${value},"unit":"${unit}","system":"http://unitsofmeasure.org","code":"${unit}"},
        "referenceRange":[{"low":{"value":7.0,"unit":"${unit}"}}]}`;
      expect((await service.fhir('/Observation', { method: 'POST', body })).status).to.equal(201);
    };
    await write(1, '"value":5.0', 'g/dL');
    await write(2, '"value":6.50,"comparator":"<"', 'g/dL');
    await write(3, '"value":70.0', 'g/L');
    await write(4, '"value":7.5', 'g/dL');
    const { text } = await get(`/patients/${patient}/series?code=718-7`);
    const shown = [...text.matchAll(/"value":([^,]+),.*?"low":([^,]+),/g)].map((found) => found.slice(1));
    expect(shown).to.deep.equal([
      ['5.0', '7.0'],
      ['6.50', '7.0'],
      ['7', '0.7'],
      ['7.5', '7.0'],
    ]);
  });

  it('counts values on the days that they are written for, in ranges, buckets, lists and the timeline', async () => {
    const patient = await person();
    const written = ['2026-05-01T00:30:00+02:00', '2026-04-30T23:30:00-11:00', '2026-05-02T01:00:00+14:00'];
    for (const [n, at] of written.entries()) await record(patient, glucose(at, 90 + n));
    // A value dated by month counts for every day of that month.
    for (const [month, value] of [
      ['2026-04', 80],
      ['2026', 70],
    ] as const)
      await service.post('/Observation', {
        ...{ resourceType: 'Observation', status: 'final', effectiveDateTime: month },
        code: { coding: [{ system: 'http://loinc.org', code: '2345-7' }] },
        subject: { reference: `Patient/${patient}` },
        valueQuantity: { value, unit: 'mg/dL', system: 'http://unitsofmeasure.org', code: 'mg/dL' },
      });
    const on = async (range: string) => {
      const series = one(await get(`/patients/${patient}/series?code=2345-7&${range}`));
      const listed = dataOf(await get(`/patients/${patient}/observations?${range}`)).map(
        (each) => each.value,
      );
      const entries = dataOf(await get(`/patients/${patient}/timeline?${range}`));
      expect(listed.toReversed()).to.deep.equal(values(series));
      expect(entries).to.have.length(listed.length);
      return listed.toReversed();
    };
    expect(await on('from=2026-05-01&to=2026-05-01')).to.deep.equal([70, 90]);
    expect(await on('from=2026-04-30&to=2026-04-30')).to.deep.equal([70, 80, 91]);
    // In chronological order, which isn't the order of the days as written.
    expect(await on('from=2026-05-01')).to.deep.equal([70, 90, 92]);
    expect(await on('to=2026-03-31')).to.deep.equal([70]);
    expect(await on('from=2026-05-03&to=2026-12-31')).to.deep.equal([70]);
    const buckets = one(await get(`/patients/${patient}/series?code=2345-7&bucket=day&from=2026-04-30`));
    expect(points(buckets).map(({ at, n }) => [at, n])).to.deep.equal([
      ...[
        ['2026-04-30', 1],
        ['2026-05-01', 1],
        ['2026-05-02', 1],
      ],
    ]);
    const day = (date: string) => ({ from: date, to: date });
    const compared = await v1('POST', `/patients/${patient}/patterns/compare`, {
      code: '2345-7',
      a: day('2026-05-01'),
      b: day('2026-05-02'),
    });
    // The value dated by year might belong to neither day, so it isn't counted.
    expect([compared.json.a, compared.json.b].map((each) => (each as JsonObject).count)).to.deep.equal([
      1, 1,
    ]);
  });

  it('shows groups of equivalent codes, components, and several series in one answer', async () => {
    const patient = await person();
    await record(patient, glucose('2026-03-01T08:00:00Z', 90));
    await record(patient, glucose('2026-03-02T08:00:00Z', 95, { code: '2339-0' }));
    await record(patient, {
      ...{ code: '85354-9', category: 'vital-signs', effective_at: '2026-03-01T08:00:00Z' },
      components: [
        { code: '8480-6', value: 131, unit: 'mm[Hg]' },
        { code: '8462-4', value: 82, unit: 'mm[Hg]' },
      ],
    });
    const answer = await get(`/patients/${patient}/series?code=2345-7~2339-0,8480-6,8462-4,718-7`);
    expect(dataOf(answer).map((each) => [each.code, each.unit, ...values(each)])).to.deep.equal([
      ['2345-7', 'mg/dL', 90, 95],
      ['8480-6', 'mm[Hg]', 131],
      ['8462-4', 'mm[Hg]', 82],
      ['718-7', null],
    ]);
    expect([answer.json.total, answer.json.next_cursor]).to.deep.equal([4, null]);
    // Page by page; `limit` counts series.
    const path = `/patients/${patient}/series?code=2345-7~2339-0,8480-6,8462-4,718-7`;
    const first = await get(`${path}&limit=3`);
    const cursor = String(first.json.next_cursor);
    const second = await get(`${path}&limit=3&cursor=${cursor}`);
    expect([first, second].flatMap(dataOf)).to.deep.equal(dataOf(answer));
    expect([first.json.total, second.json.total, second.json.next_cursor]).to.deep.equal([4, 4, null]);
    for (const other of [
      `${path}&bucket=day`,
      `${path},4548-4`,
      `/patients/${await person()}/series?code=1-8`,
    ])
      expect((await get(`${other}&cursor=${cursor}`)).status, other).to.equal(422);
    expect((await get(`${path}&limit=0`)).status).to.equal(422);
  });

  it('counts days, weeks and months in the offsets of the values', async () => {
    const patient = await person();
    // The evening of 31 January in Berlin, and half past midnight on 1 February there, when it is still January in UTC.
    await record(patient, glucose('2026-01-31T23:30:00+01:00', 80));
    await record(patient, glucose('2026-02-01T00:30:00+01:00', 100));
    await record(patient, glucose('2026-02-01T09:00:00+01:00', 110));
    const bucket = async (name: string) =>
      points(one(await get(`/patients/${patient}/series?code=2345-7&bucket=${name}`))).map(
        ({ at, value, n, versions }) => [at, value, n, Array.isArray(versions) ? versions.length : 0],
      );
    expect(await bucket('day')).to.deep.equal([
      ['2026-01-31', 80, 1, 1],
      ['2026-02-01', 105, 2, 2],
    ]);
    expect(await bucket('week')).to.deep.equal([['2026-01-26', 100, 3, 3]]);
    expect(await bucket('month')).to.deep.equal([
      ['2026-01-01', 80, 1, 1],
      ['2026-02-01', 105, 2, 2],
    ]);
  });

  it('puts no value on a day that its date does not name, and says how many are only limits', async () => {
    const patient = await person();
    await record(patient, glucose('2026-03-10T08:00:00Z', 90));
    const written = await service.post('/Observation', {
      ...{ resourceType: 'Observation', status: 'final', effectiveDateTime: '2026-03' },
      subject: { reference: `Patient/${patient}` },
      code: { coding: [{ system: 'http://loinc.org', code: '2345-7' }] },
      valueQuantity: {
        ...{ value: 200, comparator: '>', unit: 'mg/dL' },
        ...{ system: 'http://unitsofmeasure.org', code: 'mg/dL' },
      },
    });
    expect(written.status, written.text).to.equal(201);
    const limits = { kind: 'bound', text: 'only known to be below or above the value shown', count: 1 };
    const bucket = async (name: string) => {
      const found = one(await get(`/patients/${patient}/series?code=2345-7&bucket=${name}`));
      return [points(found).map(({ at, n }) => [at, n]), found.warnings];
    };
    for (const name of ['day', 'week']) {
      const text = `left out of the points: the date doesn't name the ${name}`;
      const at = name === 'day' ? '2026-03-10' : '2026-03-09';
      expect(await bucket(name)).to.deep.equal([[[at, 1]], [limits, { kind: 'left_out', text, count: 1 }]]);
    }
    expect(await bucket('month')).to.deep.equal([[['2026-03-01', 2]], [limits]]);
    expect((await get(`/patients/${patient}/patterns`)).json.warnings).to.deep.equal([limits]);
  });

  it('leaves out and counts what was entered in error, is modified, was cancelled, or was written by an AI', async () => {
    const patient = await person();
    await record(patient, glucose('2026-03-01T08:00:00Z', 90));
    await record(patient, glucose('2026-03-02T08:00:00Z', 300, { author_type: 'ai' }));
    const wrong = await record(patient, glucose('2026-03-03T08:00:00Z', 900));
    const modified = await record(patient, glucose('2026-03-04T08:00:00Z', 500));
    const change = async (id: unknown, rest: object, headers: Readonly<Record<string, string>> = {}) => {
      const { json } = await service.fhir(`/Observation/${String(id)}`);
      const answer = await service.fhir(`/Observation/${String(id)}`, {
        method: 'PUT',
        body: JSON.stringify({ ...json, ...rest }),
        headers: { 'Content-Type': 'application/fhir+json', ...headers },
      });
      expect(answer.status, answer.text).to.equal(200);
    };
    const before = String((await service.fhir(`/Observation/${String(modified.id)}`)).json.id);
    const cancelled = await record(patient, glucose('2026-03-05T08:00:00Z', 110));
    await change(cancelled.id, { status: 'cancelled' });
    const then = new Date(Date.now() + 1).toISOString();
    await change(wrong.id, { status: 'entered-in-error' });
    await change(modified.id, {
      modifierExtension: [{ url: 'https://app.example/not', valueBoolean: true }],
    });
    expect(before).to.equal(modified.id);
    // An AI's claim that a value is wrong isn't taken as proven.
    const doubted = await record(patient, glucose('2026-03-06T08:00:00Z', 95));
    await change(doubted.id, { status: 'entered-in-error' }, { 'X-Service-Author-Type': 'ai' });
    const series = one(await get(`/patients/${patient}/series?code=2345-7`));
    expect(values(series)).to.deep.equal([90]);
    expect(series.warnings).to.deep.equal([
      { kind: 'left_out', text: 'left out: entered in error', count: 1 },
      { kind: 'left_out', text: 'left out: refuted, or with an unknown modifier extension', count: 1 },
      { kind: 'left_out', text: 'left out: cancelled, or not measured yet', count: 1 },
      { kind: 'left_out', text: 'left out: written by an AI', count: 2 },
    ]);
    // As it was before.
    const earlier = one(await get(`/patients/${patient}/series?code=2345-7&at=${then}`));
    expect(values(earlier)).to.deep.equal([90, 900, 500]);
    const past = await get(`/patients/${patient}/series?code=2345-7&at=2020-01-01T00:00:00Z`);
    expect(past.status, 'before the patient existed').to.equal(404);
  });

  it('refuses what it does not understand', async () => {
    const patient = await person();
    const fields = async (path: string) => {
      const { status, json } = await get(path);
      const { error } = json as { error?: { errors?: { field: string }[] } };
      return [status, ...(error?.errors ?? []).map(({ field }) => field)];
    };
    expect(await fields(`/patients/${patient}/series`)).to.deep.equal([422, 'query.code']);
    expect(await fields(`/patients/${patient}/series?code=2345-7&bucket=year`)).to.deep.equal([
      422,
      'query.bucket',
    ]);
    expect((await get(`/patients/${patient}/series?code=,`)).status).to.equal(422);
    expect((await get('/patients/nobody/series?code=2345-7')).status).to.equal(404);
    expect((await get('/series?patient=nobody&code=2345-7')).status).to.equal(404);
    const other = await service.newProject();
    expect(
      (await v1('GET', `/patients/${patient}/series?code=2345-7`, undefined, {}, other)).status,
    ).to.equal(404);
  });

  it('finds a trend, shows its evidence by version, and forgets it when the values say otherwise', async () => {
    const patient = await person();
    await many(
      patient,
      Array.from({ length: 24 }, (_, n) => ({ day: n * 30, value: 9 - n * 0.1 + waver(n) })),
    );
    const listed = await get(`/patients/${patient}/patterns`);
    const [trend, ...others] = dataOf(listed);
    expect(others, listed.text).to.deep.equal([]);
    expect(trend).to.include({ kind: 'trend', direction: 'down' });
    expect(String(trend?.title)).to.match(
      /^Hemoglobin A1c\/Hemoglobin\.total in Blood fell by about 2\.\d+ % from 2024-01-01 to 2025-11-21$/,
    );
    expect(trend?.effect).to.include({ unit: '%' });
    const id = String(trend?.finding_id);
    expect((await get(`/patients/${patient}/patterns/${id}`)).json).to.deep.equal(trend);
    expect((await get(`/patterns/${id}`)).json).to.deep.equal(trend);
    const evidence = await get(`/patterns/${id}/evidence?limit=10`);
    expect(dataOf(evidence)).to.have.length(10);
    expect(evidence.json.total).to.equal(24);
    const next = encodeURIComponent(String(evidence.json.next_cursor));
    const second = dataOf(await get(`/patients/${patient}/patterns/${id}/evidence?limit=200&cursor=${next}`));
    expect(second).to.have.length(14);
    expect(second[0]).to.include({ version: 1, unit: '%', role: 'supports', author_type: 'import' });
    // Nobody else's.
    const other = await service.newProject();
    expect((await v1('GET', `/patterns/${id}`, undefined, {}, other)).status).to.equal(404);
    expect((await get('/patterns/find_nothing')).status).to.equal(404);
    // The same evidence results in the same id; different evidence results in a different id.
    expect(dataOf(await get(`/patients/${patient}/patterns`))[0]?.finding_id).to.equal(id);
    await many(patient, [{ day: 24 * 30, value: 6.5 }]);
    expect(dataOf(await get(`/patients/${patient}/patterns`))[0]?.finding_id).not.to.equal(id);
    expect((await get(`/patterns/${id}`)).status).to.equal(404);
  });

  it('associates the start of a medication with values', async () => {
    const patient = await person();
    await made(`/patients/${patient}/medications`, {
      ...{ code: 'A10BA02', display: 'Metformin', start: '2024-07-01' },
    });
    await many(
      patient,
      Array.from({ length: 40 }, (_, n) => ({
        day: n * 9,
        value: (n * 9 < 182 ? 8.5 : 6.8) + waver(n),
      })),
    );
    const found = dataOf(await get(`/patients/${patient}/patterns`));
    const start = found.find(({ kind }) => kind === 'correlation');
    expect(String(start?.title)).to.match(
      /was lower by about 1\.\d+ % in the year after 2024-07-01, when metformin/i,
    );
    expect(found.map(({ kind }) => kind)).to.include('change_point');
    // Page by page, until a change in the record removes the finding after which the next page would begin.
    const pages: string[] = [];
    let stale = '';
    for (let cursor = ''; ; ) {
      const page = await get(`/patients/${patient}/patterns?limit=1${cursor}`);
      pages.push(...dataOf(page).map(({ finding_id }) => String(finding_id)));
      expect(page.json.total).to.equal(found.length);
      if (page.json.next_cursor === null) break;
      cursor = `&cursor=${String(page.json.next_cursor)}`;
      stale = cursor;
    }
    expect(pages).to.deep.equal(found.map(({ finding_id }) => finding_id));
    expect((await get(`/patients/${await person()}/patterns?limit=1${stale}`)).status).to.equal(422);
    const evidence = dataOf(await get(`/patterns/${String(start?.finding_id)}/evidence`));
    expect(String(evidence[0]?.fhir)).to.match(/^MedicationStatement\//);
  });

  it('compares two periods, or says why it cannot', async () => {
    const patient = await person();
    await many(
      patient,
      Array.from({ length: 20 }, (_, n) => ({ day: n * 30, value: (n < 10 ? 8 : 7) + waver(n) })),
    );
    const compare = (b: object) =>
      v1('POST', `/patients/${patient}/patterns/compare`, {
        code: '4548-4',
        a: { from: '2024-01-01', to: '2024-10-20' },
        b,
      });
    const answer = await compare({ from: '2024-10-21', to: '2025-12-31' });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json).to.include({ code: '4548-4', unit: '%', sufficient: true, reason: null });
    const { difference, a } = answer.json as { difference: Record<string, number>; a: object };
    expect(a).to.include({ from: '2024-01-01', to: '2024-10-20', count: 10 });
    expect(difference.absolute).to.be.closeTo(-1, 0.1);
    expect(difference.percent).to.be.closeTo(-12.5, 1.5);
    // All values of one period are below all values of the other. If values were independent, p would be 2 / binomial(20, 10).
    expect(difference.p_value).to.be.within(1e-4, 0.05);
    expect(answer.json.method).to.contain('inflated by autocorrelation');
    const empty = await compare({ from: '2030-01-01', to: '2030-12-31' });
    expect(empty.json).to.include({ sufficient: false, difference: null });
    expect(empty.json.reason).to.equal('period b has 0 values; at least 5 are needed');
    const overlap = await compare({ from: '2024-10-01', to: '2025-12-31' });
    expect([overlap.status, (overlap.json.error as { field: string }).field]).to.deep.equal([422, 'b']);
  });

  it('opens to a grant with the letters r and s, without the real id of the patient', async () => {
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Reihen' });
    const { id: project } = await owner.done('POST', `/organizations/${organization}/projects`, {
      name: 'App',
    });
    const application = await granting.register(owner, project);
    const patient = await person();
    await many(
      patient,
      Array.from({ length: 24 }, (_, n) => ({ day: n * 30, value: 9 - n * 0.1 + waver(n) })),
    );
    const allowed = await granting.allow(application, patient);
    const as = (path: string) => v1('GET', path, undefined, {}, allowed.token);
    expect(values(one(await as(`/patients/${allowed.patient}/series?code=4548-4`)))).to.have.length(24);
    expect((await as(`/patients/${patient}/series?code=4548-4`)).status).to.equal(404);
    for (const [q, total] of [
      ['rei', 1],
      ['berg', 0],
    ] as const)
      expect((await as(`/patients?q=${q}`)).json.total, q).to.equal(total);
    const listed = await as(`/patients/${allowed.patient}/patterns?limit=1`);
    const [trend] = dataOf(listed);
    const named = Buffer.from(patient.replaceAll('-', ''), 'hex').toString('base64url');
    expect(listed.text).not.to.contain(named);
    expect((await as(`/patterns/${String(trend?.finding_id)}`)).json).to.deep.equal(trend);
    const blind = await granting.allow(application, patient, { scopes: ['patient/Observation.s'] });
    expect(
      (await v1('GET', `/patients/${blind.patient}/patterns`, undefined, {}, blind.token)).status,
    ).to.equal(403);
  });
});
