import { once } from 'node:events';
import type { Server } from 'node:http';
import { expect } from 'chai';
import Koa from 'koa';
import { Head, send } from '#src/http/answer/send.ts';
import { OpenDialect } from '#src/http/api/open-interface.ts';
import type { OpenService } from '#src/http/api/open-route.ts';
import { RouteTable } from '#src/http/api/table.ts';
import { HEALTH_ROUTES, measureReadiness } from '#src/http/health.ts';
import { Pipeline, type Steps } from '#src/http/pipeline.ts';
import type { ReadinessChecks } from '#src/http/ports/metrics.ts';
import { createMetrics } from '#src/metrics/registry.ts';
import { portOf } from '#test/support/process.ts';

describe('health', () => {
  const metrics = createMetrics();
  let checks: Record<string, () => Promise<string | undefined>>;
  let server: Server;
  let base: string;

  before(async () => {
    const proxied: ReadinessChecks = {
      database: () => checks.database?.() ?? Promise.resolve(undefined),
      projections: () => checks.projections?.() ?? Promise.resolve(undefined),
    };
    measureReadiness(metrics, proxied);
    const largeBodies = { run: (_: unknown, __: unknown, work: () => unknown) => work() };
    const steps = { freshness: { require: () => undefined }, largeBodies } as unknown as Steps;
    const service = { checks: proxied, metrics } as unknown as OpenService;
    const table = new RouteTable(HEALTH_ROUTES);
    const routes = new Pipeline(steps, new OpenDialect({ table, service, largeBodies: steps.largeBodies }));
    server = new Koa()
      .use(async (ctx) => {
        ctx.state.head = new Head([]);
        await send(ctx, (await routes.answer(ctx)) ?? { status: 404, headers: {} });
      })
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${portOf(server)}`;
  });
  beforeEach(() => {
    checks = {};
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('is ready when every part is', async () => {
    const answer = await fetch(`${base}/health/ready`);
    expect(answer.status).to.equal(200);
    expect(await answer.json()).to.deep.equal({
      status: 'ready',
      checks: { database: 'ok', projections: 'ok' },
    });
  });

  it('tells what a part that is there has to tell', async () => {
    checks.projections = () => Promise.resolve('upgrade this instance');
    const answer = await fetch(`${base}/health/ready`);
    expect(answer.status).to.equal(200);
    expect(await answer.json()).to.deep.include({
      status: 'ready',
      message: 'projections (upgrade this instance)',
    });
  });

  it('names the parts that are missing, and lives on', async () => {
    checks.database = () => Promise.reject(new Error('password of annal is wrong'));
    const answer = await fetch(`${base}/health/ready`);
    expect(answer.status).to.equal(503);
    expect(answer.headers.get('retry-after')).to.equal('1');
    expect(await answer.json()).to.deep.equal({
      status: 'unavailable',
      checks: { database: 'unavailable', projections: 'ok' },
      message: 'not ready: database',
    });
    expect((await fetch(`${base}/health/live`)).status).to.equal(200);
  });

  it('takes a part that does not answer for one that is missing', async () => {
    checks.projections = () => new Promise(() => undefined);
    const answer = (await (await fetch(`${base}/health/ready`)).json()) as { message: string };
    expect(answer.message).to.equal('not ready: projections');
  });

  it('answers HEAD', async () => {
    expect((await fetch(`${base}/health/live`, { method: 'HEAD' })).status).to.equal(200);
  });

  it('gives metrics of the process, and of requests by route', async () => {
    metrics.observeRequest('GET', '/fhir/R4/:type/:id', 200, 0.002);
    const answer = await fetch(`${base}/metrics`);
    expect(answer.headers.get('content-type')).to.contain('text/plain');
    const text = await answer.text();
    expect(text).to.contain('process_cpu_seconds_total');
    expect(text).to.contain(
      'http_request_duration_seconds_count{method="GET",route="/fhir/R4/:type/:id",status="200"} 1',
    );
  });
});
