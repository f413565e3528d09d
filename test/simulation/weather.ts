/** The faults in a run. A seed determines how often they happen, so that some runs are calm and others aren't. */

import type { LogFlaws } from './memory-log.ts';

/** How often each fault happens, from 0 to 1, and how long it lasts, in ms. */
export interface Weather {
  /** A database request whose connection breaks before the request is carried out. */
  lostBefore: number;
  /** A database request that is carried out but whose response is lost. */
  lostAfter: number;
  /** A database request whose connection breaks, while the database still carries out the request a little later. */
  late: number;
  /** A request that takes a long time. */
  slow: number;
  /** How long that is. */
  slowMs: number;
  /** A notification that is lost. */
  deaf: number;
  /** A response to a client that is lost. */
  unanswered: number;
  /** A page that ends early. */
  short: number;
  /** A batch that a read model takes very long to process. */
  lag: number;
  /** How long that is. */
  lagMs: number;
  /** How often processes are killed, and how often the whole database fails, during the whole run. */
  kills: number;
  outages: number;
}

/** Deliberate faults, to prove that the simulation finds them. */
export interface Flaws extends LogFlaws {
  /** If true, criteria are never locked. */
  readonly ignoresLocks?: boolean;
  /** If true, attempts at requests with an Idempotency-Key aren't noted. */
  readonly ignoresNotes?: boolean;
  /** If true, writes are answered before read models show them. */
  readonly answersEarly?: boolean;
  /** If true, a read model accepts batches regardless of its checkpoint. */
  readonly ignoresCheckpoints?: boolean;
}

/** Returns random weather for a run. */
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
