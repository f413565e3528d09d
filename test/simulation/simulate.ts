/** Runs the service in one process without external dependencies. A seed determines what happens. */
import { createHash } from 'node:crypto';
import { forgetParsed } from '#projections/parsed.ts';
import { Clients } from './clients.ts';
import { Cluster } from './cluster.ts';
import { Database } from './database.ts';
import { findBroken } from './invariants.ts';
import { FOLLOWERS } from './read-models.ts';
import { VirtualTime } from './virtual-time.ts';
import { calm, drawWeather, type Flaws } from './weather.ts';

/** The end of a run. */
export interface Simulated {
  /** A sentence for each violated invariant. */
  readonly faults: readonly string[];
  /** Number of requests by outcome. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Number of acknowledged writes. */
  readonly acknowledged: number;
  /** Number of events that ran, one after another. */
  readonly steps: number;
  /** A hash of the log and of everything that clients saw. The same seed gives the same hash. */
  readonly fingerprint: string;
}

const CLIENTS = 5;
const REQUESTS = 10;
/** Kills and outages happen before this time, in ms. */
const STORMY_MS = 600;
/** How long read models may take to catch up after the last request, and how long the whole run may take, in ms. */
const CATCH_UP_MS = 120_000;
const WHOLE_MS = 900_000;

/**
 * Runs a seed; call it within `inVirtualTime`.
 * @param flaws deliberate faults, to prove that they are found
 */
export async function simulate(seed: number, flaws: Flaws = {}): Promise<Simulated> {
  const time = new VirtualTime(seed);
  // Removes trees that an earlier run has parsed.
  forgetParsed();
  try {
    return await time.run(() => play(time, flaws), WHOLE_MS);
  } catch (error) {
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { faults: [told], outcomes: new Map(), acknowledged: 0, steps: time.steps, fingerprint: '' };
  }
}

async function play(time: VirtualTime, flaws: Flaws): Promise<Simulated> {
  const around = { time, weather: calm(), isAway: false };
  const database = new Database(flaws);
  const cluster = new Cluster(around, database, () => drawUuid(time));
  const clients = new Clients(cluster, time);
  await clients.begin();
  const weather = drawWeather(time.chance);
  around.weather = weather;
  const during = (work: () => void): void => {
    time.after(time.chance() * STORMY_MS, () => {
      if (around.weather === weather) work();
    });
  };
  for (let n = 0; n < weather.kills; n += 1) during(() => cluster.kill(Math.floor(time.chance() * 3)));
  for (let n = 0; n < weather.outages; n += 1)
    during(() => {
      around.isAway = true;
      time.after(time.chance() * 2_500, () => {
        around.isAway = false;
      });
    });
  await Promise.all(Array.from({ length: CLIENTS }, () => clients.run(REQUESTS)));
  around.weather = calm();
  around.isAway = false;
  for (const place of [0, 1, 2]) cluster.start(place);
  const catchUp = (): Promise<boolean[]> => {
    head = database.log.head();
    return Promise.all(
      cluster.instances.map(({ progress }) => progress.waitFor(head, FOLLOWERS, CATCH_UP_MS)),
    );
  };
  let head = database.log.head();
  let caughtUp = await catchUp();
  // Requests whose clients got no response may still be writing.
  while (database.log.head() !== head) caughtUp = await catchUp();
  const faults = findBroken(database, clients);
  if (caughtUp.includes(false)) {
    const behind = cluster.instances.map(({ progress }) =>
      FOLLOWERS.filter((name) => (progress.passed(name) ?? '') < head).join(),
    );
    faults.push(
      `read models did not catch up with ${head}: ${JSON.stringify([...database.models.checkpoints()])}, ${behind.join(' / ')}`,
    );
  }
  for (const error of cluster.faults)
    faults.push(`a fault of the service: ${error instanceof Error ? error.stack : String(error)}`);
  return {
    faults,
    outcomes: clients.outcomes,
    acknowledged: clients.acknowledged.length,
    steps: time.steps,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([database.log.events, clients.calls]))
      .digest('hex'),
  };
}

function drawUuid({ chance }: VirtualTime): string {
  const hex = Array.from({ length: 4 }, () =>
    Math.floor(chance() * 2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
