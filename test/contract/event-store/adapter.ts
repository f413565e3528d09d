/** The contract suite's requirements for an adapter's test. */
import type { EventStore } from '#src/events/store.ts';

/** An empty log, and ways to open it. */
export interface LogUnderTest {
  /** Opens another store on the log in this process. The suite closes it. */
  open(): Promise<EventStore>;
  /** How another process opens a store on the log; undefined if the log is in this process's memory. */
  readonly process?: {
    /** A module that exports `openStore(): Promise<EventStore>` and reads `env`. */
    readonly module: string;
    readonly env: Readonly<Record<string, string>>;
  };
  /** Removes the log after every store has been closed. */
  drop(): Promise<void>;
}

/** Makes an empty log. */
export type Adapter = () => Promise<LogUnderTest>;

/** How long the load tests run, as a multiple of the full length: ANNAL_CONTRACT_LOAD, or 0.3 by default. */
export const SCALE = Number(process.env.ANNAL_CONTRACT_LOAD ?? 0.3);
