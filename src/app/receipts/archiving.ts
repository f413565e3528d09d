/**
 * Archives the running program's renderer once it has generated answers with receipts, and deletes renderers that no receipt
 * from the last two years names (docs/receipts.md).
 */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { hashCode, usedProgram } from '#src/operations/receipts/program.ts';
import { Renderers } from '#src/operations/receipts/renderers.ts';
import { bundleRenderer } from './bundle.ts';

/** The time from startup to the first round, and the time between rounds, in ms. */
const [FIRST_MS, ROUND_MS] = [60_000, 3_600_000];

/** Starts archiving; a failure is logged, and the next round tries again. */
export function startArchiving({ pool, log }: { readonly pool: Pool; readonly log: Logger }): {
  stop(): void;
} {
  const renderers = new Renderers(pool);
  let timer: NodeJS.Timeout;
  const round = (): void => {
    archiveRenderer(renderers)
      .then(() => renderers.sweep())
      .catch((error: unknown) => log.warn({ err: error }, 'the renderer of receipts was not archived'))
      .finally(() => {
        timer = setTimeout(round, ROUND_MS).unref();
      });
  };
  timer = setTimeout(round, FIRST_MS).unref();
  return { stop: () => clearTimeout(timer) };
}

/**
 * Archives the running program's renderer, if it has generated receipts and isn't archived yet.
 * @throws Error if the program's files have changed since it started, because they are no longer the running code
 */
export async function archiveRenderer(renderers: Pick<Renderers, 'use' | 'keep'>): Promise<void> {
  const program = usedProgram();
  if (program === undefined || (await renderers.use(program))) return;
  const code = await bundleRenderer();
  if (hashCode() !== program) throw new Error('the program’s files were changed while it runs; restart it');
  await renderers.keep(program, code);
}
