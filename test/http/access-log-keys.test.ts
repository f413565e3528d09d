/** The access log of reads with members' tokens, and with `ACCESS_LOG=all` also of reads with API keys (docs/access-log.md). */
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';

interface Entry {
  readonly record: string;
  readonly action: string;
  readonly resource_id: string | null;
  readonly count: number | null;
}

for (const setting of ['grants', 'all'] as const) {
  describe(`the access log of a project's own reads with ACCESS_LOG=${setting}`, () => {
    let service: InProcess;
    let owner: AdminUser;
    let member: string;
    let key: string;
    let one: string;
    let other: string;
    let observation: string;
    let document: string;
    let deleted: string;

    const post = async (path: string, body: object, as = key): Promise<string> => {
      const init = { method: 'POST', key: as, body: JSON.stringify(body) };
      const headers = {
        'Content-Type': path.startsWith('/v1') ? 'application/json' : 'application/fhir+json',
      };
      const url = path.startsWith('/v1') ? `${service.url}${path}` : path;
      const { status, text, json } = await service.fhir(url, { ...init, headers });
      expect(status, text).to.be.within(200, 201);
      return String(json.id);
    };
    /** Returns a request's entries. */
    async function entriesOf(request: string): Promise<Entry[]> {
      const { rows } = await service.pool.query<Entry>(
        'select record, action, resource_id, count from operations.access_entry where request_id = $1 order by record',
        [request],
      );
      return rows;
    }
    async function read(
      path: string,
      as: string,
      init: { method?: string; body?: string; headers?: Record<string, string> } = {},
    ) {
      const url = path.startsWith('/v1') ? `${service.url}${path}` : path;
      const answer = await service.fhir(url, { ...init, key: as });
      return {
        status: answer.status,
        entries: await entriesOf(answer.headers.get('service-request-id') ?? ''),
      };
    }
    const about = (subject: string, n: number) => ({
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'Weight' },
      subject: { reference: `Patient/${subject}` },
      valueQuantity: { value: n },
    });

    before(async () => {
      service = await startInProcess({}, { ACCESS_LOG: setting });
      owner = await signIn(service, 'owner@clinic.example');
      const { id: organization } = await owner.done('POST', '/organizations', { name: 'Clinic' });
      const { id: project } = await owner.done('POST', `/organizations/${organization}/projects`, {
        name: 'P',
      });
      const asked = { name: 'Nightly', environment: 'sandbox', scopes: ['read', 'write'] };
      key = String((await owner.done('POST', `/projects/${project}/keys`, asked)).key);
      const asking = { environment: 'sandbox' };
      member = String((await owner.done('POST', `/projects/${project}/tokens`, asking)).access_token);
      [one, other] = [
        await post('/Patient', { resourceType: 'Patient', name: [{ family: 'Sand' }] }),
        await post('/Patient', { resourceType: 'Patient', name: [{ family: 'Sund' }] }),
      ].sort() as [string, string];
      await post('/Practitioner', { resourceType: 'Practitioner', name: [{ family: 'Lee' }] });
      observation = await post('/Observation', about(one, 1));
      await post('/Observation', about(one, 2));
      await post('/Observation', about(other, 3));
      deleted = await post('/Observation', about(other, 4));
      await service.fhir(`/Observation/${deleted}`, { method: 'DELETE', key });
      const letter = { title: 'Letter', content_type: 'text/plain' };
      document = await post(`/v1/patients/${other}/documents`, letter);
      await service.fhir(`${service.url}/v1/documents/${document}/content`, {
        method: 'PUT',
        key,
        body: 'Dear',
        headers: { 'Content-Type': 'text/plain' },
      });
      await eventually(async () => (await read('/Observation', key)).status === 200);
    });
    after(() => service?.stop());

    it('has one entry for each record that an answer shows', async () => {
      const as = setting === 'all' ? key : member;
      const cases: [string, [string, string, string | null, number | null][]][] = [
        [`/Patient/${one}`, [[one, 'read', one, 1]]],
        [`/Observation/${observation}`, [[one, 'read', observation, 1]]],
        [`/Observation/${observation}/_history/1`, [[one, 'vread', observation, 1]]],
        [`/Observation/${deleted}/_history`, [[other, 'history-instance', deleted, 2]]],
        [
          '/Observation',
          [
            [one, 'search-type', null, 2],
            [other, 'search-type', null, 1],
          ],
        ],
        [`/Observation?subject=${other}`, [[other, 'search-type', null, 1]]],
        [`/Patient?_revinclude=Observation:subject&_id=${one}`, [[one, 'search-type', null, 3]]],
        ['/Observation?_summary=count', []],
        ['/Practitioner', []],
        [`/Patient/${one}/Observation`, [[one, 'search-compartment', one, 2]]],
        [`/Patient/${one}/$everything`, [[one, '$everything', one, 3]]],
        [`/v1/patients/${one}`, [[one, 'read', one, 1]]],
        [
          '/v1/patients',
          [
            [one, 'search-type', null, 1],
            [other, 'search-type', null, 1],
          ],
        ],
        [`/v1/documents/${document}`, [[other, 'read', document, 1]]],
        [`/v1/documents/${document}/content`, [[other, 'content', document, 1]]],
        [`/v1/patients/${one}/access-log`, []],
      ];
      for (const [path, expected] of cases) {
        const { status, entries } = await read(path, as);
        expect(status, path).to.equal(200);
        expect(
          entries.map(({ record, action, resource_id, count }) => [record, action, resource_id, count]),
          path,
        ).to.deep.equal(expected);
      }
      const timeline = await read(`/v1/patients/${one}/timeline`, as);
      expect(timeline.entries.map(({ record, count }) => [record, count])).to.deep.equal([[one, null]]);
      const context = await read('/v1/context', as, {
        method: 'POST',
        body: JSON.stringify({ patient: one, task: 'visit' }),
        headers: { 'Content-Type': 'application/json' },
      });
      expect([context.status, ...context.entries.map(({ record }) => record)]).to.deep.equal([200, one]);
      const versions = await read(`/Provenance?target=Observation/${observation}`, as);
      expect(versions.entries.map(({ record }) => record)).to.deep.equal([one]);
    });

    it('has each GET entry of a Bundle, each 304 and each HEAD, and a search by POST', async () => {
      const as = setting === 'all' ? key : member;
      const batch = {
        resourceType: 'Bundle',
        type: 'batch',
        entry: [`Patient/${one}`, 'Observation?_count=10', 'Patient/x'].map((url) => ({
          request: { method: 'GET', url },
        })),
      };
      const body = JSON.stringify(batch);
      const { entries } = await read('/', as, { method: 'POST', body });
      expect(entries.map(({ record, action }) => `${record} ${action}`)).to.have.members([
        `${one} read`,
        `${one} search-type`,
        `${other} search-type`,
      ]);
      const known = await read(`/Patient/${one}`, as, { headers: { 'If-None-Match': 'W/"1"' } });
      expect([known.status, known.entries.map(({ count }) => count)]).to.deep.equal([304, [0]]);
      expect((await read(`/Patient/${one}`, as, { method: 'HEAD' })).entries).to.have.length(1);
      const form = await read('/Observation/_search', as, {
        method: 'POST',
        body: `subject=${one}`,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      });
      expect(form.entries.map(({ record, count }) => [record, count])).to.deep.equal([[one, 2]]);
    });

    it('has the records that a repeated answer to a Bundle shows again', async () => {
      const as = setting === 'all' ? key : member;
      const batch = {
        resourceType: 'Bundle',
        type: 'batch',
        entry: [`Patient/${one}`, `Observation?subject=${other}`, `Patient?_id=${other}`].map((url) => ({
          request: { method: 'GET', url },
        })),
      };
      const headers = { 'Idempotency-Key': `again-${setting}` };
      const call = { method: 'POST', body: JSON.stringify(batch), headers, key: as };
      const first = await service.fhir('/', call);
      const again = await service.fhir('/', call);
      expect([again.text, again.headers.get('idempotent-replayed')]).to.deep.equal([first.text, 'true']);
      const entries = await entriesOf(again.headers.get('service-request-id') ?? '');
      expect(entries.map(({ record, action, count }) => [record, action, count])).to.deep.equal([
        [one, 'bundle', 1],
        [other, 'bundle', 2],
      ]);
    });

    it('names the member, and the key', async () => {
      await read(`/Patient/${other}`, member);
      await read(`/Patient/${other}`, key);
      const log = await service.fhir(`${service.url}/v1/patients/${other}/access-log?limit=200`, { key });
      const reads = (
        JSON.parse(log.text).data as { action: string; actor: string; actor_ref: string }[]
      ).filter(({ action }) => action === 'read');
      const byMember = { actor: 'owner@clinic.example', actor_ref: 'person/member' };
      expect(
        reads.some((entry) => entry.actor === byMember.actor && entry.actor_ref === byMember.actor_ref),
      ).to.equal(true);
      const byKey = reads.some(
        ({ actor, actor_ref }) => actor === 'Nightly' && actor_ref.startsWith('key/key_'),
      );
      expect(byKey).to.equal(setting === 'all');
    });

    it('sends nothing while it can’t be written', async () => {
      await service.pool.query('alter table operations.access_entry rename to access_entry_away');
      try {
        for (const path of [
          `/Patient/${one}`,
          '/Observation',
          '/v1/patients',
          `/v1/documents/${document}/content`,
        ])
          for (const as of [member, key]) {
            const url = path.startsWith('/v1') ? `${service.url}${path}` : path;
            const { status, text } = await service.fhir(url, { key: as });
            const isLogged = as === member || setting === 'all';
            expect(status, path).to.equal(isLogged ? 503 : 200);
            if (isLogged) expect(text).not.to.match(/Sand|Sund|Weight|Dear/);
          }
      } finally {
        await service.pool.query('alter table operations.access_entry_away rename to access_entry');
      }
      await eventually(async () => (await read('/Observation', member)).status === 200);
    });
  });
}
