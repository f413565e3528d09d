/**
 * Makes the last entry of `everything`: the versions that somebody else had written before an AI changed them
 * (docs/shared-links.md).
 */
import type { Queries } from '#queries/queries.ts';
import { withdrawnAs } from '../clinical/reading/status.ts';
import { changedTag } from '../clinical/summary/changed-tag.ts';
import { codesIn, withNamedCodings } from '../clinical/summary/named-codings.ts';
import type { ResourceType } from '../fhir/types.ts';
import type { Caller } from '../shared/access/caller.ts';
import { parseStored } from '../shared/json/json.ts';
import type { Terminology } from '../terminology/terminology.ts';

/** The last version of a resource that somebody else wrote before an AI changed it. */
export interface Earlier {
  readonly type: ResourceType;
  readonly id: string;
  readonly version: number;
}

/** Bytes of versions that are in memory at a time; it may be exceeded by one version. */
const PART_BYTES = 1_000_000;

/**
 * Yields an entry with a Bundle of these versions, in pieces; nothing if none of them states something. An application that
 * reads the entries of the outer Bundle takes none of them for a fact.
 */
export async function* earlierEntry(
  {
    queries,
    displays,
    base,
    newId,
  }: {
    readonly queries: Pick<Queries, 'vread'>;
    readonly displays: Terminology['displays'];
    /** The FHIR base URL with its trailing slash. */
    readonly base: string;
    readonly newId: () => string;
  },
  caller: Caller,
  versions: readonly Earlier[],
): AsyncGenerator<string, undefined> {
  let told = 0;
  for await (const part of parts(queries, caller, versions)) {
    const names = await displays(part.flatMap(({ body }) => codesIn(body)));
    for (const { type, id, body } of part) {
      yield told === 0
        ? `{"fullUrl":"urn:uuid:${newId()}","resource":{"resourceType":"Bundle","type":"collection","entry":[`
        : ',';
      yield `{"fullUrl":"${base}${type}/${id}","resource":${withNamedCodings(body, names)}}`;
      told += 1;
    }
  }
  if (told > 0) yield `],${changedTag(told)}}}`;
}

/** A version and its JSON text. */
interface Told extends Earlier {
  readonly body: string;
}

/** Yields the versions that weren't withdrawn, a few at a time. */
async function* parts(
  { vread }: Pick<Queries, 'vread'>,
  caller: Caller,
  versions: readonly Earlier[],
): AsyncGenerator<readonly Told[], undefined> {
  let part: Told[] = [];
  let bytes = 0;
  for (const each of versions) {
    const body = (await vread(caller, each.type, each.id, each.version))?.body ?? undefined;
    if (body === undefined || withdrawnAs(parseStored(body)) !== undefined) continue;
    part.push({ ...each, body });
    bytes += body.length;
    if (bytes < PART_BYTES) continue;
    yield part;
    [part, bytes] = [[], 0];
  }
  if (part.length > 0) yield part;
}
