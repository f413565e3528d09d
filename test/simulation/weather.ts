/** Faults in a run: a seed decides how often they happen, so that some runs are calm and others aren't. */

import type { LogFlaws } from './memory-log.ts';

/** How often each fault happens, from 0 to 1, and durations, in ms. */
export interface Weather {
  /** A database request that breaks before it is carried out. */
  lostBefore: number;
  /** A database request that is carried out, but whose response is lost. */
  lostAfter: number;
  /** A database request whose connection breaks, while the database still carries it out a little later. */
  late: number;
  /** A request that takes long. */
  slow: number;
  /** How long that is. */
  slowMs: number;
  /** A notification that is lost. */
  deaf: number;
  /** A response to a client that is lost. */
  unanswered: number;
  /** A page that ends early. */
  short: number;
  /** A batch that takes a read model very long. */
  lag: number;
  /** How long that is. */
  lagMs: number;
  /** Number of times that processes are killed, and that the whole database fails, in the whole run. */
  kills: number;
  outages: number;
}

/** Built-in faults, to prove that they are found. */
export interface Flaws extends LogFlaws {
  /** Criteria are never locked. */
  readonly ignoresLocks?: boolean;
  /** Attempts at requests with an Idempotency-Key aren't noted. */
  readonly ignoresNotes?: boolean;
  /** Writes are answered before read models show them. */
  readonly answersEarly?: boolean;
  /** A read model accepts batches wherever its checkpoint is. */
  readonly ignoresCheckpoints?: boolean;
}

/** Returns a run's weather. */
export function drawWeather(chance: () => number): Weather {
  const often = (most: number): number => (chance() < 0.4 ? 0 : chance() * most);
  return {
    lostBefore: often(0.04),
    lostAfter: often(0.04),
    late: often(0.02),
    slow: often(0.2),
    slowMs: 20 + chance() * 300,
    deaf: often(0.5),
    unanswered: often(0.1),
    short: often(0.5),
    lag: often(0.05),
    lagMs: chance() < 0.3 ? 14_000 : 300,
    kills: Math.floor(often(4)),
    outages: Math.floor(often(3)),
  };
}

/** Returns weather without faults. */
export function calm(): Weather {
  return {
    ...{ lostBefore: 0, lostAfter: 0, late: 0, slow: 0, slowMs: 0, deaf: 0, unanswered: 0, short: 0 },
    ...{ lag: 0, lagMs: 0, kills: 0, outages: 0 },
  };
}
