/** What the contract suite asks of an adapter's test. */
import type { EventStore } from '#src/events/store.ts';

/** An empty log, and ways to it. */
export interface LogUnderTest {
  /** Opens one more store on the log in this process. The suite closes it. */
  open(): Promise<EventStore>;
  /** How another process opens a store on the log; undefined if the log is in the memory of this one. */
  readonly process?: {
    /** A module that exports `openStore(): Promise<EventStore>`, reading `env`. */
    readonly module: string;
    readonly env: Readonly<Record<string, string>>;
  };
  /** Removes the log once every store is closed. */
  drop(): Promise<void>;
}

/** Makes an empty log. */
export type Adapter = () => Promise<LogUnderTest>;

/** How many times as long as usual the load tests are: ANNAL_CONTRACT_LOAD; a part of it by default. */
export const SCALE = Number(process.env.ANNAL_CONTRACT_LOAD ?? 0.3);
