/** Observations, conditions and medications: created, listed, read and deleted alike. */
import type { AuthorType } from '#src/events/metadata.ts';
import type { JsonObject } from '#src/shared/json.ts';
import type { RouteResult } from '../api/route.ts';
import { namingInputs } from './inputs.ts';
import { type Listed, listRecords } from './list.ts';
import { commandOf, liveResource, type RestRequest, recordOf, shownRecords, writtenBody } from './record.ts';

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

/** A page of a patient's items, without what was entered in error. */
export async function listItems(
  request: RestRequest,
  { type, fields }: Kind,
  patient: string,
  listed: Omit<Listed, 'type' | 'patient'>,
): Promise<RouteResult> {
  await liveResource(request, 'Patient', patient);
  const status = type === 'Condition' ? 'verification-status' : 'status';
  const criteria = [...listed.criteria, [`${status}:not`, 'entered-in-error'] as const];
  return listRecords(request, { ...listed, criteria, type, patient }, fields);
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
