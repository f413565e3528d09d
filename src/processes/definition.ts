/** The definition of a process that follows the log, and the dependencies of such a process. */
import type { Pool } from 'pg';
import type { NewerEvents } from '../events/newer.ts';
import type { EventStore, RecordedEvent } from '../events/store.ts';

export interface ProcessDefinition {
  readonly name: string;
  /**
   * Prefixes of the streams that the process follows. By default all streams, so that the process's position soon passes any
   * position in the log.
   */
  readonly prefixes?: readonly string[];
  /** Types of events that the process acts on; events of other known types only move its position forward. */
  readonly types: readonly string[];
  /** Acts on an event; may be called again for the same event. */
  readonly act: (event: RecordedEvent) => Promise<unknown>;
  /**
   * Acts on many events in order, at a lower cost than one by one. If this fails, the events are handled one by one. Resolves
   * to whether there was anything to do; if not, saving the checkpoint may wait.
   */
  readonly actOnAll?: (events: readonly RecordedEvent[]) => Promise<boolean>;
  /** Called whenever this instance becomes the leader. */
  readonly begin?: () => void;
}

/** Dependencies of a process. */
export interface ProcessDeps {
  readonly store: EventStore;
  readonly pool: Pool;
  readonly databaseUrl: string;
  /**
   * Returns whether the event log responds to this instance. If it doesn't, the instance leaves the lead to others. By
   * default, the log is assumed to respond.
   */
  readonly logAnswers?: () => boolean;
  /** Informed about events that a newer version wrote. */
  readonly newer?: NewerEvents;
  readonly log: {
    info(details: object, message: string): void;
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
}

/** Times, for tests. */
export interface ProcessTimes {
  /** How often a follower tries to take over, and how long a failed runner waits before it continues, in ms. Default: 1,000. */
  readonly pauseMs?: number;
  /** How long a leader's session may be idle before the leader is considered hung, in ms. Default: 6,000. */
  readonly hungMs?: number;
  /** Pause before an event is tried for the second time, in ms; the pause doubles before each further try. Default: 100. */
  readonly firstPauseMs?: number;
  /** How often parked events are checked, in ms. Default: 10,000. */
  readonly parkedEveryMs?: number;
  /** How long an instance that is too old to read an event leaves the lead to others, in ms. Default: 30,000. */
  readonly newerPauseMs?: number;
  /**
   * How long an event may keep failing with temporary errors while the log and the database respond, in ms. Default: 600,000.
   */
  readonly patienceMs?: number;
}
