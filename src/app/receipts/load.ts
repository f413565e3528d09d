/** Reads from the log the data that is needed to generate an answer again. */
import type { Pool } from 'pg';
import { type ResourceAt, recordAt } from '#src/audit/record-at.ts';
import { Replay } from '#src/audit/replay.ts';
import { type BlobKey, BlobMissing, type DocumentStore } from '#src/documents/store.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import type { EventStore } from '#src/events/store.ts';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import { heldContents } from '#src/fhir/document-content.ts';
import { readReplies } from '#src/mcp/replies.ts';
import { type ReceiptRow, unpack, unpackVersions } from '#src/operations/receipts/row.ts';
import type { LoggedVersion, Material } from '#src/receipts/material.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { deriveHiddenKey } from '#src/shared/access/id-exchange.ts';
import { isObject, type JsonObject, parseStored } from '#src/shared/json/json.ts';
import type { Moment } from '#src/shared/time/moment.ts';
import { toInstant } from '#src/shared/time/time.ts';
import type { ArchivedRenderers } from './archived.ts';

/** The stores that hold the parts of an answer, and the renderers of other program versions. */
export interface Archive {
  readonly store: EventStore;
  readonly pool: Pool;
  /** Opens the document store. */
  readonly documents: () => Promise<Pick<DocumentStore, 'get'>>;
  readonly renderers: Pick<ArchivedRenderers, 'render'>;
  /** The maximum size of a record's current versions, in bytes; default: no limit. */
  readonly most?: number;
}

/**
 * An allowance for clock differences, in µs: if an instance's clock is ahead, a version may have a later time than the answer
 * that shows it.
 */
const SKEW = 10 * 60_000_000;

/**
 * Returns the material for a receipt.
 * @throws StreamDeleted if the record was purged; UnreadableEvent, NewerEvent; Refusal too_large (413)
 */
export async function loadMaterial(archive: Archive, row: ReceiptRow): Promise<Material> {
  const { store, pool } = archive;
  const { kind, record, position } = row;
  const [parameters, inputs] = [unpack(row.parameters), unpack(row.inputs)];
  // If the answer was as of a past time, visibility depends on the versions that were current when the answer was generated.
  const skew = parameters.is_past === true ? 0 : SKEW;
  const micros = Math.max(row.made_at, position ?? 0) + skew;
  const named = unpackVersions(row.versions);
  const log = await loadRecord(
    store,
    record,
    { kind: 'time', micros },
    new Set([...listIds(inputs), ...named.map(({ id }) => id)]),
    archive.most,
  );
  const material = {
    ...{ kind, record, inputs, ...log },
    position: position === null ? null : toInstant(position),
    parameters,
    named,
  };
  return {
    ...material,
    files: await readFiles(archive, material),
    hiddenKey: (await readHiddenKey(pool)).toString('base64'),
  };
}

/**
 * Returns a record's versions up to a given time, and the versions of the given entries in its owner's directory.
 * @param ids of the directory entries; may include other ids
 * @throws the same errors as `loadMaterial`
 */
export async function loadRecord(
  store: EventStore,
  record: string,
  until: Moment,
  ids: ReadonlySet<string>,
  most?: number,
): Promise<Pick<Material, 'versions' | 'directory'>> {
  const versions: LoggedVersion[] = [];
  const owners: Tenant[] = [];
  const note = ({ metadata, body, ...version }: ResourceAt): void => {
    if (metadata.owner !== undefined) owners.push(metadata.owner);
    versions.push({ ...version, body: body ?? null, ...readAuthor(metadata) });
  };
  await recordAt(store.read(recordStream(record)), until, () => false, most, note);
  const own = new Set(versions.map(({ id }) => id));
  const others = new Set([...ids].filter((id) => !own.has(id)));
  const [owner] = owners;
  const isNamed = owner !== undefined && others.size > 0;
  return { versions, directory: isNamed ? await readEntries(store, owner, others) : [] };
}

function readAuthor({
  author,
  source_system: source,
}: EventMetadata): Pick<LoggedVersion, 'authorType' | 'source'> {
  return { authorType: author?.type ?? null, source: source ?? null };
}

/** Returns the ids of resources that inputs name, including directory entries. */
export function listIds({ directory, ...inputs }: JsonObject): ReadonlySet<string> {
  const entries = isObject(directory) ? Object.keys(directory).map((key) => key.split('/')[1] ?? '') : [];
  const replies = readReplies(inputs).flatMap(({ text, context }) => [
    ...(Array.isArray(text) ? text.flatMap((piece) => (Array.isArray(piece) ? [String(piece[0])] : [])) : []),
    ...(isObject(context) && isObject(context.inputs) ? listIds(context.inputs) : []),
  ]);
  return new Set([...entries, ...replies]);
}

/**
 * Returns the bytes of the documents that an answer contains, in base64, by document id; leaves out bytes that are no longer
 * stored.
 */
async function readFiles(
  { documents }: Archive,
  { record, parameters, inputs, named, versions }: Omit<Material, 'files' | 'hiddenKey'>,
): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const [, shared = ''] = /^document\/(.+)$/.exec(String(parameters.content)) ?? [];
  for (const blob of Array.isArray(inputs.files) ? inputs.files.map(String) : []) {
    const bytes = await readBytes(await documents(), { patient: record, document: shared, blob });
    if (bytes !== undefined) files[`${shared}/${blob}`] = bytes.toString('base64');
  }
  for (const { file, blob: name } of readReplies(inputs)) {
    if (typeof file !== 'string') continue;
    const blob = typeof name === 'string' ? name : findBlob(file, { named, versions });
    if (blob === undefined) continue;
    const bytes = await readBytes(await documents(), { patient: record, document: file, blob });
    if (bytes !== undefined) files[file] = bytes.toString('base64');
  }
  return files;
}

/**
 * Returns the name under which a document's bytes are stored, taken from the version that an answer names. For receipts that
 * don't contain this name.
 */
function findBlob(
  document: string,
  { named, versions }: Pick<Material, 'named' | 'versions'>,
): string | undefined {
  const shown = named.find(({ id }) => id === document)?.version;
  const body = versions.find(({ id, version }) => id === document && version === shown)?.body;
  const [content] = body == null ? [] : heldContents(parseStored(body), document);
  return content?.blob;
}

/** Returns a document's bytes; undefined if they are no longer stored. */
async function readBytes(documents: Pick<DocumentStore, 'get'>, key: BlobKey): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  try {
    for await (const part of await documents.get(key)) parts.push(Buffer.from(part));
  } catch (error) {
    if (error instanceof BlobMissing) return undefined;
    throw error;
  }
  return Buffer.concat(parts);
}

/** Returns every version of the given directory entries. */
async function readEntries(
  store: EventStore,
  owner: Tenant,
  ids: ReadonlySet<string>,
): Promise<LoggedVersion[]> {
  const found: LoggedVersion[] = [];
  for await (const { event, metadata } of new Replay(store.read(directoryStream(owner)))) {
    if (event.type !== 'ResourceCreated' && event.type !== 'ResourceUpdated') continue;
    const { resourceType: type, resourceId: id, version, body } = event;
    if (!ids.has(id)) continue;
    found.push({ type, id, version, body, recordedAt: metadata.recorded_at, ...readAuthor(metadata) });
  }
  return found;
}

/** Returns the key for hidden ids; if no grant was ever made, a key derived from an empty key. */
async function readHiddenKey(pool: Pool): Promise<Buffer> {
  const { rows } = await pool.query<{ key: Buffer }>('select key from operations.pairwise_key');
  return deriveHiddenKey(rows[0]?.key ?? Buffer.alloc(0));
}
