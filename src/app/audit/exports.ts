/** Creates signed files for auditors: a record, a resource's history, or the result of a search (docs/audit.md). */
import type { Pool } from 'pg';
import { BrokenChain, exportLines } from '#src/audit/export.ts';
import { findEvent } from '#src/audit/find-event.ts';
import { historyLines } from '#src/audit/history-export.ts';
import { type KeyPlace, signingKey } from '#src/audit/key.ts';
import { searchLines } from '#src/audit/search-export.ts';
import { parseMetadata } from '#src/events/metadata.ts';
import { type EventStore, type RecordedEvent, StreamDeleted } from '#src/events/store.ts';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import type { AuditServices } from '#src/http/ports/audit.ts';
import type { ShownVersion } from '#src/shared/access/answered-search.ts';
import { type Environment, tenantId } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { nowMicros, toInstant, toMicros } from '#src/shared/time/time.ts';

/**
 * The maximum number of bytes of a file that are held in memory until its chain has been checked; a longer file is read twice.
 */
const HELD = 16_000_000;
/** How many events are looked up at a time. */
const AT_A_TIME = 8;

type Exports = Pick<
  AuditServices,
  'findHome' | 'exportRecord' | 'exportHistory' | 'exportSearch' | 'showVersions' | 'readKey' | 'position'
>;

/** Opens them. */
export function openExports({
  pool,
  store,
  key,
}: {
  readonly pool: Pool;
  readonly store: Pick<EventStore, 'read' | 'head'>;
  readonly key: KeyPlace;
}): Exports {
  const time = (): string => toInstant(nowMicros());
  return {
    async findHome(project, type, id) {
      if (!isUuid(id)) return undefined;
      // Index: primary key of resources.resource.
      const { rows } = await pool.query<{ tenant: string; record: string | null }>({
        name: 'audit-home',
        text: 'select tenant, record from resources.resource where id = $1 and type = $2 and tenant = any($3::uuid[])',
        values: [id, type, ENVIRONMENTS.map((environment) => tenantId({ project, environment }))],
      });
      const [row] = rows;
      const environment = ENVIRONMENTS.find(
        (each) => tenantId({ project, environment: each }) === row?.tenant,
      );
      return row === undefined || environment === undefined ? undefined : { environment, record: row.record };
    },
    async exportRecord(patient, asOf) {
      const signer = await signingKey(key);
      return checkFirst(() =>
        exportLines(readUntil(store, recordStream(patient), asOf), time, signer, () => undefined, asOf),
      );
    },
    async exportHistory(home, resource, asOf) {
      const signer = await signingKey(key);
      const stream = home.record === null ? directoryStream(home) : recordStream(home.record);
      return checkFirst(() => historyLines(readUntil(store, stream, asOf), { resource, asOf }, time, signer));
    },
    async showVersions(tenant, bundle) {
      const shown = listShown(bundle);
      // Index: primary key of history.version (id, version).
      const { rows } = await pool.query<Row>({
        name: 'audit-shown',
        text: `select v.id, v.version, v.type, v.record, v.event_id, v.recorded_at::float8 as at
          from unnest($1::uuid[], $2::int[]) as x(id, version)
          join history.version v on v.id = x.id and v.version = x.version and v.tenant = $3`,
        values: [shown.map(({ id }) => id), shown.map(({ version }) => version), tenantId(tenant)],
      });
      const found = new Map(rows.map((row) => [`${row.id} ${row.version}`, row]));
      const versions: (ShownVersion & { readonly record: string | null })[] = [];
      for (let from = 0; from < shown.length; from += AT_A_TIME)
        versions.push(
          ...(await Promise.all(
            shown.slice(from, from + AT_A_TIME).map(async ({ type, id, version }) => {
              const row = found.get(`${id} ${version}`);
              const stream =
                row === undefined || row.record !== null
                  ? recordStream(row?.record ?? '')
                  : directoryStream(tenant);
              const event = row && (await findEvent(store, stream, row.at, row.event_id));
              if (row === undefined || event?.hash === undefined || !event.holds)
                throw new Refusal('conflict', {
                  code: 'conflict',
                  diagnostics: `the log doesn't have version ${version} of ${type}/${id} as it is shown, so nothing is signed; verify the record`,
                });
              return {
                resource: `${type}/${id}`,
                version,
                stream,
                revision: event.event.revision,
                event: row.event_id,
                hash: event.hash,
                record: row.record,
              };
            }),
          )),
        );
      return versions;
    },
    async exportSearch(answered) {
      return searchLines(answered, time(), await signingKey(key));
    },
    async readKey() {
      const { id, text } = await signingKey(key);
      return { id, text };
    },
    position: () => store.head(),
  };
}

const ENVIRONMENTS: readonly Environment[] = ['sandbox', 'production'];

interface Row {
  readonly id: string;
  readonly version: number;
  readonly record: string | null;
  readonly event_id: string;
  readonly at: number;
}

/** Returns the versions in a searchset. */
function listShown(
  bundle: string,
): { readonly type: string; readonly id: string; readonly version: number }[] {
  const { entry = [] } = JSON.parse(bundle) as {
    readonly entry?: readonly {
      readonly search?: { readonly mode: string };
      readonly resource: {
        readonly resourceType: string;
        readonly id: string;
        readonly meta?: { versionId?: string };
      };
    }[];
  };
  return entry
    .filter(({ search }) => search?.mode !== 'outcome')
    .map(({ resource: { resourceType: type, id, meta } }) => ({
      type,
      id,
      version: Number(meta?.versionId),
    }));
}

/** Yields a stream's events up to and including the given time. */
async function* readUntil(
  store: Pick<EventStore, 'read'>,
  stream: string,
  asOf: string | undefined,
): AsyncGenerator<RecordedEvent> {
  const until = asOf === undefined ? Number.POSITIVE_INFINITY : toMicros(asOf);
  for await (const event of store.read(stream)) {
    if (asOf !== undefined && toMicros(parseMetadata(event.metadata).recorded_at) > until) return;
    yield event;
  }
}

/**
 * Generates a file whose chain is intact. The whole file is generated before any of it is sent; a long file is generated again
 * while it is being sent.
 * @returns undefined if there is nothing to export, for example because the record was purged
 * @throws Refusal conflict (409) if the chain is broken
 */
async function checkFirst(
  make: () => AsyncIterable<string>,
): Promise<Iterable<string> | AsyncIterable<string> | undefined> {
  const held: string[] = [];
  let bytes = 0;
  try {
    for await (const line of make()) {
      bytes += line.length;
      if (bytes <= HELD) held.push(line);
    }
  } catch (error) {
    if (error instanceof StreamDeleted) return undefined;
    if (error instanceof BrokenChain)
      throw new Refusal('conflict', {
        code: 'conflict',
        diagnostics: `${error.message}. Nothing was exported; verify the record for details`,
      });
    throw error;
  }
  if (bytes === 0) return undefined;
  return bytes <= HELD ? held : make();
}
