/** A request that ends access is answered only when that access has ended everywhere (docs/spec/decisions.md, section 3). */
import { expect } from 'chai';
import { describeAtFullSize } from '#test/support/scale.ts';
import { type AdminUser, signIn } from '../support/admin.ts';
import { type InProcess, startInProcess } from '../support/in-process.ts';
import { fetchOnce } from '../support/patience.ts';

describeAtFullSize('a revocation whose read model lags', () => {
  let service: InProcess;
  let user: AdminUser;
  before(async () => {
    service = await startInProcess();
    user = await signIn(service, 'revoker@example.org');
  });
  after(() => service.stop());

  it('is answered 503 while the key might still open a door; sent again it is done, and the key is dead', async () => {
    const { id: organization } = await user.done('POST', '/organizations', { name: 'Doors' });
    const project = await user.done('POST', `/organizations/${organization}/projects`, { name: 'Front' });
    const made = await user.done('POST', `/projects/${project.id}/keys`, {
      name: 'k',
      environment: 'sandbox',
    });
    expect((await service.fhir('/Patient', { key: made.key })).status).to.equal(200);
    const holder = await service.pool.connect();
    try {
      // The lock keeps any instance from advancing the read model.
      await holder.query('begin');
      await holder.query('select 1 from projects.checkpoint for update');
      const early = await user.ask('DELETE', `/keys/${made.id}`);
      expect([early.status, early.headers.get('retry-after')]).to.deep.equal([503, '1']);
      const headers = { Authorization: `Bearer ${made.key}` };
      expect((await fetchOnce(`${service.base}/Patient`, { headers })).status).to.equal(503);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    let again = await user.ask('DELETE', `/keys/${made.id}`);
    while (again.status === 503) again = await user.ask('DELETE', `/keys/${made.id}`);
    expect(again.status).to.equal(204);
    expect((await service.fhir('/Patient', { key: made.key })).status).to.equal(401);
  });
});
