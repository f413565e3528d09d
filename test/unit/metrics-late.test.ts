/** A scrape of `/metrics` finishes soon, whatever state the stores are in. */
import { expect } from 'chai';
import { measureLags } from '#projections/lag.ts';
import { BEGINNING, type Position } from '#src/events/store.ts';
import { observeFollowers } from '#src/metrics/followers.ts';
import { createMetrics } from '#src/metrics/registry.ts';
import { observeWebhooks } from '#src/metrics/webhooks.ts';

describe('metrics of followers', () => {
  it('say nothing of what is not found within two seconds, and the rest', async () => {
    const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
    const silent = { head: () => never<Position>(), subscribe: () => expect.fail('there is no head') };
    const { registry } = createMetrics();
    observeFollowers(registry, {
      states: () => [{ name: 'resources', state: 'running' }],
      stale: () => [],
      processes: ['erasure'],
      parked: () => never(),
      lags: () => measureLags(silent, new Map([['resources', BEGINNING]])),
    });
    const began = performance.now();
    const text = await registry.metrics();
    expect(performance.now() - began).to.be.lessThan(3_000);
    expect(text).to.contain('annal_projection_state{projection="resources",state="running"} 1');
    expect(text).to.not.match(/^annal_(projection_lag|process_parked)\w*\{/m);
  });
});

describe('metrics of webhooks', () => {
  it('say nothing of a backlog that can’t be read: 0 would mean that nothing waits', async () => {
    const { registry } = createMetrics();
    let isAway = false;
    observeWebhooks(registry, async () => {
      if (isAway) throw new Error('the database is away');
      return { due: 3, oldest: 40, waiting: 1 };
    });
    const gauges = /^annal_webhook_(due|oldest|waiting)\w*/gm;
    expect((await registry.metrics()).match(gauges)).to.have.length(3);
    isAway = true;
    expect((await registry.metrics()).match(gauges)).to.equal(null);
    isAway = false;
    expect(await registry.metrics()).to.match(/^annal_webhook_oldest_due_seconds 40$/m);
  });

  it('name no endpoint, so that their number is bounded', async () => {
    const { registry } = createMetrics();
    const attempted = observeWebhooks(registry, async () => ({ due: 0, oldest: 0, waiting: 0 }));
    attempted({ delivered: true, timedOut: false, status: 200, seconds: 1 });
    expect(await registry.metrics()).to.match(/^annal_webhook_attempt_duration_seconds_count 1$/m);
  });
});
