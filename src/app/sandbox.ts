/** Provides sandboxes to the admin interface: their contents and their reset. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { isResetting } from '#commands/sandbox/decide.ts';
import type { SandboxQueue } from '#commands/sandbox/queue.ts';
import { requestReset } from '#commands/sandbox/request.ts';
import type { Sandboxes } from '#commands/sandbox/sandboxes.ts';
import { SANDBOX } from '#commands/sandbox/state.ts';
import type { SandboxQueries } from '#queries/admin/sandbox.ts';
import type { Traffic } from '#queries/admin/traffic.ts';
import { projectStream } from '../events/streams.ts';
import { syntheticPatients } from '../sandbox/ids.ts';
import { nowMicros, toInstant } from '../shared/time/time.ts';

/** How long the response to a reset waits for it to finish, in ms. */
const PATIENCE_MS = 20_000;
/** The time between two checks, in ms. */
const LOOK_EVERY = 100;

/** Opens them. */
export function openSandboxes({
  kernel,
  queries,
  usage,
  patients,
  queue,
}: {
  readonly kernel: Kernel;
  readonly queries: SandboxQueries;
  readonly usage: Traffic['usage'];
  /** The number of patients in a reset sandbox. */
  readonly patients: number;
  readonly queue: SandboxQueue;
}): Sandboxes {
  const sandboxes = new Streams(kernel, SANDBOX);
  return {
    async status(project) {
      const { current, resets } = (await sandboxes.read(projectStream(project))).state;
      const today = toInstant(nowMicros()).slice(0, 10);
      const made = current === undefined ? [] : syntheticPatients(current.resetId, current.patients);
      const [counts, days] = await Promise.all([
        queries.sandboxPatients({ project, environment: 'sandbox' }, made),
        usage(project, today, today),
      ]);
      return {
        syntheticPatients: counts.synthetic,
        ownPatients: counts.own,
        writesToday: days.find(({ environment }) => environment === 'sandbox')?.writes ?? 0,
        resets,
      };
    },
    async reset(by, organization, project) {
      // A second request for the same reset waits for it too.
      if (!isResetting((await sandboxes.read(projectStream(project))).state)) {
        const ask = () => requestReset(sandboxes, by, project, patients);
        await queue(by, organization, ask, (position) => position);
      }
      const deadline = performance.now() + PATIENCE_MS;
      for (;;) {
        const { current } = (await sandboxes.read(projectStream(project))).state;
        if (current === undefined || current.done) return true;
        if (performance.now() >= deadline) return false;
        await delay(LOOK_EVERY);
      }
    },
  };
}
