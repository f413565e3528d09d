/** Metrics about the log's followers: the state and lag of projections and processes. */
import { Gauge, type Registry } from 'prom-client';
import { resultInTime, shareRunning } from './share-running.ts';

export interface ProjectionState {
  readonly name: string;
  readonly state: string;
}

/** A follower's lag. */
export interface Lag {
  /** Number of events that the follower has not passed yet, counted up to a limit. */
  readonly events: number;
  /** Age of the oldest event that the follower has not passed yet, in seconds; 0 if there is none. */
  readonly seconds: number;
}

/** The data source for a scrape. */
export interface FollowersSource {
  readonly states: () => readonly ProjectionState[];
  /** Projections whose reads are refused because of their lag. */
  readonly stale: () => readonly string[];
  /** Names of the processes. */
  readonly processes: readonly string[];
  /**
   * Returns the number of parked events by process, leaving out processes without any. If the promise rejects or takes too
   * long, nothing is reported.
   */
  readonly parked: () => Promise<ReadonlyMap<string, number>>;
  /**
   * Returns lags by `projection <name>` and `process <name>`. If the promise rejects or takes too long, nothing is reported.
   */
  readonly lags: () => Promise<ReadonlyMap<string, Lag>>;
}

/** Registers the gauges. The data is read once per scrape, for all gauges together. */
export function observeFollowers(registry: Registry, source: FollowersSource): void {
  const { states, stale, processes, parked } = source;
  const registers = [registry];
  new Gauge({
    name: 'annal_projection_state',
    help: 'State of each projection on this instance: starting, following, running, retrying, failed, outdated.',
    labelNames: ['projection', 'state'],
    registers,
    collect() {
      this.reset();
      for (const { name, state } of states()) this.set({ projection: name, state }, 1);
    },
  });
  new Gauge({
    name: 'annal_projection_stale',
    help: '1 while reads of a projection are refused because it lags behind the log.',
    labelNames: ['projection'],
    registers,
    collect() {
      const behind = stale();
      for (const { name } of states()) this.set({ projection: name }, behind.includes(name) ? 1 : 0);
    },
  });
  const lookParked = shareRunning(parked);
  new Gauge({
    name: 'annal_process_parked_events',
    help: 'Parked events, which a process on any instance could not handle and retries.',
    labelNames: ['process'],
    registers,
    async collect() {
      const counts = await resultInTime(lookParked);
      this.reset();
      if (counts === undefined) return;
      for (const name of processes) this.set({ process: name }, counts.get(name) ?? 0);
    },
  });
  const lookLags = shareRunning(source.lags);
  const lags = (): Promise<ReadonlyMap<string, Lag> | undefined> => resultInTime(lookLags);
  const projections = (): string[] => states().map(({ name }) => name);
  observeLags(registry, 'projection', projections, lags);
  observeLags(registry, 'process', () => processes, lags);
}

function observeLags(
  registry: Registry,
  kind: 'projection' | 'process',
  names: () => readonly string[],
  lags: () => Promise<ReadonlyMap<string, Lag> | undefined>,
): void {
  const gauge = (unit: keyof Lag, help: string): void => {
    new Gauge({
      name: `annal_${kind}_lag_${unit}`,
      help: `${help}, on whichever instance it runs; absent when the log cannot be asked.`,
      labelNames: [kind],
      registers: [registry],
      async collect() {
        const found = await lags();
        this.reset();
        for (const name of names()) {
          const lag = found?.get(`${kind} ${name}`);
          if (lag !== undefined) this.set({ [kind]: name }, lag[unit]);
        }
      },
    });
  };
  gauge('events', `Events in the log that the ${kind} has not processed, counted up to 5000`);
  gauge('seconds', `Age of the oldest event that the ${kind} has not processed, 0 when there is none`);
}
