/**
 * Fills a sandbox: writes the synthetic directory and records as events, in small appends. It waits until the
 * read models contain each append before it writes the next, so that queues stay short for other requests.
 * Existing resources stay: a second run continues where the first stopped.
 */

import type { Position } from '#src/events/store.ts';
import { directoryStream, projectStream, recordStream } from '#src/events/streams.ts';
import { sandboxIds } from '#src/sandbox/ids.ts';
import type { Author, Authored } from '#src/sandbox/synthetic.ts';
import type { IdSource } from '#src/shared/ids.ts';
import type { JsonObject } from '#src/shared/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Tenant } from '#src/shared/tenant.ts';
import type { MetadataBase } from '../command.ts';
import { blobsOf, putBlobs } from '../document/put.ts';
import { settleAttachments } from '../document/settle.ts';
import type { Streams } from '../kernel/streams.ts';
import type { Contents, Settled } from '../resource/contents.ts';
import { touchedIds, type Write } from '../resource/decide.ts';
import { createMissing } from '../resource/resume.ts';
import type { Resources } from '../resource/state.ts';
import { type Asked, provisioned } from './decide.ts';
import type { SandboxState } from './state.ts';

/** Dependencies of filling a sandbox. */
export interface ProvisionDeps {
  readonly resources: Streams<Resources>;
  readonly sandboxes: Streams<SandboxState>;
  readonly contents: Contents;
  readonly now: () => number;
  /** Waits until every read model of records has passed a position. @throws Refusal unavailable when that takes too long. */
  readonly visible: (position: Position) => Promise<void>;
}

/** Events of one append, at most. */
const CHUNK = 25;

/** Fills it, and says so in the project's stream. */
export async function provision(
  deps: ProvisionDeps,
  project: string,
  requestId: string,
  asked: Asked,
): Promise<void> {
  // Loaded by the few that fill sandboxes.
  const { beginSandbox } = await import('#src/sandbox/generate.ts');
  const ids = sandboxIds(asked.reset_id);
  const tenant: Tenant = { project, environment: 'sandbox' };
  const writer = { deps, ids, tenant, requestId };
  const { directory, records } = beginSandbox({ ...asked, ids });
  // A directory is needed only with patients.
  const shared = asked.patients === 0 ? [] : directory;
  await appendAll(writer, directoryStream(tenant), shared);
  let resources = shared.length;
  for (const { patient, resources: own } of records) {
    await appendAll(writer, recordStream(patient), own).catch(unlessGone);
    resources += own.length;
  }
  const by = { credential: systemOf(tenant), requestId, ids, now: deps.now };
  await deps.sandboxes.transact(projectStream(project), by, provisioned(asked, resources));
}

/** Returns the credential of the service's own writes in a sandbox; they trigger no webhooks. */
export function systemOf({ project, environment }: Tenant): MetadataBase['credential'] {
  return { kind: 'system', project, environment };
}

interface Writer {
  readonly deps: ProvisionDeps;
  readonly ids: IdSource;
  readonly tenant: Tenant;
  readonly requestId: string;
}

/** Appends what is not there yet, author by author: an append has one. */
async function appendAll(writer: Writer, stream: string, all: readonly Authored[]): Promise<void> {
  for (const { author, some } of inChunks(all)) {
    const position = await append(writer, stream, author, some);
    if (position !== undefined) await writer.deps.visible(position);
  }
}

async function append(
  { deps, ids, tenant, requestId }: Writer,
  stream: string,
  { type, reference, sourceSystem }: Author,
  some: readonly Authored[],
): Promise<Position | undefined> {
  const writes = some.map(({ type, id, resource }): Extract<Write, { kind: 'create' }> => {
    const settled = type === 'DocumentReference' ? settle(deps, ids, id, resource) : { resource };
    return {
      kind: 'create',
      eventId: ids.at(0, `event/${id}`),
      type,
      id,
      ...settled,
      resource: { value: settled.resource, exact: false },
    };
  });
  await putBlobs(
    deps.contents,
    writes.flatMap((write) => blobsOf(write, stream)),
  );
  const { position } = await deps.resources.handle<void>({
    stream,
    metadata: {
      request_id: requestId,
      command_id: ids.at(0, `command/${some[0]?.id}`),
      credential: systemOf(tenant),
      author: { type, ...(reference === undefined ? {} : { reference }) },
      source_system: sourceSystem,
    },
    now: deps.now,
    owner: tenant,
    touches: touchedIds(stream, writes),
    decide: (state, clock) => ({ ...createMissing(state, clock, writes), result: undefined }),
  });
  return position;
}

/** A document's text goes where those of others are. */
function settle({ contents }: ProvisionDeps, ids: IdSource, id: string, resource: JsonObject): Settled {
  const draw = (series: string, index: number): string => ids.at(index, `${series}/${id}`);
  return settleAttachments({ id, resource, before: undefined, stored: [], draw, url: contents.url });
}

/** Ignores errors of a record that was deleted or purged meanwhile; the rest of it isn't written. */
function unlessGone(error: unknown): void {
  if (error instanceof Refusal && (error.kind === 'not_found' || error.kind === 'conflict')) return;
  throw error;
}

function* inChunks(all: readonly Authored[]): Generator<{ author: Author; some: readonly Authored[] }> {
  const groups = new Map<string, Authored[]>();
  for (const one of all) {
    const name = JSON.stringify(one.author);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  for (const group of groups.values()) {
    for (let from = 0; from < group.length; from += CHUNK) {
      const some = group.slice(from, from + CHUNK);
      const [first] = some;
      if (first !== undefined) yield { author: first.author, some };
    }
  }
}
