/** Finding resources by id without a question to the database, where this process remembers their record. */
import { recordStream } from '#src/events/streams.ts';
import { isResourceType } from '#src/fhir/types.ts';
import type { CommandContext, Located, Lookup } from '../command.ts';
import type { Streams } from '../kernel/streams.ts';
import type { Resources } from './state.ts';

/**
 * Locates ids that references name. What was once in a record stays in it (deleted ones count, and a purged record
 * refuses the append), so a remembered state answers for its own resources, whether or not it is behind the store.
 * @param patients ids among them that would be Patients: their records are looked into.
 * @param versions the least version that must be there of some of them: a state that is behind cannot deny it.
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
  const { project, environment } = ctx.caller.tenant;
  for (const patient of patients) {
    const stream = recordStream(patient);
    const known = resources.peek(stream);
    if (known?.owner?.project !== project || known.owner.environment !== environment) continue;
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
