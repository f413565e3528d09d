/** Finding resources by id without a question to the database, where this process remembers their record. */
import { recordStream } from '#src/events/streams.ts';
import { isResourceType } from '#src/fhir/types.ts';
import type { CommandContext, Located, Lookup } from '../command.ts';
import type { Streams } from '../kernel/streams.ts';
import type { Resources } from './state.ts';

/**
 * Locates the ids that references name. Ids never leave a record (deleted ones count, and a purged record
 * refuses the append), so a cached state is enough to locate its resources, even when it is behind the store.
 * @param patients the ids that would be Patients: their records are searched.
 * @param versions the lowest version that must exist of some ids: a cached state that is behind can't rule it
 * out.
 */
export async function locateKnown(
  resources: Streams<Resources>,
  lookup: Lookup,
  ctx: CommandContext,
  ids: ReadonlySet<string>,
  patients: readonly string[],
  versions: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, Located>> {
  const found = new Map<string, Located>();
  const { owner, within } = ctx.caller.sees;
  // The memory doesn't know which resources a grant covers.
  if (within !== undefined) return lookup.locate(ctx.caller, [...ids]);
  for (const patient of patients) {
    const stream = recordStream(patient);
    const known = resources.peek(stream);
    if (known?.owner?.project !== owner.project || known.owner.environment !== owner.environment) continue;
    for (const id of ids) {
      const entry = known.state.entries.get(id);
      if (entry && isResourceType(entry.type) && entry.version >= (versions.get(id) ?? 0))
        found.set(id, { type: entry.type, id, stream, version: entry.version, deleted: entry.deleted });
    }
  }
  const missing = [...ids].filter((id) => !found.has(id));
  if (missing.length === 0) return found;
  for (const [id, located] of await lookup.locate(ctx.caller, missing)) found.set(id, located);
  return found;
}
