/**
 * Members' views of a patient's record: its overview now and at earlier times, its moments, and the changes between two of
 * them.
 */
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { runCommand } from '#test/support/cli.ts';
import { signedIn } from '#test/support/gateway.ts';
import { HERE, type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { recordStatements } from '#test/support/sent-statements.ts';

interface Stored {
  readonly id: string;
  readonly meta: { readonly lastUpdated: string; readonly versionId: string };
}

interface Line {
  readonly text: string;
  readonly resource: string;
  readonly version: number;
  readonly source: string | null;
  readonly author: { readonly type: string; readonly type_text: string };
  readonly periods: readonly object[];
}

interface List {
  readonly now: readonly Line[];
  readonly past: readonly Line[];
  readonly none: string | null;
  readonly unverified: readonly Line[];
  readonly left_out: readonly { readonly why: string; readonly text: string }[];
}

type Overview = Readonly<
  Record<'allergies' | 'medicines' | 'problems' | 'vaccinations' | 'care_plans', List>
> & {
  readonly patient: Readonly<Record<string, unknown>>;
  readonly is_now: boolean;
  readonly position: { readonly versions: number };
  readonly counts: readonly { readonly type: string; readonly count: number }[];
  readonly results: {
    readonly abnormal: readonly Line[];
    readonly abnormal_none: string | null;
    readonly latest: readonly (Line & { readonly values: number; readonly grade: string | null })[];
    readonly unverified: readonly Line[];
  };
};

interface Change {
  readonly kind: string;
  readonly resource: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly between: string | null;
  readonly versions: number;
  readonly version_before: number | null;
  readonly version_after: number;
  readonly elements: readonly string[];
  readonly author: { readonly type: string };
}

const WHO = {
  'X-Service-Author-Type': 'device',
  'X-Service-Source-System': 'ward-7',
};

describe('admin: a patient’s record', () => {
  let service: InProcess;
  let owner: AdminUser;
  let project: string;
  let keys: { readonly sandbox: string; readonly production: string };
  let patient: string;
  const people = new Map<string, AdminUser>();

  before(async () => {
    service = await startInProcess({}, HERE);
    owner = await signIn(service, 'owner@clinic.example');
    const made = await owner.done('POST', '/sandbox/quickstart', {});
    project = made.project.id;
    for (const role of ['developer', 'auditor', 'admin']) {
      const member = await signIn(service, `${role}@clinic.example`);
      const { issuer, subject } = member;
      await owner.done('POST', `/organizations/${made.organization.id}/members`, { issuer, subject, role });
      people.set(role, member);
    }
    people.set('owner', owner).set('outsider', await signIn(service, 'owner@elsewhere.example'));
    const live = { name: 'live', environment: 'production' };
    const { key } = await owner.done('POST', `/projects/${project}/keys`, live);
    keys = { sandbox: made.key, production: key };
    patient = (await create({ ...PATIENT })).id;
  });
  after(() => service.stop());

  const PATIENT = {
    resourceType: 'Patient',
    name: [{ given: ['Ada'], family: 'Okafor' }],
    birthDate: '1980-02-03',
    gender: 'female',
    identifier: [{ system: 'https://clinic.example/mrn', value: 'A-17' }],
  };

  async function write(method: string, path: string, resource?: object, key = keys.sandbox): Promise<Stored> {
    const answer = await service.fhir(path, {
      key,
      method,
      headers: WHO,
      ...(resource === undefined ? {} : { body: JSON.stringify(resource) }),
    });
    if (answer.status > 204) throw new Error(`${answer.status} ${answer.text}`);
    return answer.text === ''
      ? { id: '', meta: { lastUpdated: '', versionId: '' } }
      : (JSON.parse(answer.text) as Stored);
  }

  function create(
    resource: { readonly resourceType: string },
    key = keys.sandbox,
    path = `/${resource.resourceType}`,
  ): Promise<Stored> {
    return write('POST', path, resource, key);
  }

  const about = () => ({ reference: `Patient/${patient}` });
  const named = (text: string) => ({ text });
  const state = (system: string, code: string) => ({
    coding: [{ system: `http://terminology.hl7.org/CodeSystem/${system}`, code }],
  });
  const pathOf = (part: string, query: Readonly<Record<string, string>> = {}, of = patient) =>
    `/projects/${project}/patients/${of}/${part}?${new URLSearchParams(query)}`;
  const overview = async (query: Readonly<Record<string, string>> = {}, by = owner): Promise<Overview> =>
    (await by.done('GET', pathOf('overview', query))) as unknown as Overview;
  const changes = async (query: Readonly<Record<string, string>>): Promise<readonly Change[]> =>
    (await owner.done('GET', pathOf('changes', query))).data as unknown as readonly Change[];
  const glucose = (value: number, day = '2026-03-01') => ({
    resourceType: 'Observation',
    status: 'final',
    subject: about(),
    code: { coding: [{ system: 'http://loinc.org', code: '2345-7', display: 'Glucose' }] },
    effectiveDateTime: day,
    valueQuantity: { value, unit: 'mg/dL', system: 'http://unitsofmeasure.org', code: 'mg/dL' },
    referenceRange: [{ low: { value: 70, unit: 'mg/dL' }, high: { value: 99, unit: 'mg/dL' } }],
  });

  it('says what the record knows as sentences, each with its entry, author and source', async () => {
    const empty = await overview();
    expect(empty.allergies).to.include({
      none: 'No allergy is recorded. That does not mean that there is none.',
    });
    const allergy = await create({
      resourceType: 'AllergyIntolerance',
      patient: about(),
      code: named('Penicillin'),
      criticality: 'high',
      clinicalStatus: state('allergyintolerance-clinical', 'active'),
    } as never);
    await create({
      resourceType: 'MedicationStatement',
      status: 'active',
      subject: about(),
      medicationCodeableConcept: named('Metformin'),
      effectivePeriod: { start: '2019-05' },
    } as never);
    await create({
      resourceType: 'Condition',
      subject: about(),
      code: named('Asthma'),
      clinicalStatus: state('condition-clinical', 'resolved'),
      abatementDateTime: '2010',
    } as never);
    await create({
      resourceType: 'CarePlan',
      status: 'active',
      intent: 'plan',
      title: 'Diabetes programme',
      activity: [
        { detail: { status: 'scheduled', code: { text: 'Eye check' }, scheduledString: 'every year' } },
        { detail: { status: 'entered-in-error', description: 'Nothing' } },
        { detail: { status: 'in-progress', description: 'Less salt' } },
      ],
      subject: about(),
      period: { start: '2026-01-01' },
    } as never);
    await create(glucose(140));
    const shown = await overview();
    expect(shown.patient).to.deep.include({
      name: 'Ada Okafor',
      birth_date: '1980-02-03',
      age: '46 years',
      gender_text: 'female',
      identifiers: [{ system: 'https://clinic.example/mrn', value: 'A-17', kind: null }],
      died: null,
    });
    expect(shown.allergies.now[0]).to.deep.include({
      text: `Penicillin: May be life-threatening · no date; entered ${new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format()}`,
      resource: `AllergyIntolerance/${allergy.id}`,
      version: 1,
      source: 'ward-7',
      author: { type: 'device', type_text: 'a device', name: null, reference: null },
    });
    expect(shown.medicines.now[0]?.text).to.equal('Metformin: current · taken since May 2019');
    expect(shown.medicines.now[0]?.periods[0]).to.include({
      means: 'taken',
      from: '2019-05',
      until: null,
      current: true,
    });
    expect(shown.problems).to.include({ none: 'None that is current; 1 past problem.' });
    expect(shown.problems.past[0]?.text).to.equal('Asthma: resolved · until 2010');
    expect(shown.care_plans.now[0]?.text).to.equal(
      'Diabetes programme: Plan, active · Eye check (scheduled, every year) and Less salt (in progress) · 1 January 2026',
    );
    expect(shown.results.abnormal[0]?.text).to.equal(
      'Blood sugar (glucose): 140\u00a0mg/dL · Above the range · 1 March 2026',
    );
    expect(shown.counts.find(({ type }) => type === 'Observation')).to.include({ count: 1 });
    expect(shown.position.versions).to.equal(6);
    const german = await overview({ language: 'de' });
    expect(german.medicines.now[0]?.text).to.equal('Metformin: aktuell · genommen seit Mai 2019');
  });

  it('shows the record as it was at a moment, and says what has changed since', async () => {
    const before = await create(glucose(91, '2026-03-02'));
    const problem = await create({
      resourceType: 'Condition',
      subject: about(),
      code: named('Gout'),
      clinicalStatus: state('condition-clinical', 'active'),
    } as never);
    const moment = problem.meta.lastUpdated;
    await write('PUT', `/Observation/${before.id}`, { ...glucose(180, '2026-03-02'), id: before.id });
    await write('DELETE', `/Condition/${problem.id}`);
    const wrong = { ...glucose(500), status: 'entered-in-error' };
    const mistake = await create(glucose(500));
    await write('PUT', `/Observation/${mistake.id}`, { ...wrong, id: mistake.id });
    const then = await overview({ as_of: moment });
    expect(then.is_now).to.equal(false);
    expect(then.problems.now.map(({ text }) => text.split(':')[0])).to.deep.equal(['Gout']);
    expect(then.results.latest[0]).to.include({ resource: `Observation/${before.id}`, version: 1 });
    expect((await overview()).problems.now).to.deep.equal([]);
    const changed = await changes({ from: moment });
    const of = (id: string) => changed.find(({ resource }) => resource.endsWith(id));
    expect(of(before.id)).to.deep.include({
      kind: 'changed',
      before: 'Blood sugar (glucose): 91\u00a0mg/dL · In the range · 2 March 2026',
      after: 'Blood sugar (glucose): 180\u00a0mg/dL · Above the range · 2 March 2026',
      version_before: 1,
      version_after: 2,
      elements: ['Value'],
    });
    expect(of(problem.id)).to.include({ kind: 'removed', after: null, version_before: 1, version_after: 2 });
    expect(of(problem.id)?.before).to.match(/^Gout: active · /);
    expect(of(mistake.id)).to.include({
      kind: 'removed',
      before: null,
      after: 'Blood sugar (glucose): Entered by mistake',
    });
    const brief = await create(glucose(77));
    await write('DELETE', `/Observation/${brief.id}`);
    const [gone, ...others] = await changes({ from: moment });
    expect(others).to.deep.equal(changed);
    expect(gone).to.include({
      kind: 'removed',
      before: null,
      after: null,
      version_before: null,
      versions: 2,
    });
    expect(gone?.between).to.match(/^Blood sugar \(glucose\): 77/);
    expect(changed.map(({ between }) => between)).to.deep.equal([null, null, null]);
    expect(changed).to.have.length(3);
    const first = await owner.done('GET', pathOf('changes', { from: moment, limit: '2' }));
    const rest = await owner.done(
      'GET',
      pathOf('changes', { from: moment, limit: '2', cursor: String(first.next_cursor) }),
    );
    expect([...first.data, ...rest.data]).to.deep.equal([gone, ...changed]);
    expect(rest.next_cursor).to.equal(null);
    const versions = await owner.done('GET', pathOf(`versions/Observation/${before.id}`));
    expect(
      versions.data.map(({ after, version_before, kind }) => [after, version_before, kind]),
    ).to.deep.equal([
      ['Blood sugar (glucose): 180\u00a0mg/dL · Above the range · 2 March 2026', 1, 'changed'],
      ['Blood sugar (glucose): 91\u00a0mg/dL · In the range · 2 March 2026', null, 'added'],
    ]);
    const page = await owner.done('GET', pathOf(`versions/Observation/${before.id}`, { limit: '1' }));
    const older = await owner.done(
      'GET',
      pathOf(`versions/Observation/${before.id}`, { limit: '1', cursor: String(page.next_cursor) }),
    );
    expect([...page.data, ...older.data]).to.deep.equal(versions.data);
    const event = await owner.done(
      'GET',
      `/projects/${project}/events/${String(versions.data[0]?.event_id)}`,
    );
    expect(event).to.include({ resource: `Observation/${before.id}`, version: 2 });
    for (const wrong of [
      `Condition/${before.id}`,
      'Observation/none',
      'Observation/019a0000-0000-7000-8000-000000000000',
    ])
      expect((await owner.ask('GET', pathOf(`versions/${wrong}`))).status).to.equal(404);
    const timeline = await owner.done('GET', pathOf('timeline', { kinds: 'observation', language: 'de' }));
    expect(timeline.data[0]).to.deep.include({
      kind_text: 'Befund',
      text: 'Blutzucker (Glukose): 180\u00a0mg/dL · Über dem Bereich',
      when: '2. März 2026',
      resource: `Observation/${before.id}`,
      version: 2,
      source: 'ward-7',
    });
    const timelineThen = await owner.done('GET', pathOf('timeline', { kinds: 'observation', as_of: moment }));
    expect(timelineThen.data[0]).to.deep.include({
      version: 1,
      text: 'Blood sugar (glucose): 91\u00a0mg/dL · In the range',
    });
    const moments = await owner.done('GET', pathOf('moments'));
    expect(moments.total).to.equal((await overview()).position.versions);
    const nobody = { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' };
    expect(await changes(nobody)).to.deep.equal([]);
    const early = await owner.ask('GET', pathOf('overview', { as_of: '2020-01-01T00:00:00Z' }));
    expect(early.status).to.equal(404);
  });

  it('reads as many statements for many kinds of results as for one', async () => {
    const own = await create({ ...PATIENT });
    const subject = { reference: `Patient/${own.id}` };
    const recording = recordStatements();
    const count = async (): Promise<number> => {
      recording.taken();
      const shown = (await owner.done('GET', pathOf('overview', {}, own.id))) as unknown as Overview;
      expect(shown.results.latest.every(({ values }) => values <= 10)).to.equal(true);
      return recording.taken().filter(({ values }) => values.includes(own.id)).length;
    };
    try {
      await create({ ...glucose(90), subject } as never);
      const one = await count();
      expect(one).to.be.greaterThan(0);
      const entry = Array.from({ length: 60 }, (_, n) => ({
        request: { method: 'POST', url: 'Observation' },
        resource: { ...glucose(90), subject, code: named(`kind ${n % 20}`) },
      }));
      await create({ resourceType: 'Bundle', type: 'transaction', entry } as never, keys.sandbox, '/');
      expect(await count()).to.equal(one);
    } finally {
      recording.stop();
    }
  });

  it('says what later versions changed, when and from what, and what was refuted', async () => {
    const own = await create({ ...PATIENT });
    const of = { reference: `Patient/${own.id}` };
    const weekly = (period: number, periodUnit: string, status = 'active') => ({
      resourceType: 'MedicationStatement',
      status,
      subject: of,
      medicationCodeableConcept: named('Methotrexate'),
      dosage: [{ text: '', timing: { repeat: { frequency: 1, period, periodUnit } } }].map(
        ({ text: _, ...dose }) => ({ ...dose, doseAndRate: [{ doseQuantity: { value: 15, unit: 'mg' } }] }),
      ),
    });
    const allergy = (text: string, verification: string, more: object = {}) => ({
      resourceType: 'AllergyIntolerance',
      patient: of,
      code: named(text),
      clinicalStatus: state('allergyintolerance-clinical', 'active'),
      verificationStatus: state('allergyintolerance-verification', verification),
      ...more,
    });
    const refuted = allergy('Penicillin', 'refuted');
    const problem = (verification: string) => ({
      resourceType: 'Condition',
      subject: of,
      code: named('Lung cancer'),
      clinicalStatus: state('condition-clinical', 'active'),
      verificationStatus: state('condition-ver-status', verification),
    });
    const revise = async (...versions: readonly { readonly resourceType: string }[]) => {
      const [first, ...later] = versions;
      if (first === undefined) return;
      const { id } = await create(first);
      for (const each of later) await write('PUT', `/${each.resourceType}/${id}`, { ...each, id });
    };
    await revise(weekly(1, 'wk'), weekly(1, 'wk'), weekly(1, 'd'));
    await revise(allergy('Penicillin', 'confirmed', { criticality: 'high' }), refuted, refuted);
    await revise(
      allergy('Peanut', 'confirmed', { criticality: 'low' }),
      allergy('Peanut', 'confirmed', { criticality: 'high' }),
    );
    await revise(problem('provisional'), problem('differential'), problem('confirmed'));
    const shown = (await owner.done('GET', pathOf('overview', {}, own.id))) as unknown as Overview;
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date());
    const texts = (list: List): readonly string[] => list.now.map(({ text }) => text);
    expect(texts(shown.medicines)).to.have.length(1);
    expect(texts(shown.medicines)[0])
      .to.match(/^Methotrexate: current · Dosage changed recently · 15 mg once a day/)
      .and.contain(`Dosage changed ${day} (before: 15 mg once a week)`);
    expect(texts(shown.allergies)[0]).to.contain(`Risk changed ${day} (before: low risk)`);
    expect(texts(shown.problems)[0]).to.contain(
      `Certainty changed 2 times, last ${day} (before: one of several possibilities)`,
    );
    expect(shown.allergies.left_out).to.have.length(1);
    expect(shown.allergies.left_out[0]).to.deep.include({
      why: 'refuted',
      text: `Penicillin: ruled out since ${day} (before: may be life-threatening)`,
    });
    const milk = await create(allergy('Milk', 'confirmed', { criticality: 'low' }));
    const path = `/AllergyIntolerance/${milk.id}`;
    await write('PUT', path, { ...allergy('Milk', 'confirmed', { criticality: 'high' }), id: milk.id });
    const byAi = await service.fhir(path, {
      key: keys.sandbox,
      method: 'PUT',
      headers: { ...WHO, 'X-Service-Author-Type': 'ai' },
      body: JSON.stringify({ ...allergy('Milk', 'unconfirmed', { criticality: 'low' }), id: milk.id }),
    });
    expect(byAi.status).to.equal(200);
    const summary = await service.fhir(`/Patient/${own.id}/$summary`, { key: keys.sandbox });
    const today = new Date().toISOString().slice(0, 10);
    expect(summary.text).to.match(
      new RegExp(
        `Before AI changed it: Milk; [^<]*; Changed: criticality changed ${today}, before: low risk`,
      ),
    );
    for (const said of [
      `dosage changed ${today}, before: 15 mg once a week`,
      `criticality changed ${today}, before: low risk`,
      `Refuted, not an entry: Penicillin: refuted ${today}, before: active, confirmed, may be life-threatening.`,
    ])
      expect(summary.text).to.contain(said);
    const asked = { patient: own.id, task: 'letter', budget_tokens: 2_000, format: 'text' };
    const context = await service.fhir(`${service.url}/v1/context`, {
      key: keys.sandbox,
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(asked),
    });
    expect(context.text).to.contain(`dosage changed ${today}, before: 15 mg once a week`);
    expect(context.text).to.contain(`allergy left out: Penicillin: refuted ${today}, before: active`);
    const again = await runCommand(['context', String(context.json.manifest_id), '--json'], {
      DATABASE_URL: service.databaseUrl,
    });
    expect(again.stderr).to.equal('');
    expect(again.stdout).to.equal(`${context.text}\n`);
  });

  it('says what a newer prescription changed of a dosage, and not by what an AI wrote or an older one', async () => {
    const own = await create({ ...PATIENT });
    const ago = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    const prescribe = (
      text: string,
      status: string,
      days: number,
      [period, value]: readonly [string, number],
    ) => ({
      ...{ resourceType: 'MedicationRequest', intent: 'order', status, authoredOn: ago(days) },
      subject: { reference: `Patient/${own.id}` },
      medicationCodeableConcept: named(text),
      dosageInstruction: [
        {
          timing: { repeat: { frequency: 1, period: 1, periodUnit: period } },
          doseAndRate: [{ doseQuantity: { value, unit: 'mg' } }],
        },
      ],
    });
    await create(prescribe('Methotrexate', 'active', 10, ['d', 15]));
    await create(prescribe('Methotrexate', 'completed', 190, ['wk', 15]));
    await create(prescribe('Methotrexate', 'stopped', 300, ['wk', 10]));
    await create(prescribe('Ramipril', 'active', 200, ['d', 5]));
    await create(prescribe('Ramipril', 'stopped', 10, ['d', 10]));
    const { status } = await service.fhir('/MedicationRequest', {
      key: keys.sandbox,
      method: 'POST',
      headers: { ...WHO, 'X-Service-Author-Type': 'ai' },
      body: JSON.stringify(prescribe('Methotrexate', 'completed', 30, ['d', 99])),
    });
    expect(status).to.equal(201);
    const shown = (await owner.done('GET', pathOf('overview', {}, own.id))) as unknown as Overview;
    const long = (days: number): string =>
      new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(Date.parse(ago(days)));
    const texts = shown.medicines.now.map(({ text }) => text).sort();
    expect(texts[0])
      .to.match(/^Methotrexate: current · Dosage changed recently · 15 mg once a day/)
      .and.contain(
        `Dosage changed, prescribed ${long(10)} (before: 15 mg once a week, prescribed ${long(190)})`,
      );
    expect(texts[1])
      .to.match(/^Ramipril: /)
      .and.not.contain('hanged');
    const summary = await service.fhir(`/Patient/${own.id}/$summary`, { key: keys.sandbox });
    const changed = `dosage changed, prescribed ${ago(10)}, before: 15 mg once a week (prescribed ${ago(190)})`;
    const context = await service.fhir(`${service.url}/v1/context`, {
      key: keys.sandbox,
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ patient: own.id, task: 'letter', budget_tokens: 2_000, format: 'text' }),
    });
    for (const text of [summary.text, String(context.json.text)]) {
      expect(text).to.contain(changed);
      expect(text.split('osage changed')).to.have.length(2);
    }
    const again = await runCommand(['context', String(context.json.manifest_id), '--json'], {
      DATABASE_URL: service.databaseUrl,
    });
    expect(again.stdout).to.equal(`${context.text}\n`);
  });

  it('says that there are several values of one moment', async () => {
    const own = await create({ ...PATIENT });
    const of = { reference: `Patient/${own.id}` };
    const at = '2026-03-01T08:00:00Z';
    for (const [value, day] of [
      [85, at],
      [85, '2026-03-01T09:00:00+01:00'],
      [140, '2026-03-01T09:00:00+01:00'],
      [91, '2026-02-01T08:00:00Z'],
    ] as const)
      await create({ ...glucose(value, day), subject: of } as never);
    const potassium = { ...glucose(6.2), code: named('Potassium'), subject: of };
    const { id } = await create(potassium as never);
    const corrected = { ...potassium, status: 'corrected', id };
    await write('PUT', `/Observation/${id}`, { ...corrected, valueQuantity: { value: 4.1, unit: 'mmol/L' } });
    const shown = (await owner.done('GET', pathOf('overview', {}, own.id))) as unknown as Overview;
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date());
    const [fixed, ...latest] = [...shown.results.latest].sort((a, b) => (a.text > b.text ? -1 : 1));
    expect(fixed?.text).to.contain(` · Value changed ${day} (before: 6.2`);
    const today = new Date().toISOString().slice(0, 10);
    const told = await service.fhir(`/Patient/${own.id}/$summary`, { key: keys.sandbox });
    expect(told.text).to.contain(`value changed ${today}, before: 6.2 mg/dL`);
    const context = await service.fhir(`${service.url}/v1/context`, {
      key: keys.sandbox,
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ patient: own.id, task: 'letter', budget_tokens: 2_000, format: 'text' }),
    });
    expect(context.json.text).to.match(
      new RegExp(`Potassium 4\\.1 mmol/L .*; value changed ${today}, before: 6\\.2 mg/dL`),
    );
    const again = await runCommand(['context', String(context.json.manifest_id), '--json'], {
      DATABASE_URL: service.databaseUrl,
    });
    expect(again.stdout).to.equal(`${context.text}\n`);
    const results = { latest };
    expect(results.latest).to.have.length(1);
    expect(results.latest[0]?.text).to.match(/140.mg\/dL.*also with this date: 85.mg\/dL$/);
    const rest = (method: string, path: string, body?: object) =>
      service.fhir(`${service.url}/v1${path}`, {
        ...{ key: keys.sandbox, method, headers: { 'Content-Type': 'application/json' } },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const { json } = await rest('GET', `/patients/${own.id}/series?code=2345-7`);
    const [series] = json.data as unknown as readonly {
      readonly points: readonly object[];
      readonly warnings: object;
    }[];
    expect(series?.points).to.have.length(4);
    expect(series?.warnings).to.deep.equal([
      { kind: 'same_time', text: 'different values with the same time', count: 3 },
      {
        kind: 'same_time',
        text: 'equal to another value with the same time; patterns and comparisons count them once',
        count: 1,
      },
    ]);
    const asked = { patient: own.id, task: 'follow-up', budget_tokens: 2_000, format: 'text' };
    expect((await rest('POST', '/context', asked)).text)
      .to.match(/with the same date also (?:85|140); before 91/)
      .and.not.contain('before 85');
    const { text: summary } = await service.fhir(`/Patient/${own.id}/$summary`, { key: keys.sandbox });
    expect(summary.match(/<td>(?:85|140) mg\/dL<\/td>/g)).to.have.length(3);
  });

  it('calls no problem and no plan of a person current who has died', async () => {
    const own = await create({ ...PATIENT, deceasedDateTime: '2026-01-02' } as never);
    const of = { reference: `Patient/${own.id}` };
    const active = state('condition-clinical', 'active');
    await create({
      resourceType: 'Condition',
      subject: of,
      code: named('Gout'),
      clinicalStatus: active,
    } as never);
    const plan = {
      resourceType: 'CarePlan',
      status: 'active',
      intent: 'plan',
      title: 'Foot care',
      subject: of,
    };
    await create(plan as never);
    const goal = { resourceType: 'Goal', lifecycleStatus: 'active', description: named('Walk'), subject: of };
    await create(goal as never);
    const shown = (await owner.done('GET', pathOf('overview', {}, own.id))) as unknown as Overview;
    expect(shown.problems.now).to.deep.equal([]);
    expect(shown.problems.past.map(({ text }) => text.split(' · ')[0])).to.deep.equal([
      'Gout: Recorded as “active” (person deceased)',
    ]);
    expect(shown.care_plans.now).to.deep.equal([]);
    expect(shown.care_plans.past[0]?.text).to.match(/^Foot care: Recorded as “.*” \(person deceased\)/);
    const { text: summary } = await service.fhir(`/Patient/${own.id}/$summary`, { key: keys.sandbox });
    expect(summary.match(/recorded as active \(person deceased\)/g)).to.have.length(2);
    const { text: context } = await service.fhir(`${service.url}/v1/context`, {
      ...{ key: keys.sandbox, method: 'POST', headers: { 'Content-Type': 'application/json' } },
      body: JSON.stringify({ patient: own.id, budget_tokens: 2_000, format: 'text' }),
    });
    expect(context).to.contain('Gout: recorded as active (person deceased)').and.not.contain('aim: Walk');
    expect(context).not.to.contain('Foot care');
  });

  it('has goals, and the newest procedures and visits with their number', async () => {
    const own = await create({ ...PATIENT });
    const of = { reference: `Patient/${own.id}` };
    const visit = { resourceType: 'Encounter', status: 'finished', class: { code: 'AMB' }, subject: of };
    for (const day of ['2024-01-01', '2024-02-01', '2024-03-01', '2024-04-01', '2024-05-01', '2024-06-01'])
      await create({ ...visit, period: { start: day } } as never);
    const operation = { resourceType: 'Procedure', status: 'completed', subject: of };
    await create({ ...operation, code: named('Appendectomy'), performedDateTime: '2019-04-01' } as never);
    const goal = { resourceType: 'Goal', subject: of, description: named('Walk daily') };
    await create({ ...goal, lifecycleStatus: 'active', target: [{ dueDate: '2027-01-01' }] } as never);
    await create({ ...goal, lifecycleStatus: 'proposed', description: named('Swim') } as never);
    await create({
      ...goal,
      lifecycleStatus: 'cancelled',
      description: named('Run'),
      statusReason: 'knee',
    } as never);
    const stopped = { resourceType: 'MedicationStatement', status: 'stopped', subject: of };
    await create({
      ...{ ...stopped, medicationCodeableConcept: named('Ramipril'), effectiveDateTime: '2025-01-01' },
      ...{ dosage: [{ text: '5 mg' }], statusReason: [named('cough')] },
    } as never);
    const { data } = await owner.done(
      'GET',
      pathOf('timeline', { kinds: 'medication', language: 'de' }, own.id),
    );
    expect(data.map(({ text }) => text)).to.deep.equal(['Ramipril: Abgesetzt, 5 mg, Grund: cough']);
    type Events = {
      readonly newest: readonly { readonly text: string; readonly when: string }[];
      readonly total: number;
    };
    const shown = (await owner.done('GET', pathOf('overview', {}, own.id))) as unknown as Overview &
      Readonly<Record<'procedures' | 'visits', Events>> & {
        readonly goals: List & { readonly planned: readonly Line[] };
      };
    expect(shown.visits).to.deep.include({ total: 6 });
    expect(shown.visits.newest.map(({ when }) => when)).to.deep.equal(
      ['June', 'May', 'April'].map((month) => `1 ${month} 2024`),
    );
    expect(shown.procedures.newest.map(({ text, when }) => [text, when])).to.deep.equal([
      ['Appendectomy', '1 April 2019'],
    ]);
    const { now, planned, past } = shown.goals;
    expect(
      [now, planned, past].map((lines) => lines.map(({ text }) => text.split(' · no date')[0])),
    ).to.deep.equal([
      ['Walk daily: Active · until 1 January 2027'],
      ['Swim: Proposed'],
      ['Run: Cancelled · reason: knee'],
    ]);
  });

  it('keeps what an AI wrote apart, and says what isn’t shown', async () => {
    const own = await create({ ...PATIENT });
    const of = { reference: `Patient/${own.id}` };
    const ai = { key: keys.sandbox, method: 'POST', headers: { 'X-Service-Author-Type': 'ai' } };
    const noted = { resourceType: 'Condition', subject: of, code: named('Anemia') };
    await service.fhir('/Condition', { ...ai, body: JSON.stringify(noted) });
    await service.fhir('/Observation', { ...ai, body: JSON.stringify({ ...glucose(300), subject: of }) });
    const modified = { modifierExtension: [{ url: 'https://clinic.example/not', valueBoolean: true }] };
    await create({ ...noted, ...modified });
    await create({ ...glucose(10), subject: of, ...modified } as never);
    const shown = (await owner.done('GET', pathOf('overview', {}, own.id))) as unknown as Overview & {
      readonly results: { readonly left_out: readonly string[] };
    };
    expect(shown.problems).to.deep.include({ now: [], past: [] });
    expect(shown.problems.unverified.map(({ text }) => text.split(':')[0])).to.deep.equal(['Anemia']);
    expect(shown.problems.left_out.map(({ why }) => why)).to.deep.equal(['modified']);
    expect(shown.results).to.deep.include({
      abnormal: [],
      latest: [],
      abnormal_none: 'No result is recorded yet.',
    });
    expect(shown.results.unverified).to.have.length(1);
    expect(shown.results.left_out).to.have.length(1);
  });

  it('is for members: in production for auditors, admins and owners, with a reason', async () => {
    const live = await create({ ...PATIENT }, keys.production);
    const since = { from: '2026-01-01T00:00:00Z' };
    const parts = [['overview'], ['moments'], ['timeline'], ['changes', since]] as const;
    for (const [role, member] of people) {
      for (const [part, query] of parts) {
        const [sandbox, production] = await Promise.all([
          member.ask('GET', pathOf(part, query)),
          member.ask('GET', pathOf(part, query, live.id), undefined, { 'X-Service-Reason': 'audit' }),
        ]);
        expect([role, part, sandbox.status]).to.deep.equal([role, part, role === 'outsider' ? 404 : 200]);
        const isOpen = role !== 'outsider' && role !== 'developer';
        expect([role, part, production.status]).to.deep.equal([role, part, isOpen ? 200 : 404]);
      }
    }
    const auditor = await signedIn(service, 'auditor@clinic.example');
    for (const [part, query] of parts) {
      const path = `/admin${pathOf(part, query, live.id)}`;
      expect((await auditor.ask(path)).status, part).to.equal(400);
      const headers = { 'X-Service-Reason': 'complaint%2017' };
      expect((await auditor.ask(path, { headers })).status, part).to.equal(200);
    }
    const log = await auditor.ask(`/v1/patients/${live.id}/access-log`, {
      headers: {
        'X-Service-Project': project,
        'X-Service-Environment': 'production',
        'X-Service-Reason': 'complaint%2017',
      },
    });
    const read = JSON.parse(log.text).data as readonly {
      readonly action: string;
      readonly purpose: string | null;
    }[];
    expect(
      read.filter(({ purpose }) => purpose === 'complaint 17').map(({ action }) => action),
    ).to.deep.equal(['changes', 'timeline', 'overview']);
    // These requests appear in the environment's log.
    await eventually(async () => {
      const { data } = await owner.done('GET', `/projects/${project}/logs?environment=production&limit=50`);
      return data.some(({ path }) => String(path).endsWith('/overview'));
    });
    const other = await owner.ask('GET', pathOf('overview', {}, '019a0000-0000-7000-8000-000000000000'));
    expect(other.status).to.equal(404);
  });

  it('shows numbers whose digits are kept as they were written', async () => {
    const own = await create({ ...PATIENT });
    const literal = (resource: object) =>
      JSON.stringify(resource)
        .replace('"value":7,', '"value":7.0,')
        .replace('{"value":70,', '{"value":4.0,')
        .replace('{"value":99,', '{"value":6.50,')
        .replaceAll('"value":120,', '"value":120.0,')
        .replaceAll('"value":0.00001,', '"value":1e-05,');
    const of = { reference: `Patient/${own.id}` };
    const part = (code: string, value: number) => ({
      code: { coding: [{ system: 'http://loinc.org', code }] },
      valueQuantity: { value, unit: 'mmHg' },
    });
    const since = new Date(Date.now() - 60_000).toISOString();
    for (const resource of [
      { ...glucose(7), subject: of },
      {
        ...{ resourceType: 'Observation', status: 'final', subject: of, effectiveDateTime: '2026-03-02' },
        ...{ code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }] } },
        component: [part('8480-6', 120), part('8462-4', 80)],
      },
      {
        ...{ resourceType: 'Observation', status: 'final', subject: of, effectiveDateTime: '2026-03-03' },
        ...{ code: named('Viral load'), valueQuantity: { value: 0.00001, unit: 'g/L' } },
      },
    ]) {
      const body = literal(resource);
      expect(body).to.match(/7\.0|120\.0|1e-05/);
      const answer = await service.fhir('/Observation', { key: keys.sandbox, method: 'POST', body });
      expect(answer.status).to.equal(201);
    }
    const texts: string[] = [];
    for (const [part, query] of [
      ['overview', {}],
      ['timeline', {}],
      ['changes', { from: since }],
    ] as const) {
      const answer = await owner.ask('GET', pathOf(part, query, own.id));
      expect(answer.status, `${part} ${answer.text}`).to.equal(200);
      expect(answer.text).not.to.include('isLosslessNumber');
      texts.push(answer.text);
    }
    for (const text of texts)
      expect(text)
        .to.match(/7(?:\.0)?\u00a0mg\/dL/)
        .and.include('120/80');
  });

  it('refuses moments that aren’t', async () => {
    const future = new Date(Date.now() + 3_600_000).toISOString();
    for (const query of [{ as_of: future }, { as_of: '2026' }, { language: 'xx' }] as const)
      expect((await owner.ask('GET', pathOf('overview', { ...query }))).status).to.equal(422);
    const turned = { from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' };
    for (const query of [turned, { from: future }] as const)
      expect((await owner.ask('GET', pathOf('changes', { ...query }))).status).to.equal(422);
  });
});
