/**
 * Defines the fields that all REST v1 records have in common, and how records are read and written (docs/spec/decisions.md,
 * section 4).
 */

import type { CommandContext, WriteResult } from '#commands/command.ts';
import type { CurrentResource } from '#queries/read.ts';
import type { Mark, MarkedResource, VersionOf } from '#queries/rest/marks.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { AuthorType } from '#src/shared/access/author.ts';
import type { Authorship } from '#src/shared/access/caller.ts';
import { cut } from '#src/shared/cut.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { inSlices, mapSteps } from '#src/shared/load/slices.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { readAuthorship } from '../answer/authorship.ts';
import type { Proven, RequestContext } from '../api/route.ts';

/** A request made with an API key. */
export type RestRequest = RequestContext & Proven['api_key'];

/** Returns a list's `next_cursor`. Under a grant, it is encrypted, because it contains ids. */
export function shownCursor({ pass }: Pick<RestRequest, 'pass'>, next: string | undefined): string | null {
  return next === undefined ? null : (pass?.edge.cursor(next) ?? next);
}

/** The data needed to show a resource as a record. */
export interface Shown {
  readonly type: ResourceType;
  readonly id: string;
  /** The Patient's id. */
  readonly patient: string;
  readonly version: number;
  /** FHIR instants. */
  readonly created: string;
  readonly updated: string;
  readonly author: Pick<Authorship, 'authorType' | 'sourceSystem' | 'originId'>;
}

/** Returns a record: the common fields and the record's own fields. */
export function renderRecord(shown: Shown, fields: object): Record<string, unknown> {
  const { type, id, patient, version, created, updated, author } = shown;
  return {
    id,
    patient,
    ...fields,
    version,
    created_at: created,
    updated_at: updated,
    author_type: author.authorType,
    source_system: author.sourceSystem ?? null,
    origin_id: author.originId ?? null,
    fhir: `${type}/${id}`,
  };
}

/**
 * Returns the context for a write's command.
 * @param given `author_type` in the body.
 * @throws Refusal invalid (422) if the body and the header differ.
 */
export function makeCommandContext(request: RestRequest, given?: AuthorType): CommandContext {
  const { caller, header, requestId, ids, now, retry, pass } = request;
  const authorship = readAuthorship(header, caller);
  const sent = header('x-service-author-type');
  if (given !== undefined && sent !== undefined && sent !== '' && sent !== given) {
    throw new Refusal('invalid', {
      code: 'value',
      diagnostics: `author_type is ${given}, but X-Service-Author-Type is ${cut(sent, 40)}; send one of them, or the same value in both`,
      expression: 'author_type',
    });
  }
  return {
    caller,
    authorship: given === undefined ? authorship : { ...authorship, authorType: given },
    requestId,
    ids,
    now,
    ...(retry === undefined ? {} : { retry }),
    ...(pass === undefined ? {} : { searched: pass.searched }),
  };
}

/**
 * Returns the body that a write stored.
 * @param parse as in `shownRecords`
 */
export function writtenBody(
  { body, type, id }: WriteResult,
  parse: (body: string) => JsonObject = resourceIn,
): JsonObject {
  if (body === undefined) throw new TypeError(`${type}/${id} was written without a body`);
  return parse(body);
}

/** Parses a stored body as plain JSON. */
export function resourceIn(body: string): JsonObject {
  const value: unknown = JSON.parse(body);
  if (!isObject(value)) throw new TypeError('a stored body is not an object');
  return value;
}

/**
 * Reads a resource that isn't deleted.
 * @throws Refusal not_found (404), including for a deleted resource
 */
export async function liveResource(
  { services, caller }: RestRequest,
  type: ResourceType,
  id: string,
): Promise<CurrentResource & { readonly body: string }> {
  return live(await services.queries.read(caller, type, id), type, id);
}

/**
 * Reads a resource that isn't deleted, for a response.
 * @throws Refusal not_found (404), including for a deleted resource
 */
export async function shownResource(
  { services, caller }: RestRequest,
  type: ResourceType,
  id: string,
): Promise<MarkedResource & { readonly body: string }> {
  return live(await services.queries.readMarked(caller, type, id), type, id);
}

function live<Found extends CurrentResource>(
  found: Found | undefined,
  type: ResourceType,
  id: string,
): Found & { readonly body: string } {
  if (found === undefined || found.body === null) throw notFound(type, cut(id, 64));
  return { ...found, body: found.body };
}

/**
 * Returns resources that aren't deleted as records, in the same order. If there are thousands of records, it yields to the
 * event loop in between.
 * @param found includes `resource` if the body has been parsed, and `mark` if it is known.
 * @param fields returns the fields of each resource.
 * @param parse parses bodies; with `parseStored`, decimals keep their precision.
 */
export async function shownRecords(
  request: RestRequest,
  found: readonly (MarkedResource & { readonly body: string; readonly resource?: JsonObject })[],
  fields: (resource: JsonObject) => object,
  parse: (body: string) => JsonObject = resourceIn,
): Promise<Record<string, unknown>[]> {
  const marks = await readMarks(
    request,
    found.filter(({ mark }) => mark === undefined),
  );
  const record = ({
    type,
    id,
    version,
    lastUpdated,
    body,
    resource = parse(body),
    mark: known,
  }: (typeof found)[number]) => {
    const mark = known ?? marks.get(id);
    if (mark === undefined) throw request.services.freshness.refusal(['history']);
    const shown: Shown = {
      type,
      id,
      patient: findPatient(type, id, resource),
      version,
      created: toInstant(mark.created),
      updated: toInstant(lastUpdated),
      author: renderAuthor(mark.metadata),
    };
    return renderRecord(shown, fields(resource));
  };
  return inSlices(mapSteps(found, record));
}

/** Returns the author that an event names. */
function renderAuthor({
  author,
  source_system,
  origin_id,
}: Pick<Mark['metadata'], 'author'> & {
  readonly source_system?: string | null | undefined;
  readonly origin_id?: string | null | undefined;
}): Shown['author'] {
  return {
    authorType: author?.type ?? 'import',
    ...(source_system == null ? {} : { sourceSystem: source_system }),
    ...(origin_id == null ? {} : { originId: origin_id }),
  };
}

/**
 * Returns when a resource was created, as a FHIR instant.
 * @param found a version of the resource that `resources` contains.
 * @throws Refusal unavailable (503), so call it before anything is written.
 */
export async function createdAt(
  request: RestRequest,
  found: VersionOf & Pick<MarkedResource, 'mark'>,
): Promise<string> {
  return toInstant((await readMark(request, found)).created);
}

/**
 * Reads the event for version 1 of a resource.
 * @param found a version of the resource that `resources` contains.
 * @throws Refusal unavailable (503), so call it before anything is written.
 */
export function readCreation(
  request: RestRequest,
  found: VersionOf & Pick<MarkedResource, 'mark'>,
): Promise<Mark> {
  return readMark(request, found.version === 1 ? found : { id: found.id, version: 1 });
}

async function readMark(
  request: RestRequest,
  found: VersionOf & Pick<MarkedResource, 'mark'>,
): Promise<Mark> {
  const mark = found.mark ?? (await readMarks(request, [found])).get(found.id);
  if (mark === undefined) throw request.services.freshness.refusal(['history']);
  return mark;
}

/** Reads the marks. If one read model already contains a concurrent write and the other doesn't, waits until both do. */
async function readMarks(
  { services, caller }: RestRequest,
  found: readonly VersionOf[],
): Promise<ReadonlyMap<string, Mark>> {
  const marks = await services.queries.marks(caller, found);
  if (found.every(({ id }) => marks.has(id))) return marks;
  await services.freshness.catchUp(['history']);
  return services.queries.marks(caller, found);
}

/** Returns the id of the Patient whose record contains a resource. */
export function findPatient(type: ResourceType, id: string, { subject }: JsonObject): string {
  if (type === 'Patient') return id;
  const { reference } = isObject(subject) ? subject : {};
  const [, patient] = /(?:^|\/)Patient\/([^/]+)/.exec(String(reference)) ?? [];
  return patient ?? '';
}
