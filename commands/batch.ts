/** A batch Bundle: each entry is a separate command (https://hl7.org/fhir/R4/http.html#transaction). */

import type { Position } from '#src/events/store.ts';
import type { WriteEntry } from '#src/fhir/bundle.ts';
import { IdSource } from '#src/shared/ids.ts';
import type { CommandContext, KeepResult, WriteResult, Written } from './command.ts';
import type { Results } from './resource/deps.ts';

/** R4's order: DELETE, POST, PUT and PATCH. */
const STEPS: readonly (readonly WriteEntry['method'][])[] = [['DELETE'], ['POST'], ['PUT', 'PATCH']];

/** The number of entries in one step that run concurrently. */
const AT_ONCE = 8;

/**
 * Runs the entries step by step. Within a step they run concurrently, except for entries on the same resource, which keep
 * their order. An error affects only its own entry's result. Each result is stored as `keep` returns it, so bodies that won't
 * be shown take no memory. Each entry's command id, and so every id that the entry draws, is derived from the batch's command
 * id.
 */
export async function runBatch(
  ctx: CommandContext,
  writes: readonly WriteEntry[],
  run: (ctx: CommandContext, entry: WriteEntry) => Promise<Written<Results>>,
  keep: KeepResult = (result) => result,
): Promise<Written<Map<number, WriteResult | Error>>> {
  const result = new Map<number, WriteResult | Error>();
  let last: Position | undefined;
  const one = async (entry: WriteEntry): Promise<void> => {
    const ids = new IdSource(ctx.ids.at(entry.index, 'command'), ctx.ids.millis);
    try {
      const written = await run({ ...ctx, ids }, entry);
      const own = written.result.get(0);
      if (own !== undefined) result.set(entry.index, keep(own));
      if (written.position !== undefined && (last === undefined || written.position > last))
        last = written.position;
    } catch (error) {
      result.set(entry.index, error instanceof Error ? error : new Error(String(error)));
    }
  };
  for (const methods of STEPS) {
    const chains = new Map<string, WriteEntry[]>();
    for (const entry of writes) {
      if (!methods.includes(entry.method)) continue;
      const key = entry.id ?? `entry ${entry.index}`;
      const chain = chains.get(key);
      if (chain === undefined) chains.set(key, [entry]);
      else chain.push(entry);
    }
    // All workers draw from one iterator.
    const waiting = chains.values();
    const worker = async (): Promise<void> => {
      for (const chain of waiting) for (const entry of chain) await one(entry);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }
  return { result, position: last };
}
