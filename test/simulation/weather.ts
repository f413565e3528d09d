/** What goes wrong in a run: a seed decides how often, so that some runs are calm and others aren't. */

import type { LogFlaws } from './memory-log.ts';

/** How often each fault happens, from 0 to 1, and the times of what takes time, in ms. */
export interface Weather {
  /** A request to the database that breaks before it is carried out. */
  lostBefore: number;
  /** One that is carried out, but whose answer is lost. */
  lostAfter: number;
  /** One whose connection breaks while the database still carries it out, a little later. */
  late: number;
  /** A request that takes long. */
  slow: number;
  /** How long that is. */
  slowMs: number;
  /** A notification that is lost. */
  deaf: number;
  /** An answer to a client that is lost. */
  unanswered: number;
  /** A page that ends early. */
  short: number;
  /** A batch for which a read model takes very long. */
  lag: number;
  /** How long that is. */
  lagMs: number;
  /** Kills of processes, and failures of the whole database, in the whole run. */
  kills: number;
  outages: number;
}

/** Faults that are built in, to prove that they are found. */
export interface Flaws extends LogFlaws {
  /** Criteria are never locked. */
  readonly ignoresLocks?: boolean;
  /** Attempts of requests with an Idempotency-Key aren't noted. */
  readonly ignoresNotes?: boolean;
  /** Writes are answered before read models show them. */
  readonly answersEarly?: boolean;
  /** A read model takes batches from wherever its checkpoint is. */
  readonly ignoresCheckpoints?: boolean;
}

/** Returns the weather of a run. */
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

/** Returns a weather without faults. */
export function calm(): Weather {
  return {
    ...{ lostBefore: 0, lostAfter: 0, late: 0, slow: 0, slowMs: 0, deaf: 0, unanswered: 0, short: 0 },
    ...{ lag: 0, lagMs: 0, kills: 0, outages: 0 },
  };
}
