/** Metrics about the database resources in use: connections, locks, reserved requests. */
import { Gauge, type Registry } from 'prom-client';

export interface PoolState {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max?: number | undefined };
}

/** Registers gauges for pools, by name. */
export function observePools(registry: Registry, pools: Readonly<Record<string, PoolState>>): void {
  const each = Object.entries(pools);
  const registers = [registry];
  new Gauge({
    name: 'annal_pool_connections',
    help: 'Open connections of a pool, by whether they are in_use or idle.',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, { totalCount, idleCount }] of each) {
        this.set({ pool, state: 'in_use' }, totalCount - idleCount);
        this.set({ pool, state: 'idle' }, idleCount);
      }
    },
  });
  new Gauge({
    name: 'annal_pool_max_connections',
    help: 'Maximum number of connections of a pool.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, { options }] of each) this.set({ pool }, options.max ?? 0);
    },
  });
  new Gauge({
    name: 'annal_pool_waiting',
    help: 'Requests that wait for a connection of a pool.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, { waitingCount }] of each) this.set({ pool }, waitingCount);
    },
  });
}

/** Holds locks on criteria while a piece of work runs. */
interface Locks {
  hold<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
}

/** Returns the same locks, with gauges for the work that holds them or waits for them. */
export function observeLocks(registry: Registry, locks: Locks): Locks {
  const registers = [registry];
  const holding = new Gauge({
    name: 'annal_criteria_locks_held',
    help: 'Commands of this instance that hold locks on conditional criteria.',
    registers,
  });
  const waiting = new Gauge({
    name: 'annal_criteria_locks_waiting',
    help: 'Commands of this instance that wait for locks on conditional criteria.',
    registers,
  });
  return {
    async hold(keys, work) {
      let state = waiting;
      state.inc();
      try {
        return await locks.hold(keys, () => {
          state.dec();
          state = holding;
          state.inc();
          return work();
        });
      } finally {
        state.dec();
      }
    },
  };
}

/** Registers the gauge for requests with an `Idempotency-Key` that are running in this process. */
export function observeIdempotency(registry: Registry, running: () => number): void {
  new Gauge({
    name: 'annal_idempotent_requests_running',
    help: 'Requests with an Idempotency-Key that this instance has reserved and not yet answered.',
    registers: [registry],
    collect() {
      this.set(running());
    },
  });
}
