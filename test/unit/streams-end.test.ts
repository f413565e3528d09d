/** given a long download · when access to it is lost partway through · then the rest isn't sent */
import { expect } from 'chai';
import { CHECKPOINT_ROUTES } from '#src/http/admin/audit/checkpoints.ts';
import { EXPORT_ROUTES } from '#src/http/admin/audit/exports.ts';
import { whileAllowed } from '#src/http/answer/while-allowed.ts';
import { recordDownload } from '#src/http/patient/data.ts';
import { notFound } from '#src/shared/refusal.ts';

const PIECE = 'x'.repeat(600_000);
async function* pieces(): AsyncGenerator<string> {
  for (let sent = 0; sent < 10; sent += 1) yield PIECE;
}
/**
 * Reads a stream to its end.
 * @returns how many pieces arrived, and what interrupted the stream
 */
async function read(stream: AsyncIterable<string | Buffer> | undefined): Promise<[number, unknown]> {
  let came = 0;
  try {
    for await (const _ of stream ?? []) came += 1;
    return [came, undefined];
  } catch (error) {
    return [came, error];
  }
}

describe('a download', () => {
  it('goes on while its reader may read, and asks again after each part', async () => {
    let asked = 0;
    const [came, error] = await read(
      whileAllowed(pieces(), async () => {
        asked += 1;
      }),
    );
    expect([came, error, asked]).to.deep.equal([10, undefined, 4]);
  });

  it('for an auditor breaks off when the role ends', async () => {
    const route = EXPORT_ROUTES.find(({ operationId }) => operationId === 'exportSigned');
    let asked = 0;
    const services = {
      adminQueries: {
        project: async () => {
          asked += 1;
          return asked === 1 ? { id: 'proj_1', filling: false, role: 'auditor' } : undefined;
        },
      },
      audit: {
        findHome: async () => ({ environment: 'sandbox', record: null }),
        exportHistory: async () => pieces(),
      },
    };
    const run = route?.accept({
      params: { project_id: 'proj_1' },
      query: new URLSearchParams(),
      body: { kind: 'history', resource: 'Organization/01a227be-9c0a-723c-9ea7-1599e08e91ba' },
    });
    const request = { services, identity: {}, concerns: () => undefined };
    const answer = await run?.(request as never);
    const [came, error] = await read(answer?.stream);
    expect(came).to.equal(2);
    expect(error).to.have.property('kind', 'not_found');
  });

  it('of a checkpoint breaks off when the operator’s role ends', async () => {
    const route = CHECKPOINT_ROUTES.find(({ operationId }) => operationId === 'downloadCheckpoint');
    let asked = 0;
    const services = {
      operatorOrganization: async () => 'org_1',
      adminQueries: {
        organization: async () => {
          asked += 1;
          return { role: asked === 1 ? 'admin' : 'developer' };
        },
      },
      audit: { findCheckpoint: async () => ({ id: 'chk_1', time: '' }), readCheckpoint: pieces },
    };
    const run = route?.accept({
      params: { checkpoint_id: 'chk_1' },
      query: new URLSearchParams(),
      body: undefined,
    });
    const answer = await run?.({ services, identity: {} } as never);
    const [came, error] = await read(answer?.stream);
    expect(came).to.equal(2);
    expect(error).to.have.property('kind', 'forbidden');
  });

  for (const kind of ['export', 'everything'])
    for (const ended of ['link', 'session'])
      it(`of a person's record (${kind}) breaks off when the ${ended} ends`, async () => {
        const visit = {
          ctx: { res: undefined },
          session: { person: {} },
          now: 0,
          say: () => 'text',
          api: { noteRead: async () => undefined, callerFor: async () => ({}) },
          deps: {
            pages: { exportRecord: pieces },
            operation: async () => ({ status: 200, headers: {}, stream: pieces() }),
            services: { consentQueries: { linkTo: async () => (ended === 'link' ? undefined : {}) } },
            visitors: { isSignedIn: async () => ended !== 'session' },
          },
        };
        const record = { record: '01a227be', name: 'Berg' };
        const outcome = await recordDownload(visit as never, record as never, kind);
        const { download } = outcome as { readonly download: { readonly stream?: AsyncIterable<string> } };
        const [came, error] = await read(download.stream);
        expect(came).to.equal(2);
        expect(error).to.be.instanceOf(notFound('Patient', 'x').constructor);
      });
});
