/** Reads from the log what an answer is made again from. */
import type { Pool } from 'pg';
import { type ResourceAt, recordAt } from '#src/audit/record-at.ts';
import { Replay } from '#src/audit/replay.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import type { EventStore } from '#src/events/store.ts';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import { type ReceiptRow, unpack, unpackVersions } from '#src/operations/receipts/row.ts';
import type { LoggedVersion, Material } from '#src/receipts/material.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { deriveHiddenKey } from '#src/shared/access/id-exchange.ts';
import { isObject, type Json } from '#src/shared/json/json.ts';
import type { Moment } from '#src/shared/time/moment.ts';
import { toInstant } from '#src/shared/time/time.ts';

/** Where the parts of an answer are kept. */
export interface Archive {
  readonly store: EventStore;
  readonly pool: Pool;
}

/**
 * Returns the material of a receipt.
 * @throws StreamDeleted if the record was purged; UnreadableEvent, NewerEvent
 */
export async function loadMaterial({ store, pool }: Archive, row: ReceiptRow): Promise<Material> {
  const { kind, record, position, made_at: micros } = row;
  const inputs = unpack(row.inputs);
  const log = await loadRecord(store, record, { kind: 'time', micros }, inputs.directory);
  return {
    ...{ kind, record, inputs, ...log },
    position: position === null ? null : toInstant(position),
    parameters: unpack(row.parameters),
    named: unpackVersions(row.versions),
    files: {},
    hiddenKey: (await readHiddenKey(pool)).toString('base64'),
  };
}

/**
 * Returns the versions of a record until a moment, and those of entries of its owner's directory.
 * @param named JSON whose members are these entries
 * @throws as `loadMaterial`
 */
export async function loadRecord(
  store: EventStore,
  record: string,
  until: Moment,
  named: Json | undefined,
): Promise<Pick<Material, 'versions' | 'directory'>> {
  const versions: LoggedVersion[] = [];
  const owners: Tenant[] = [];
  const note = ({ metadata, body, ...version }: ResourceAt): void => {
    if (metadata.owner !== undefined) owners.push(metadata.owner);
    versions.push({ ...version, body: body ?? null, ...readAuthor(metadata) });
  };
  await recordAt(store.read(recordStream(record)), until, () => false, undefined, note);
  const keys = isObject(named) ? new Set(Object.keys(named)) : new Set<string>();
  const [owner] = owners;
  const isNamed = owner !== undefined && keys.size > 0;
  return { versions, directory: isNamed ? await readEntries(store, owner, keys) : [] };
}

function readAuthor({
  author,
  source_system: source,
}: EventMetadata): Pick<LoggedVersion, 'authorType' | 'source'> {
  return { authorType: author?.type ?? null, source: source ?? null };
}

/** Returns every version of some entries of a directory. @param keys `Type/id` */
async function readEntries(
  store: EventStore,
  owner: Tenant,
  keys: ReadonlySet<string>,
): Promise<LoggedVersion[]> {
  const found: LoggedVersion[] = [];
  for await (const { event, metadata } of new Replay(store.read(directoryStream(owner)))) {
    if (event.type !== 'ResourceCreated' && event.type !== 'ResourceUpdated') continue;
    const { resourceType: type, resourceId: id, version, body } = event;
    if (!keys.has(`${type}/${id}`)) continue;
    found.push({ type, id, version, body, recordedAt: metadata.recorded_at, ...readAuthor(metadata) });
  }
  return found;
}

/** Returns the key of hidden ids; an empty one if no grant was ever made. */
async function readHiddenKey(pool: Pool): Promise<Buffer> {
  const { rows } = await pool.query<{ key: Buffer }>('select key from operations.pairwise_key');
  return deriveHiddenKey(rows[0]?.key ?? Buffer.alloc(0));
}
