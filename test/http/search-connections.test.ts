/** Searches use separate connections, whose statements are planned once. */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { readMetrics } from '#test/support/metrics.ts';

describe('connections of searches', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  it('are six at most for many searches of one project at once, and all are answered', async () => {
    const asked = Array.from({ length: 40 }, () =>
      service.fhir('/Observation?code=a&date=ge2020&date=lt2021'),
    );
    for (const { status } of await Promise.all(asked)) expect(status).to.equal(200);
    const text = await readMetrics(service.url);
    const open = [...text.matchAll(/^annal_pool_connections\{pool="searches",state="\w+"\} (\d+)$/gm)];
    expect(open).to.have.length(2);
    expect(open.reduce((sum, [, count]) => sum + Number(count), 0)).to.be.within(1, 6);
  });
});
