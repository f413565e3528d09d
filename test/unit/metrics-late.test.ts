/** A scrape of `/metrics` finishes soon, whatever state the stores are in. */
import { expect } from 'chai';
import { measureLags } from '#projections/lag.ts';
import { BEGINNING, type Position } from '#src/events/store.ts';
import { observeFollowers } from '#src/metrics/followers.ts';
import { createMetrics } from '#src/metrics/registry.ts';

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
