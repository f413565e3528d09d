/**
 * Fills a sandbox: writes the synthetic directory and records as events, each record in one or a few appends. While an append
 * is written, the read models process the previous append, and never more than that one, so queues stay short for other
 * requests. Existing resources stay: a second run continues where the first stopped.
 */

import type { Draft } from '#src/events/codec.ts';
import type { Position } from '#src/events/store.ts';
import { directoryStream, projectStream, recordStream } from '#src/events/streams.ts';
import { sandboxIds } from '#src/sandbox/ids.ts';
import type { Author, Authored } from '#src/sandbox/synthetic.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import type { IdSource } from '#src/shared/ids.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { MetadataBase } from '../command.ts';
import { listBlobs, putBlobs } from '../document/put.ts';
import { settleAttachments } from '../document/settle.ts';
import type { Streams } from '../kernel/streams.ts';
import type { Contents, Settled } from '../resource/contents.ts';
import { touchedIds, type Write } from '../resource/decide.ts';
import { createMissing } from '../resource/resume.ts';
import type { Resources } from '../resource/state.ts';
import { type Asked, provisioned } from './decide.ts';
import type { SandboxState } from './state.ts';

/** Dependencies for filling a sandbox. */
export interface ProvisionDeps {
  readonly resources: Streams<Resources>;
  readonly sandboxes: Streams<SandboxState>;
  readonly contents: Contents;
  readonly now: () => number;
  /**
   * Waits until every read model of records has passed a position.
   * @throws Refusal unavailable if that takes too long
   */
  readonly waitFor: (position: Position) => Promise<void>;
}

/**
 * The maximum number of resources per append, so that other requests wait for its projections no longer than for a small
 * Bundle.
 */
const CHUNK = 100;

/** Fills the sandbox, and records that in the project's stream. */
export async function provision(
  deps: ProvisionDeps,
  project: string,
  requestId: string,
  asked: Asked,
): Promise<void> {
  // Imported here because only the few processes that fill sandboxes need it.
  const { beginSandbox } = await import('#src/sandbox/generate.ts');
  const ids = sandboxIds(asked.reset_id);
  const tenant: Tenant = { project, environment: 'sandbox' };
  const writer = { deps, ids, tenant, requestId, shown: Promise.resolve() };
  const { directory, records } = beginSandbox({ ...asked, ids });
  // A directory is needed only if there are patients.
  const shared = asked.patients === 0 ? [] : directory;
  await appendAll(writer, directoryStream(tenant), shared);
  let resources = shared.length;
  for (const { patient, resources: own } of records) {
    await appendAll(writer, recordStream(patient), own).catch(unlessGone);
    resources += own.length;
  }
  await writer.shown;
  const by = { credential: systemCredential(tenant), requestId, ids, now: deps.now };
  await deps.sandboxes.transact(projectStream(project), by, provisioned(asked, resources));
}

/** Returns the credential for the service's own writes in a sandbox; they trigger no webhooks. */
export function systemCredential({ project, environment }: Tenant): MetadataBase['credential'] {
  return { kind: 'system', project, environment };
}

interface Writer {
  readonly deps: ProvisionDeps;
  readonly ids: IdSource;
  readonly tenant: Tenant;
  readonly requestId: string;
  /** Resolves when the read models include the last append. */
  shown: Promise<void>;
}

/** Appends the resources that are still missing. Before the next append, waits until reads show the last append but one. */
async function appendAll(writer: Writer, stream: string, all: readonly Authored[]): Promise<void> {
  for (let from = 0; from < all.length; from += CHUNK) {
    const position = await append(writer, stream, all.slice(from, from + CHUNK));
    if (position === undefined) continue;
    await writer.shown;
    writer.shown = writer.deps.waitFor(position);
    writer.shown.catch(() => undefined); // awaited later
  }
}

async function append(
  { deps, ids, tenant, requestId }: Writer,
  stream: string,
  some: readonly Authored[],
): Promise<Position | undefined> {
  /** Keyed by event id, because a document's version and the end of its upload are two events. */
  const authors = new Map<string, By>();
  const writes = some.map(({ type, id, resource, author }): Extract<Write, { kind: 'create' }> => {
    const settled =
      type === 'DocumentReference' ? settle(deps, ids, id, resource) : { resource, finalized: [] };
    const eventId = ids.at(0, `event/${id}`);
    for (const each of [eventId, ...settled.finalized.map((of) => of.eventId)])
      authors.set(each, byAuthor(author));
    return {
      kind: 'create',
      eventId,
      type,
      id,
      ...settled,
      resource: { value: settled.resource, exact: false },
    };
  });
  await putBlobs(
    deps.contents,
    writes.flatMap((write) => listBlobs(write, stream)),
  );
  const { position } = await deps.resources.handle<void>({
    stream,
    metadata: {
      request_id: requestId,
      command_id: ids.at(0, `command/${some[0]?.id}`),
      credential: systemCredential(tenant),
    },
    now: deps.now,
    owner: tenant,
    touches: touchedIds(stream, writes),
    decide: (state, clock) => {
      const { drafts } = createMissing(state, clock, writes);
      return { drafts: drafts.map((draft) => withAuthor(draft, authors)), result: undefined };
    },
  });
  return position;
}

type By = NonNullable<Draft['by']>;

function byAuthor({ type, reference, sourceSystem }: Author): By {
  return {
    author: { type, ...(reference === undefined ? {} : { reference }) },
    source_system: sourceSystem,
  };
}

function withAuthor(draft: Draft, authors: ReadonlyMap<string, By>): Draft {
  const by = authors.get(draft.id);
  return by === undefined ? draft : { ...draft, by };
}

/** Stores a document's text in the same place as the text of all other documents. */
function settle({ contents }: ProvisionDeps, ids: IdSource, id: string, resource: JsonObject): Settled {
  const draw = (series: string, index: number): string => ids.at(index, `${series}/${id}`);
  return settleAttachments({ id, resource, before: undefined, stored: [], draw, url: contents.url });
}

/** Ignores errors that occur because a record was deleted or purged in the meantime; the rest of that record isn't written. */
function unlessGone(error: unknown): void {
  if (error instanceof Refusal && (error.kind === 'not_found' || error.kind === 'conflict')) return;
  throw error;
}
