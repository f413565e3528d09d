/** Metrics about the event store. They are measured at the port, so they are the same for every store. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { EventStore } from '#src/events/store.ts';
import { wrappedStore } from '#src/events/wrapped-store.ts';
import { DURATIONS } from './registry.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Upper bounds for counts of events or appends. */
const COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000];
/** The port's errors, by name; any other error is `error`. */
const OUTCOMES: Readonly<Record<string, string>> = {
  Conflict: 'conflict',
  StreamDeleted: 'deleted',
  TooLarge: 'too_large',
  Unavailable: 'unavailable',
};

/** Records a batch, in which a store writes several appends at once. */
export type BatchWritten = (appends: number) => void;

/** Registers metrics that only the embedded log has: how many appends share a commit. */
export function observeBatches(registry: Registry): BatchWritten {
  const batches = new Histogram({
    name: 'annal_append_batch_appends',
    help: 'Appends that the embedded log committed together; empty on EventStoreDB.',
    buckets: COUNTS,
    registers: [registry],
  });
  return (appends) => batches.observe(appends);
}

/**
 * Returns a store that behaves like the given store, but measures its calls.
 * @param kind `postgresql` or `eventstoredb`
 */
export function observeStore(
  registry: Registry,
  store: EventStore,
  { kind, subscriptions }: { readonly kind: string; readonly subscriptions: Subscriptions },
): EventStore {
  const registers = [registry];
  const durations = new Histogram({
    name: 'annal_append_duration_seconds',
    help: 'Time of an append to the event store, until it is durable, by outcome: ok, conflict, deleted, too_large, unavailable, error.',
    labelNames: ['outcome'],
    buckets: DURATIONS,
    registers,
  });
  const sizes = new Histogram({
    name: 'annal_append_events',
    help: 'Events in an append that succeeded.',
    buckets: COUNTS,
    registers,
  });
  const appended = new Counter({
    name: 'annal_events_appended_total',
    help: 'Events that this instance has appended, by type.',
    labelNames: ['type'],
    registers,
  });
  new Gauge({
    name: 'annal_event_store_info',
    help: 'Always 1; the label says which event store is used.',
    labelNames: ['kind'],
    registers,
  }).set({ kind }, 1);
  return wrappedStore(store, {
    async append(stream, expected, events) {
      const began = performance.now();
      let outcome = 'ok';
      try {
        const result = await store.append(stream, expected, events);
        sizes.observe(events.length);
        for (const { type } of events) appended.inc({ type });
        return result;
      } catch (error) {
        outcome = (error instanceof Error ? OUTCOMES[error.name] : undefined) ?? 'error';
        throw error;
      } finally {
        durations.observe({ outcome }, (performance.now() - began) / 1_000);
      }
    },
    subscribe: (options) => subscriptions.measured(store, options),
  });
}
