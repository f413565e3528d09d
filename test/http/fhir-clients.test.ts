import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { Client, type FhirResource, type OpPatch } from 'fhir-kit-client';
import smart from 'fhirclient';
import { type Service, startService } from '#test/support/service.ts';

/** The parts of a Bundle that these tests use. */
interface Bundle {
  readonly resourceType: string;
  readonly type?: string;
  readonly total?: number;
  readonly entry?: readonly {
    readonly resource?: { readonly resourceType: string; readonly id: string };
    readonly response?: { readonly status: string };
  }[];
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
}

const idsOf = ({ entry = [] }: Bundle) => entry.map(({ resource }) => resource?.id ?? '');
const withLinks = (bundle: FhirResource) =>
  bundle as FhirResource & { link: { relation: string; url: string }[] };

/** Third-party FHIR clients, over real HTTP against the service in a separate process. */
describe('FHIR clients', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  /** Returns a transaction that creates a patient with the given number of observations. */
  const bundle = (count: number, family: string): FhirResource => ({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      {
        fullUrl: 'urn:uuid:0b1a3bd2-9e0b-4a0e-9c7c-0d7d2f1d0a01',
        resource: { resourceType: 'Patient', name: [{ family }] },
        request: { method: 'POST', url: 'Patient' },
      },
      ...Array.from({ length: count }, (_, n) => ({
        resource: {
          resourceType: 'Observation',
          status: 'final',
          code: { coding: [{ system: 'urn:clients', code: family }] },
          subject: { reference: 'urn:uuid:0b1a3bd2-9e0b-4a0e-9c7c-0d7d2f1d0a01' },
          valueInteger: n,
        },
        request: { method: 'POST', url: 'Observation' },
      })),
    ],
  });

  describe('fhir-kit-client', () => {
    let client: Client;
    before(() => {
      client = new Client({ baseUrl: `${service.url}/fhir/R4`, bearerToken: service.key });
    });

    it('reads the CapabilityStatement', async () => {
      const statement = (await client.capabilityStatement()) as FhirResource & { fhirVersion: string };
      expect(statement.resourceType).to.equal('CapabilityStatement');
      expect(statement.fhirVersion).to.equal('4.0.1');
    });

    it('creates, reads, updates, patches and deletes, and reads versions and history', async () => {
      const body = { resourceType: 'Patient', name: [{ family: 'Kit' }], gender: 'female' };
      const { id } = (await client.create({ resourceType: 'Patient', body })) as FhirResource & {
        id: string;
      };
      const read = await client.read({ resourceType: 'Patient', id });
      expect(read.gender).to.equal('female');
      await client.update({ resourceType: 'Patient', id, body: { ...body, id, gender: 'male' } });
      const jsonPatch: OpPatch[] = [{ op: 'replace', path: '/gender', value: 'other' }];
      const patched = await client.patch({ resourceType: 'Patient', id, jsonPatch });
      expect(patched.gender).to.equal('other');
      const second = await client.vread({ resourceType: 'Patient', id, version: '2' });
      expect(second.gender).to.equal('male');
      await client.delete({ resourceType: 'Patient', id });
      const history = (await client.history({ resourceType: 'Patient', id })) as Bundle;
      expect([history.type, history.total, history.entry?.length]).to.deep.equal(['history', 4, 4]);
      const gone = await client.read({ resourceType: 'Patient', id }).catch((error) => error.response.status);
      expect(gone).to.equal(410);
    });

    it('sends a transaction, searches by GET and POST, and pages to the end', async () => {
      const answer = (await client.transaction({ body: bundle(23, 'kit') })) as Bundle;
      expect(answer.entry?.every(({ response }) => response?.status.startsWith('201'))).to.equal(true);
      const searchParams = { code: 'urn:clients|kit', _count: '10', _sort: '_id' };
      let page: FhirResource | undefined = await client.search({ resourceType: 'Observation', searchParams });
      const seen: string[] = [];
      let pages = 0;
      while (page !== undefined) {
        expect((page as Bundle).total).to.equal(23);
        seen.push(...idsOf(page as Bundle));
        pages += 1;
        page = await client.nextPage({ bundle: withLinks(page) });
      }
      expect([pages, new Set(seen).size, seen.length]).to.deep.equal([3, 23, 23]);
      const posted = await client.search({
        resourceType: 'Observation',
        searchParams,
        options: { postSearch: true },
      });
      expect(idsOf(posted as Bundle)).to.deep.equal(seen.slice(0, 10));
      const [patient = ''] = idsOf(
        (await client.search({ resourceType: 'Patient', searchParams: { family: 'kit' } })) as Bundle,
      );
      const compartment = { resourceType: 'Patient', id: patient };
      const inside = await client.search({ resourceType: 'Observation', compartment });
      expect((inside as Bundle).total).to.equal(23);
    });
  });

  describe('fhirclient (SMART)', () => {
    /** Returns the client that an application has after launch, with a token. */
    const connect = () => {
      const request = new IncomingMessage(new Socket());
      const values = new Map<string, unknown>();
      return smart(request, new ServerResponse(request), {
        get: async (key) => values.get(key),
        set: async (key, value) => void values.set(key, value),
        unset: async (key) => values.delete(key),
      }).client({
        serverUrl: `${service.url}/fhir/R4`,
        tokenResponse: { access_token: service.key, token_type: 'Bearer' },
      });
    };

    it('finds out the version', async () => {
      expect(await connect().getFhirVersion()).to.equal('4.0.1');
      expect(await connect().getFhirRelease()).to.equal(4);
    });

    it('creates, reads, updates, patches and deletes, and reads history', async () => {
      const client = connect();
      const body = { resourceType: 'Patient', name: [{ family: 'Smart' }], gender: 'female' };
      const { id } = await client.create<{ id: string }>(body);
      expect((await client.request(`Patient/${id}`)).gender).to.equal('female');
      await client.update({ ...body, id, gender: 'male' });
      await client.patch(`Patient/${id}`, [{ op: 'replace', path: '/gender', value: 'other' }]);
      expect((await client.request(`Patient/${id}`)).gender).to.equal('other');
      await client.delete(`Patient/${id}`);
      const history = await client.request<Bundle>(`Patient/${id}/_history`);
      expect(history.total).to.equal(4);
      const refusal = await client.request(`Patient/${id}`).catch((error) => error.statusCode);
      expect(refusal).to.equal(410);
    });

    it('sends a transaction, and collects all pages of a search with what they refer to', async () => {
      const client = connect();
      await client.request({
        url: '/',
        method: 'POST',
        headers: { 'Content-Type': 'application/fhir+json' },
        body: JSON.stringify(bundle(23, 'smart')),
      });
      const found = await client.request<{ id: string; subject: { id: string } }[]>(
        'Observation?code=urn:clients|smart&_count=10',
        { pageLimit: 0, flat: true, resolveReferences: ['subject'] },
      );
      expect(new Set(found.map(({ id }) => id)).size).to.equal(23);
      expect(new Set(found.map(({ subject }) => subject.id)).size).to.equal(1);
    });
  });
});
