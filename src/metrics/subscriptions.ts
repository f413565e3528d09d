/** Metrics about subscriptions to the log: whether they run, what they deliver, and how often they fail. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { Observable } from 'rxjs';
import type { EventStore, Position, SubscribeOptions } from '#src/events/store.ts';
import { DURATIONS } from './registry.ts';

/** A process's own subscription to EventStoreDB, on which all its subscribers' subscriptions depend. */
const LOG = { subscriber: 'event log' } as const;

/** Metrics about all subscriptions of one service. */
export class Subscriptions {
  readonly #active: Gauge<'subscriber'>;
  readonly #failures: Counter<'subscriber'>;
  readonly #events: Counter<'subscriber'>;
  readonly #durations: Histogram<'subscriber'>;

  constructor(registry: Registry) {
    const labelNames = ['subscriber'] as const;
    const registers = [registry];
    this.#active = new Gauge({
      name: 'annal_subscription_active',
      help: 'Subscriptions to the log that this instance runs; a projection or process runs on one instance.',
      labelNames,
      registers,
    });
    this.#failures = new Counter({
      name: 'annal_subscription_failures_total',
      help: 'Subscriptions that failed because of the store or the subscriber. Each of them is restarted.',
      labelNames,
      registers,
    });
    this.#events = new Counter({
      name: 'annal_subscription_events_total',
      help: 'Events that were delivered and processed.',
      labelNames,
      registers,
    });
    this.#durations = new Histogram({
      name: 'annal_subscription_batch_duration_seconds',
      help: "Time that a subscriber took for a batch of events; empty batches don't count.",
      labelNames,
      buckets: DURATIONS,
      registers,
    });
  }

  /** Notes that the store's own subscription is following the log or has failed. */
  readonly following = (follows: boolean): void => {
    this.#active.set(LOG, follows ? 1 : 0);
    this.#failures.inc(LOG, follows ? 0 : 1);
  };

  /** Returns a subscription; it is measured if it has a name. */
  measured(store: Pick<EventStore, 'subscribe'>, options: SubscribeOptions): Observable<Position> {
    const { name } = options;
    if (name === undefined) return store.subscribe(options);
    const labels = { subscriber: name };
    this.#active.inc(labels, 0);
    this.#failures.inc(labels, 0);
    const handle: SubscribeOptions['handle'] = async (batch) => {
      const began = performance.now();
      await options.handle(batch);
      if (batch.events.length === 0) return;
      this.#durations.observe(labels, (performance.now() - began) / 1_000);
      this.#events.inc(labels, batch.events.length);
    };
    return new Observable((subscriber) => {
      this.#active.inc(labels);
      const inner = store.subscribe({ ...options, handle }).subscribe({
        next: (position) => subscriber.next(position),
        error: (error: unknown) => {
          this.#failures.inc(labels);
          subscriber.error(error);
        },
        complete: () => subscriber.complete(),
      });
      return () => {
        this.#active.dec(labels);
        inner.unsubscribe();
      };
    });
  }
}
