/**
 * Archives the renderer of the running program once it has made receipts, and deletes those that no receipt of the last two
 * years names (docs/receipts.md).
 */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { hashCode, usedProgram } from '#src/operations/receipts/program.ts';
import { Renderers } from '#src/operations/receipts/renderers.ts';
import { bundleRenderer } from './bundle.ts';

/** Time after the start, and between two rounds, in ms. */
const [FIRST_MS, ROUND_MS] = [60_000, 3_600_000];

/** Begins; a failure is logged, and the next round tries again. */
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
 * Archives the running program's renderer, if it has made receipts and isn't archived.
 * @throws Error if the program's files were changed since it started: they aren't the code that runs
 */
export async function archiveRenderer(renderers: Pick<Renderers, 'use' | 'keep'>): Promise<void> {
  const program = usedProgram();
  if (program === undefined || (await renderers.use(program))) return;
  const code = await bundleRenderer();
  if (hashCode() !== program) throw new Error('the program’s files were changed while it runs; restart it');
  await renderers.keep(program, code);
}
