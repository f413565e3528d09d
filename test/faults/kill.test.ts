/**
 * The service is killed with SIGKILL at random moments under load and restarted on the same DATA_DIR. Nothing that it
 * acknowledged is lost, nothing is half-applied, read models catch up, the hash chains are valid, and requests retried with
 * their Idempotency-Key wrote once.
 */

import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { z } from 'zod';
import { audit } from '../support/audit.ts';
import { runLoad } from '../support/load.ts';
import { Model } from '../support/model.ts';
import { type PlannedCommand, planCommands } from '../support/plan.ts';
import { EVENTSTORE_URL } from '../support/project.ts';
import { scaled, steadySeed } from '../support/scale.ts';
import { annal, type Service, startedDataDir, startService } from '../support/service.ts';
import { counted, tell } from '../support/tell.ts';

const RECORDS = 20;
const CLIENTS = 16;
/** Range for the random number of commands between two kills. */
const COMMANDS_BETWEEN = { least: 20, most: 250 };
/** Maximum additional delay in ms, so that the kill can fall anywhere in the handling of a request. */
const JITTER_MS = 30;

/** The findings of `annal verify --json`. */
const findings = z.object({
  log: z.array(z.object({ stream: z.string() })),
  readModels: z.array(z.unknown()),
});

describe('the service killed under load', function () {
  const kills = scaled(10, 1);
  this.timeout(120_000 + kills * 90_000);
  let dataDir: string;
  let service: Service;
  let key: string | undefined;
  const start = (): Promise<Service> =>
    startService({ dataDir, env: { RATE_LIMIT_PER_MINUTE: '100000000' }, ...(key !== undefined && { key }) });

  before(async () => {
    dataDir = await startedDataDir();
    service = await start();
    key = service.key;
  });
  after(async () => {
    await service.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  });

  it(`${kills} times loses nothing and leaves nothing half-done`, async () => {
    const seed = steadySeed();
    const model = new Model();
    let current = Promise.resolve(service);
    const pace = new Pace();
    const load = runLoad({
      model,
      commands: pace.of(planCommands(kills * COMMANDS_BETWEEN.most + 1_000, RECORDS, seed)),
      records: RECORDS,
      clients: CLIENTS,
      service: () => current,
      interrupted: true,
    });
    for (let killed = 0; killed < kills; killed += 1) {
      const { least, most } = COMMANDS_BETWEEN;
      await Promise.race([pace.after(least + Math.random() * (most - least)), load]);
      await pause(Math.random() * JITTER_MS);
      // The clients wait for the next service as soon as this one begins to die.
      const died = service.kill();
      current = died.then(start);
      service = await current;
    }
    pace.stop();
    const tally = await load;
    const told = `seed ${seed}; ${counted(tally)}`;
    tell(`${kills} kills, ${told}`);
    expect(
      [...tally.keys()].some((kind) => kind.endsWith('lost')),
      told,
    ).to.equal(true);
    const faults = await audit(service, model);
    expect(faults.slice(0, 10), told).to.deep.equal([]);
  });

  it('then still has the key that the first start wrote', async () => {
    const quickstart = JSON.parse(await readFile(join(dataDir, 'quickstart.json'), 'utf8')) as {
      sandbox_key: string;
    };
    expect(quickstart.sandbox_key).to.equal(key);
  });

  it('then verifies: hash chains and read models', async () => {
    const { code, json, output } = await annal(service, ['verify']);
    if (EVENTSTORE_URL === '') expect(code, output).to.equal(0);
    // A shared log contains other tests' streams that aren't records, and documents whose bytes those tests have removed.
    const { log, readModels } = findings.parse(json);
    expect(
      log.filter(({ stream }) => !stream.startsWith('contract-')),
      output,
    ).to.deep.equal([]);
    expect(readModels, output).to.deep.equal([]);
  });
});

/** Hands out commands until it is stopped, and reports when a given number of further commands have been taken. */
class Pace {
  #stopped = false;
  #due = 0;
  #reached: () => void = () => undefined;

  *of(commands: readonly PlannedCommand[]): Iterable<PlannedCommand> {
    for (const command of commands) {
      if (this.#stopped) return;
      this.#due -= 1;
      if (this.#due <= 0) this.#reached();
      yield command;
    }
  }

  after(commands: number): Promise<void> {
    this.#due = commands;
    return new Promise((resolve) => {
      this.#reached = resolve;
    });
  }

  stop(): void {
    this.#stopped = true;
  }
}
