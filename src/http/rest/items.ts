/** Observations, conditions and medications: created, listed, read and deleted alike. */
import type { ListedItem } from '#queries/rest/items.ts';
import type { ListOf, PageOf } from '#queries/rest/places.ts';
import type { AuthorType } from '#src/events/metadata.ts';
import { type ListFilter, listOf, unsafePart } from '#src/fhir/v1/lists.ts';
import type { JsonObject } from '#src/shared/json.ts';
import { toInstant } from '#src/shared/time.ts';
import type { RouteResult } from '../api/route.ts';
import { daysOf } from './days.ts';
import { namingInputs } from './inputs.ts';
import {
  authorOf,
  commandOf,
  liveResource,
  type RestRequest,
  recordOf,
  resourceIn,
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

/** Creates an item of a patient's record. @throws Refusal 404 for a patient that the caller cannot see, 422 */
export async function createItem(
  request: RestRequest,
  { type, path, fields }: Kind,
  patient: string,
  resource: JsonObject,
  author: AuthorType | undefined,
): Promise<RouteResult> {
  const { services, retry } = request;
  // What an earlier attempt wrote is answered, whatever became of the patient.
  if ((retry?.earlier.size ?? 0) === 0) await liveResource(request, 'Patient', patient);
  const command = commandOf(request, author);
  const { result, position } = await namingInputs(
    services.commands.create(command, type, { value: resource, exact: false }),
  );
  const { id, version, lastUpdated = '' } = result;
  const shown = { type, id, patient, version, created: lastUpdated, updated: lastUpdated };
  return {
    status: 201,
    headers: { Location: `${services.config.baseUrl}/v1/${path}/${id}` },
    body: recordOf({ ...shown, author: command.authorship }, fields(writtenBody(result))),
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

/** Read models that lists of items are made from. */
export const ITEM_MODELS = ['resources', 'history', 'timeline'];

/** A page of a patient's items, the newest first, without what was entered in error. */
export async function listItems(
  request: RestRequest,
  kind: Kind,
  patient: string,
  { by = [], from, to, ...page }: Listed,
): Promise<RouteResult> {
  const { services, caller } = request;
  await Promise.all([liveResource(request, 'Patient', patient), services.caughtUp(['timeline', 'history'])]);
  const [first, second] = by.map((filter) => listsBy(kind, filter));
  const of: ListOf = {
    tenant: caller.tenantId,
    patient,
    lists: first ?? listsBy(kind),
    ...(second === undefined ? {} : { also: second }),
    ...daysOf(from, to),
  };
  const { items, total, next } = await services.queries.items(of, page);
  const data = items.map((item) => listed(kind, patient, item));
  return { status: 200, body: { data, total, next_cursor: next ?? null } };
}

function listsBy({ type }: Kind, filter?: readonly [ListFilter, string]): readonly string[] {
  const list = listOf(type, filter);
  return [list, unsafePart(list)];
}

function listed({ type, fields }: Kind, patient: string, item: ListedItem): Record<string, unknown> {
  const { id, version, body, created, updated, metadata } = item;
  const shown = { type, id, patient, version, created: toInstant(created), updated: toInstant(updated) };
  return recordOf({ ...shown, author: authorOf(metadata) }, fields(resourceIn(body)));
}

/** An item. @throws Refusal not_found (404) */
export async function readItem(
  request: RestRequest,
  { type, fields }: Kind,
  id: string,
): Promise<RouteResult> {
  const [body] = await shownRecords(request, [await liveResource(request, type, id)], fields);
  return { status: 200, body };
}

/** Deletes an item; one that is deleted already stays so. @throws Refusal not_found (404) for what never was. */
export async function removeItem(request: RestRequest, { type }: Kind, id: string): Promise<RouteResult> {
  const { position } = await request.services.commands.remove(commandOf(request), type, { id });
  return { status: 204, position };
}
