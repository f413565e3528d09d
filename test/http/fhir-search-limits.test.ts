import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { itAtFullSize } from '#test/support/scale.ts';

/** Requests that no honest client sends: each is refused before it costs much, and none causes a server error. */
describe('searches and operations that ask for too much', () => {
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess();
    const identifier = [{ system: 'urn:huge', value: '1' }];
    const text = JSON.stringify({ resourceType: 'Patient', identifier });
    // A number that FHIR allows but PostgreSQL's jsonb doesn't.
    const huge = `${text.slice(0, -1)},"extension":[{"url":"urn:huge","valueDecimal":1e900000}]}`;
    const created = await send('/Patient', huge);
    expect(created.status, created.text).to.equal(201);
    patient = (JSON.parse(created.text) as { id: string }).id;
  });
  after(() => service.stop());

  const cursor = (key: unknown) => `_cursor=${Buffer.from(JSON.stringify(key)).toString('base64url')}`;
  const form = (path: string, body: string) =>
    service.fhir(path, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
  const refused = ({ status, text }: { status: number; text: string }, says: RegExp) => {
    expect(status, text.slice(0, 300)).to.equal(400);
    expect(text.slice(0, 1_000)).to.match(says);
  };
  /** Sends a request; any response is fine. */
  const send = (path: string, body: string | object, headers: Record<string, string> = {}) =>
    service.fhir(path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'Content-Type': 'application/fhir+json', ...headers },
    });
  const many = (n: number, text: (n: number) => string) => Array.from({ length: n }, (_, i) => text(i));

  itAtFullSize(
    'names what the database had to stop because it took too long, and does not call the database away',
    async function () {
      this.timeout(120_000);
      // Lagging read models would cause a different error, so they must catch up with the log before they are locked. A search
      // without parameters doesn't wait for `search`.
      const settled = ['/Observation?status=final', `${service.url}/v1/patients/${patient}/timeline`];
      for (const path of settled) expect((await service.fhir(path)).status, path).to.equal(200);
      const client = await service.pool.connect();
      try {
        await client.query('begin; set local lock_timeout = 0');
        const { rows } = await client.query<{ name: string }>(
          `select format('%I.%I', schemaname, tablename) as name from pg_tables
          where schemaname in ('search', 'timeline') and tablename <> 'checkpoint'
             or schemaname || '.' || tablename in ('consents.grants', 'operations.access_entry')`,
        );
        await client.query(`lock table ${rows.map(({ name }) => name).join()} in access exclusive mode`);
        const batch = {
          resourceType: 'Bundle',
          type: 'batch',
          entry: [{ request: { method: 'GET', url: 'Observation?status=final' } }],
        };
        const v1 = (path: string) => service.fhir(`${service.url}/v1/patients${path}`);
        const [search, counted, chained, list, created, bundle, grants, log] = await Promise.all([
          service.fhir(`/Observation?code=718-7&value-quantity=gt5&patient=${patient}&_sort=-date`),
          service.fhir('/Observation?code-value-quantity=718-7$gt5&_summary=count'),
          service.fhir('/Observation?subject:Patient.name=zzz'),
          v1(`/${patient}/timeline`),
          send('/Patient', { resourceType: 'Patient' }, { 'If-None-Exist': 'family=zzz' }),
          send('', batch),
          v1(`/${patient}/grants`),
          v1(`/${patient}/access-log`),
        ]);
        for (const { status, text } of [search, counted, chained, list, created, grants, log])
          expect(status, text).to.equal(413);
        expect(search.json).to.have.nested.property('issue[0].code', 'too-costly');
        expect(search.text).to.match(/value-quantity=gt5|code=718-7/);
        expect(counted.text).to.include('code-value-quantity=718-7$gt5');
        expect(chained.text).to.include('subject:Patient.name=zzz');
        expect(list.json).to.have.nested.property('error.type', 'too_large');
        expect(list.text).to.include('reading the timeline');
        expect(grants.text).to.include('reading the list of grants');
        expect(log.text).to.include('reading the access log');
        expect(created.text).to.include('family=zzz');
        expect(bundle.text).to.include('413 ').and.to.include('status=final');
      } finally {
        await client.query('rollback');
        client.release();
      }
    },
  );

  it('refuses cursors that were made up', async () => {
    for (const path of [
      `/Patient?_sort=name,_id&${cursor([null, patient, 'a', '-'.repeat(36)])}`,
      `/Patient?_sort=_lastUpdated&${cursor([1, patient, null])}`,
      `/Patient/${patient}/$everything?${cursor(['record', 'a\0', patient])}`,
      `/?${cursor(Array(60).fill('Patient'))}`,
    ]) {
      refused(await service.fhir(path), /_cursor/);
    }
  });

  it('asks a type once, however often a cursor names it', async () => {
    const twice = await service.fhir(`/?${cursor(['Patient', '', 'Patient', ''])}`);
    expect((JSON.parse(twice.text) as { entry: unknown[] }).entry).to.have.length(1);
  });

  it('refuses chains that branch without end', async () => {
    const chain = `${'part-of.'.repeat(6)}status=x`;
    refused(await service.fhir(`/MedicationStatement?${chain}`), /too-costly/);
    const several = many(20, (n) => `${'part-of.'.repeat(3)}status=x${n}`).join('&');
    refused(await service.fhir(`/MedicationStatement?${several}`), /too-costly/);
    expect((await service.fhir('/MedicationStatement?part-of.part-of.status=x')).status).to.equal(200);
  });

  it('refuses more values than a statement takes', async () => {
    const values = many(999, (n) => `${n}|http://unitsofmeasure.org|mg`).join();
    refused(
      await form('/MedicationStatement/_search', `${'part-of.'.repeat(5)}value-quantity=${values}`),
      /values/,
    );
  });

  it('refuses uris of very many parts, and codes without end', async () => {
    refused(await form('/ValueSet/_search', `url:above=http://a/${'a/'.repeat(5_000)}`), /segments/);
    const sets = many(999, () => 'http://loinc.org/vs').join();
    refused(await form('/Observation/_search', `code:in=${sets}`), /10000 codes/);
  });

  it('follows each inclusion once, and so many at most', async () => {
    const same = many(500, () => '_revinclude=*').join('&');
    expect((await form('/Patient/_search', same)).status).to.equal(200);
    const types = ['Observation', 'Condition', 'Encounter', 'Procedure'];
    const different = types.flatMap((type) => many(40, (n) => `_include=${type}:subject:${TARGETS[n]}`));
    refused(await form('/Observation/_search', different.join('&')), /100 _include and _revinclude/);
  });

  it('matches identifiers of resources that hold numbers of any size', async () => {
    const again = await send(
      '/Patient',
      { resourceType: 'Patient' },
      { 'If-None-Exist': 'identifier=urn:huge|1' },
    );
    expect([again.status, (JSON.parse(again.text) as { id: string }).id]).to.deep.equal([200, patient]);
  });

  it('pages through numbers of many digits', async () => {
    for (const value of ['1e-700', '1e700', '2']) {
      const about = `"status":"final","code":{"text":"x"},"subject":{"reference":"Patient/${patient}"}`;
      const body = `{"resourceType":"Observation",${about},"valueQuantity":{"value":${value}}}`;
      expect((await send('/Observation', body)).status).to.equal(201);
    }
    let path = `/Observation?subject=${patient}&_sort=value-quantity&_count=1`;
    let pages = 0;
    for (let next: string | undefined = path; next !== undefined; pages += 1) {
      const { status, text } = await service.fhir(path);
      expect(status, text).to.equal(200);
      const { link } = JSON.parse(text) as { link: { relation: string; url: string }[] };
      next = link.find(({ relation }) => relation === 'next')?.url;
      path = next?.slice(next.indexOf('/Observation?')) ?? '';
    }
    expect(pages).to.equal(3);
  });

  it('refuses value sets of very many parts, long filters and NUL characters', async () => {
    const expand = (include: object[]) =>
      send('/ValueSet/$expand', { resourceType: 'ValueSet', compose: { include } });
    const parts = await expand(many(600, () => 'http://loinc.org').map((system) => ({ system })));
    expect(parts.status, parts.text).to.equal(422);
    refused(
      await service.fhir(`/ValueSet/$expand?url=http://loinc.org/vs&filter=${'a+'.repeat(200)}`),
      /filter/,
    );
    refused(await expand([{ system: 'urn:x', concept: [{ code: 'a\0b' }] }]), /NUL/);
    refused(await service.fhir('/CodeSystem/$lookup?system=http://loinc.org&code=a%00'), /NUL/);
  });
});

/** Resource types. */
const TARGETS = [
  ...['Account', 'AllergyIntolerance', 'Appointment', 'AuditEvent', 'Basic', 'Binary', 'Bundle', 'CarePlan'],
  ...['CareTeam', 'Claim', 'Communication', 'Composition', 'Condition', 'Consent', 'Contract', 'Coverage'],
  ...['Device', 'DocumentReference', 'Encounter', 'Endpoint', 'Flag', 'Goal', 'Group', 'Immunization'],
  ...['Invoice', 'Library', 'List', 'Location', 'Measure', 'Media', 'Medication', 'Observation'],
  ...['Organization', 'Patient', 'Person', 'Practitioner', 'Procedure', 'Schedule', 'Slot', 'Specimen'],
];
