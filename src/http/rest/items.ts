/** Creates, lists, reads and deletes observations, conditions and medications, all in the same way. */
import type { ListedItem } from '#queries/rest/items.ts';
import type { ListOf, PageOf } from '#queries/rest/places.ts';
import { seesType } from '#queries/sight.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { AuthorType } from '#src/shared/access/author.ts';
import { type JsonObject, parseStored, printJson } from '#src/shared/json/json.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { type By, nameList, unsafePart } from '#src/v1/lists.ts';
import type { Referred } from '#src/v1/medication.ts';
import { readIfMatch } from '../answer/conditions.ts';
import type { RouteResult } from '../api/route.ts';
import { type AsOf, atMoment } from './as-of.ts';
import { dayRange } from './days.ts';
import { type Displays, displaysFor, withDisplays, withDisplaysIn } from './displays.ts';
import { namingInputs, warningsIn } from './inputs.ts';
import { listing } from './listing.ts';
import {
  liveResource,
  makeCommandContext,
  type RestRequest,
  renderRecord,
  resourceIn,
  shownCursor,
  shownRecords,
  shownResource,
  writtenBody,
} from './record.ts';

/** A kind of item. */
export interface Kind {
  readonly type: 'Observation' | 'Condition' | 'MedicationStatement' | 'MedicationRequest';
  /** Below `/v1`. */
  readonly path: 'observations' | 'conditions' | 'medications' | 'prescriptions';
  readonly fields: (resource: JsonObject) => object;
  /** The type of resource that may give an item its name, and the members in which it does. */
  readonly named?: {
    readonly type: 'Medication';
    readonly readReference: (resource: JsonObject) => Referred | undefined;
    readonly as: (other: JsonObject) => object;
  };
  /** Completes members with data from other resources. */
  readonly refine?: (request: RestRequest, all: readonly Members[]) => Promise<readonly Members[]>;
}

/** An item's own members: as the text that the read model stores, or parsed. */
export type Members = string | JsonObject;

/** Returns what creating a resource of a type requires of a grant. */
export function creates(type: ResourceType) {
  return { action: 'create', needs: [{ type, letters: 'c' }], type, writes: true } as const;
}

/**
 * Creates an item in a patient's record.
 * @param exact whether the resource contains `LosslessNumber`s.
 * @throws Refusal 404 for a patient that the caller can't see, 422
 */
export async function createItem(
  request: RestRequest,
  { type, path, fields }: Kind,
  patient: string,
  resource: JsonObject,
  author: AuthorType | undefined,
  exact = false,
): Promise<RouteResult> {
  const { services, retry } = request;
  // If there was an earlier attempt, its result is returned even if the patient has been deleted since.
  if ((retry?.earlier.size ?? 0) === 0) await liveResource(request, 'Patient', patient);
  const command = makeCommandContext(request, author);
  const displays = await displaysFor(request, [fields(resource)]);
  const { result, position } = await namingInputs(
    services.commands.create(command, type, { value: resource, exact }),
  );
  const { id, version, lastUpdated = '' } = result;
  const shown = { type, id, patient, version, created: lastUpdated, updated: lastUpdated };
  const stored = writtenBody(result, parseStored);
  const own = withDisplays(fields(stored), displays);
  const record = renderRecord({ ...shown, author: command.authorship }, own);
  return {
    status: 201,
    headers: { Location: `${services.config.baseUrl}/v1/${path}/${id}` },
    text: printRecord({ ...record, ...warningsIn(request, stored, result) }),
    position,
  };
}

/** The filters for a list of a patient's items, and the requested page. */
export interface Listed extends PageOf {
  /** All filters must match. */
  readonly by?: readonly By[];
  /** Days, `YYYY-MM-DD`. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly as_of?: string | undefined;
}

/**
 * Lists a page of a patient's items, newest first. Items that were entered in error are left out; with `factsOnly`, so are the
 * items that the timeline leaves out (docs/spec/decisions.md, section 4 "Patient safety").
 */
export async function listItems(
  sent: RestRequest,
  kind: Kind,
  patient: string,
  { by = [], from, to, as_of: asOf, ...page }: Listed,
): Promise<RouteResult> {
  const request = await atMoment(sent, asOf);
  const { services, caller, factsOnly = false } = request;
  const list = nameList(kind.type, ...by);
  const lists = factsOnly ? [list] : [list, unsafePart(list)];
  const of: ListOf = { patient, types: [kind.type], letters: 's', lists, ...dayRange({ from, to }) };
  const { rows, total, next } = await listing(request, patient, () =>
    services.queries.items(caller, of, page),
  );
  // The Medication that gives an entry its name has a different type than the entry, so the caller must be allowed to read
  // that type too.
  const isNamed = kind.named === undefined || seesType(caller.sees, kind.named.type, 'r');
  const read = rows.map((item) => membersIn(kind, isNamed ? item : { ...item, referred: '' }));
  const own = (await kind.refine?.(request, read)) ?? read;
  const displays = await displaysFor(request, own);
  const data = rows.map((item, n) => listed(kind, patient, item, printed(own[n] ?? '', displays))).join(',');
  const end = JSON.stringify({ total, next_cursor: shownCursor(request, next) });
  return { status: 200, text: `{"data":[${data}],${end.slice(1)}`, shown: rows.length };
}

/**
 * Returns an item's own members. They are the text that the read model stores; or they are parsed, if another resource gives
 * the item its name or if a display may be missing in text with escapes.
 */
function membersIn({ named }: Kind, { fields, referred }: ListedItem): Members {
  const isNamed = named !== undefined && referred !== '';
  if (!isNamed && !(fields.includes('\\') && fields.includes('"display":null'))) return fields;
  return { ...parseStored(`{${fields}}`), ...(isNamed ? named.as(resourceIn(referred)) : {}) };
}

function printed(members: Members, displays: Displays): string {
  return typeof members === 'string'
    ? withDisplaysIn(members, displays)
    : printMembers(withDisplays(members, displays));
}

/**
 * Returns the record as text (like `renderRecord`). The members before and after the item's own are written out as text,
 * because printing them from an object takes three times as long, and a page has up to 200 records.
 */
function listed({ type }: Kind, patient: string, item: ListedItem, own: string): string {
  const { id, version, author, source, origin, updated, created } = item;
  const [at, since] = [toInstant(updated), created === updated ? undefined : toInstant(created)];
  return (
    `{"id":"${id}","patient":"${patient}",${own},"version":${version},"created_at":"${since ?? at}",` +
    `"updated_at":"${at}","author_type":"${author}","source_system":${source},` +
    `"origin_id":${origin},"fhir":"${type}/${id}"}`
  );
}

/**
 * Reads an item.
 * @param check refuses a resource, or the patient that the resource belongs to
 * @throws Refusal not_found (404)
 */
export async function readItem(
  sent: RestRequest & { readonly query: AsOf },
  kind: Kind,
  id: string,
  check?: (resource: JsonObject, patient: unknown) => void,
): Promise<RouteResult> {
  const request = await atMoment(sent, sent.query.as_of);
  const { type, fields } = kind;
  const found = await shownResource(request, type, id);
  const resource = parseStored(found.body);
  const [names, [own = {}] = []] = await Promise.all([
    readNames(request, kind, found.body),
    kind.refine?.(request, [fields(resource) as JsonObject]),
  ]);
  const renderFields = (of: JsonObject): object => ({
    ...fields(of),
    ...(typeof own === 'string' ? {} : own),
    ...names,
  });
  const [record = {}] = await shownRecords(request, [{ ...found, resource }], renderFields, parseStored);
  check?.(resource, record.patient);
  return { status: 200, text: printRecord(withDisplays(record, await displaysFor(request, [record]))) };
}

/**
 * Returns the members of the resource that gives an item its name: its current version, its last version if it is deleted, or
 * the version that the item refers to.
 */
async function readNames({ services, caller }: RestRequest, { named }: Kind, body: string): Promise<object> {
  const referred = named?.readReference(parseStored(body));
  if (named === undefined || referred === undefined || !seesType(caller.sees, named.type, 'r')) return {};
  const { id, version } = referred;
  const { read, vread } = services.queries;
  const readBodyAt = async (one: number) => (await vread(caller, named.type, id, one))?.body ?? null;
  const readLast = async () => {
    const other = await read(caller, named.type, id);
    return other === undefined ? null : (other.body ?? readBodyAt(other.version - 1));
  };
  const said = await (version === undefined ? readLast() : readBodyAt(version));
  return said === null ? {} : named.as(resourceIn(said));
}

/** Returns an object's members as text, without braces. */
function printMembers(members: JsonObject): string {
  return printRecord(members).slice(1, -1);
}

/** Returns JSON in which decimals keep all their digits. */
function printRecord(record: Record<string, unknown>): string {
  return printJson(record as JsonObject);
}

/**
 * Deletes an item. An item that is already deleted stays deleted.
 * @throws Refusal not_found (404) for an id that never existed.
 */
export async function removeItem(request: RestRequest, { type }: Kind, id: string): Promise<RouteResult> {
  const { result, position } = await request.services.commands.remove(
    makeCommandContext(request),
    type,
    {
      id,
    },
    readIfMatch(request.header),
  );
  if (result === undefined) throw notFound(type, id);
  return { status: 204, position };
}
