/** Observations, conditions and medications: created, listed, read and deleted alike. */
import type { ListedItem } from '#queries/rest/items.ts';
import type { ListOf, PageOf } from '#queries/rest/places.ts';
import type { AuthorType } from '#src/events/metadata.ts';
import { type ListFilter, listOf, unsafePart } from '#src/fhir/v1/lists.ts';
import { type JsonObject, printJson } from '#src/shared/json.ts';
import { parseStored } from '#src/shared/stored-json.ts';
import { toInstant } from '#src/shared/time.ts';
import type { RouteResult } from '../api/route.ts';
import { daysOf } from './days.ts';
import { namingInputs } from './inputs.ts';
import { listing } from './listing.ts';
import {
  authorOf,
  commandOf,
  liveResource,
  type RestRequest,
  recordOf,
  shownRecords,
  writtenBody,
} from './record.ts';

/** A kind of item. */
export interface Kind {
  readonly type: 'Observation' | 'Condition' | 'MedicationStatement';
  /** Below `/v1`. */
  readonly path: 'observations' | 'conditions' | 'medications';
  readonly fields: (resource: JsonObject) => object;
}

/**
 * Creates an item of a patient's record.
 * @param exact whether the resource holds `LosslessNumber`s.
 * @throws Refusal 404 for a patient that the caller cannot see, 422
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
  // What an earlier attempt wrote is answered, whatever became of the patient.
  if ((retry?.earlier.size ?? 0) === 0) await liveResource(request, 'Patient', patient);
  const command = commandOf(request, author);
  const { result, position } = await namingInputs(
    services.commands.create(command, type, { value: resource, exact }),
  );
  const { id, version, lastUpdated = '' } = result;
  const shown = { type, id, patient, version, created: lastUpdated, updated: lastUpdated };
  return {
    status: 201,
    headers: { Location: `${services.config.baseUrl}/v1/${path}/${id}` },
    text: textOf(
      recordOf({ ...shown, author: command.authorship }, fields(writtenBody(result, parseStored))),
    ),
    position,
  };
}

/** What is listed of a patient's items. */
export interface Listed extends PageOf {
  /** By a filter, and by a second one. */
  readonly by?: readonly (readonly [ListFilter, string])[];
  /** Days, `YYYY-MM-DD`. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A page of a patient's items, the newest first, without what was entered in error. */
export async function listItems(
  request: RestRequest,
  kind: Kind,
  patient: string,
  { by = [], from, to, ...page }: Listed,
): Promise<RouteResult> {
  const { services, caller } = request;
  const [first, second] = by.map((filter) => listsBy(kind, filter));
  const of: ListOf = {
    tenant: caller.tenantId,
    patient,
    lists: first ?? listsBy(kind),
    ...(second === undefined ? {} : { also: second }),
    ...daysOf(from, to),
  };
  const { rows, total, next } = await listing(request, patient, () => services.queries.items(of, page));
  const data = rows.map((item) => listed(kind, patient, item)).join(',');
  const end = JSON.stringify({ total, next_cursor: next ?? null });
  return { status: 200, text: `{"data":[${data}],${end.slice(1)}` };
}

function listsBy({ type }: Kind, filter?: readonly [ListFilter, string]): readonly string[] {
  const list = listOf(type, filter);
  return [list, unsafePart(list)];
}

/** The record's text, its own members as the read model keeps them. */
function listed({ type }: Kind, patient: string, item: ListedItem): string {
  const { id, version, fields, author, source, origin, created, updated } = item;
  const shown = { type, id, patient, version, created: toInstant(created), updated: toInstant(updated) };
  const by = authorOf({ author: { type: author }, source_system: source, origin_id: origin });
  return JSON.stringify(recordOf({ ...shown, author: by }, { fields: 0 })).replace(
    '"fields":0',
    () => fields,
  );
}

/** An item. @throws Refusal not_found (404) */
export async function readItem(
  request: RestRequest,
  { type, fields }: Kind,
  id: string,
): Promise<RouteResult> {
  const [record = {}] = await shownRecords(
    request,
    [await liveResource(request, type, id)],
    fields,
    parseStored,
  );
  return { status: 200, text: textOf(record) };
}

/** JSON in which decimals are as they were written. */
function textOf(record: Record<string, unknown>): string {
  return printJson(record as JsonObject);
}

/** Deletes an item; one that is deleted already stays so. @throws Refusal not_found (404) for what never was. */
export async function removeItem(request: RestRequest, { type }: Kind, id: string): Promise<RouteResult> {
  const { position } = await request.services.commands.remove(commandOf(request), type, { id });
  return { status: 204, position };
}
