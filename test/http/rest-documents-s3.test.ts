import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import S3rver from 's3rver';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { restOf } from '#test/support/rest.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

/** The same documents in a bucket: clients send and fetch bytes directly, without the service. */
describe('documents in a bucket', () => {
  let bucket: S3rver;
  let service: InProcess;
  let patient: string;
  before(async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as { port: number };
    probe.close();
    await once(probe, 'close');
    const directory = await temporaryFolder();
    const configureBuckets = [{ name: 'annal', configs: [] }];
    bucket = new S3rver({ port, silent: true, directory, configureBuckets });
    await bucket.run();
    service = await startInProcess(
      {},
      {
        DOCUMENTS_S3_BUCKET: 'annal',
        DOCUMENTS_S3_ENDPOINT: `http://127.0.0.1:${port}`,
        DOCUMENTS_S3_ACCESS_KEY_ID: 'S3RVER',
        DOCUMENTS_S3_SECRET_ACCESS_KEY: 'S3RVER',
      },
    );
    patient = String((await made('/patients', { family: 'Berg' })).id);
  });
  after(async () => {
    await service.stop();
    await bucket.close();
  });

  const { v1, get, made } = restOf(() => service);

  it('are uploaded there, finalized, downloaded either way, and purged', async () => {
    const path = `/patients/${patient}/documents`;
    const { id, upload } = await made(path, { title: 'Note', content_type: 'text/plain' });
    const { url, method, headers } = upload as {
      url: string;
      method: string;
      headers: Record<string, string>;
    };
    expect(url).not.to.contain(service.url);
    expect((await v1('POST', `/documents/${String(id)}/finalize`)).status).to.equal(409);
    const put = await fetch(url, { method, headers, body: 'Straight there' });
    expect(put.status, await put.text()).to.equal(200);
    const final = await v1('POST', `/documents/${String(id)}/finalize`, { size: 14 });
    expect([final.status, final.json.status], final.text).to.deep.equal([200, 'final']);
    const shown = (await get(`/documents/${String(id)}`)).json;
    const direct = await fetch(String(shown.download_url));
    expect(await direct.text()).to.equal('Straight there');
    expect(direct.headers.get('content-disposition')).to.equal('attachment; filename=Note.txt');
    const content = `${service.url}/v1/documents/${String(id)}/content`;
    const part = await fetch(content, {
      headers: { Authorization: `Bearer ${service.key}`, Range: 'bytes=9-' },
    });
    expect([part.status, await part.text()]).to.deep.equal([206, 'there']);
    const purged = await service.fhir(`/Patient/${patient}?_purge=true`, { method: 'DELETE' });
    expect(purged.status, purged.text).to.equal(204);
    expect((await fetch(String(shown.download_url))).status).to.equal(404);
  });
});
