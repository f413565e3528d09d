/** Reads a project's events for auditors, from the read models and the log (docs/audit.md). */
import type { Pool } from 'pg';
import { z } from 'zod';
import { openEventContents } from '#queries/audit/contents.ts';
import { type EventRow, openEventQueries } from '#queries/audit/events.ts';
import { openCredentialNames } from '#queries/audit/names.ts';
import { findPeople } from '#queries/audit/people.ts';
import { decodeCursorFor, encodeCursorFor } from '#queries/cursor.ts';
import { refuseCostly } from '#queries/database/gather.ts';
import { checkLink, findEvent, type LinkedEvent } from '#src/audit/find-event.ts';
import { comesBefore, newestFirst, type OwnEvent } from '#src/audit/own-events.ts';
import { changesBetween } from '#src/audit/versions.ts';
import { type EventMetadata, parseMetadata } from '#src/events/metadata.ts';
import { type EventStore, StreamDeleted } from '#src/events/store.ts';
import {
  applicationStream,
  directoryStream,
  projectStream,
  recordStream,
  webhookStream,
} from '#src/events/streams.ts';
import type { AuditServices, LoggedEvent } from '#src/http/ports/audit.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { wrapCalls } from '#src/shared/wrap-calls.ts';

type EventServices = Pick<
  AuditServices,
  | 'events'
  | 'event'
  | 'versionTexts'
  | 'patientTexts'
  | 'nameCredentials'
  | 'ownEvents'
  | 'ownEvent'
  | 'loggedEvent'
  | 'listChanges'
>;

/** The maximum number of the project's own events that are examined for one page. */
const LOOKED_THROUGH = 20_000;

/** A deletion, shown as a version without content. */
const DELETED = { body: '{}', byAi: false };

const place = z.tuple([z.int(), z.string()]);

/** Opens them. */
export function openAuditEvents({
  pool,
  store,
}: {
  readonly pool: Pool;
  readonly store: Pick<EventStore, 'read'>;
}): EventServices {
  const listStreams = async (project: string): Promise<string[]> => {
    const { rows } = await pool.query<{ kind: 'application' | 'webhook'; id: string }>({
      name: 'audit-streams',
      text: `select 'application' as kind, a.id from projects.application a where a.project = $1
        union all select 'webhook', w.id from webhooks.endpoint w where w.project = $1`,
      values: [project],
    });
    return [
      projectStream(project),
      ...rows.map(({ kind, id }) => (kind === 'application' ? applicationStream(id) : webhookStream(id))),
    ];
  };
  return {
    ...wrapCalls(
      {
        ...openEventQueries(pool),
        ...openEventContents(pool),
        nameCredentials: openCredentialNames(pool),
      },
      refuseCostly,
    ),
    async ownEvents(project, { limit, cursor, ...conditions }) {
      const list = JSON.stringify(['own-events', project, conditions]);
      const after = cursor === undefined ? undefined : decodeCursorFor(list, cursor, place);
      const people =
        conditions.author === undefined ? [] : await findPeople(pool, project, conditions.author);
      const rows: EventRow[] = [];
      let looked = 0;
      for await (const own of newestFirst(store, await listStreams(project))) {
        const { at, event } = own;
        if (conditions.from !== undefined && at < conditions.from) break;
        if (after !== undefined && !comesBefore({ at: after[0], event: { id: after[1] } }, own)) continue;
        const last = rows.at(-1);
        if (rows.length === limit && last !== undefined)
          return { rows, next: encodeCursorFor(list, [last.at, last.id]), searchedTo: undefined };
        looked += 1;
        if (isAsked(own, conditions, people)) rows.push(makeRow(own));
        if (looked === LOOKED_THROUGH)
          return { rows, next: encodeCursorFor(list, [at, event.id]), searchedTo: at };
      }
      return { rows, next: undefined, searchedTo: undefined };
    },
    async ownEvent(project, id) {
      for (const stream of await listStreams(project))
        for await (const event of store.read(stream))
          if (event.id === id) {
            const at = toMicros(parseMetadata(event.metadata).recorded_at);
            return { row: makeRow({ event, at }), event: logged(await checkLink(store, event)) };
          }
      return undefined;
    },
    async loggedEvent(tenant, { record, at, id }) {
      const stream = record === null ? directoryStream(tenant) : recordStream(record);
      try {
        const found = await findEvent(store, stream, at, id);
        return found === undefined ? undefined : logged(found);
      } catch (error) {
        if (error instanceof StreamDeleted) return undefined;
        throw error;
      }
    },
    async listChanges(id, version) {
      // Index: primary key of history.version (id, version).
      const { rows } = await pool.query<{ version: number; body: string | null; byAi: boolean | null }>({
        name: 'audit-versions',
        text: `select v.version, v.body, v.metadata::json #>> '{author,type}' = 'ai' as "byAi" from history.version v
          where v.id = $1 and v.version <= $2 and (v.version = $2 or v.body is not null)
          order by v.version desc limit 2`,
        values: [id, version],
      });
      const [own, before] = rows.map(({ body, byAi, ...row }) => ({
        ...row,
        read: body === null ? undefined : { body, byAi: byAi === true },
      }));
      return own?.version !== version ? [] : changesBetween(before?.read, own.read ?? DELETED);
    },
  };
}

function logged({ event, previous, hash, holds }: LinkedEvent): LoggedEvent {
  return { ...event, previous, hash: hash ?? null, holds };
}

function makeRow({ event, at }: OwnEvent): EventRow {
  const { id, type, metadata, stream } = event;
  const record = findPatient(event.data);
  const subject = findSubject(stream, event.data);
  return { id, at, type, resource_type: null, resource_id: null, version: null, record, metadata, subject };
}

const ofKey = z.object({ key_id: z.string() });
const ofEndpoint = z.object({ url: z.string() });

/** Returns the subject of a project's event: a key, an application or a webhook endpoint. */
function findSubject(stream: string, data: string): EventRow['subject'] {
  const parsed: unknown = JSON.parse(data);
  const key = ofKey.safeParse(parsed).data;
  if (key !== undefined) return key;
  const [, kind, id] = /^(application|webhook)-(.*)$/.exec(stream) ?? [];
  if (kind === 'application') return { application: id };
  return kind === undefined ? undefined : (ofEndpoint.safeParse(parsed).data?.url ?? id);
}

/** Returns the patient whose record a project's event is about, for example a purge. */
function findPatient(data: string): string | null {
  return /"patient":"([0-9a-f-]{36})"/.exec(data)?.[1] ?? null;
}

function isAsked(
  { event, at }: OwnEvent,
  asked: Omit<Parameters<AuditServices['ownEvents']>[1], 'limit' | 'cursor'>,
  people: readonly string[],
): boolean {
  const { to, types, patient, author, authorType, key, application, requestId } = asked;
  const metadata = parseMetadata(event.metadata);
  const { credential, request_id } = metadata;
  return (
    (to === undefined || at < to) &&
    (types === undefined || types.includes(event.type)) &&
    (patient === undefined || findPatient(event.data) === patient) &&
    (key === undefined ||
      credential.key_id === key ||
      event.data.includes(`"key_id":${JSON.stringify(key)}`)) &&
    (application === undefined ||
      credential.application === application ||
      event.stream === applicationStream(application)) &&
    (requestId === undefined || request_id === requestId) &&
    (author === undefined || isBy(metadata, author, people)) &&
    (authorType === undefined || metadata.author?.type === authorType)
  );
}

function isBy(
  { author, credential, acting_as }: EventMetadata,
  text: string,
  people: readonly string[],
): boolean {
  const lower = text.toLowerCase();
  return (
    [author?.reference, credential.subject, acting_as].includes(text) ||
    author?.type === lower ||
    author?.display?.toLowerCase().includes(lower) === true ||
    (credential.subject !== undefined && people.includes(credential.subject))
  );
}
