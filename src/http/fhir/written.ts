/** Builds the response to a write: https://hl7.org/fhir/R4/http.html#ops, `Prefer` */
import type { WriteResult, Written } from '#commands/command.ts';
import type { WriteEntry } from '#src/fhir/bundle.ts';
import { operationOutcome } from '#src/fhir/outcome.ts';
import { type Caller, mayRead } from '#src/shared/access/caller.ts';
import type { Issue } from '#src/shared/issue.ts';
import { type JsonObject, parseStored } from '#src/shared/json/json.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';
import { type Answer, FHIR_JSON } from '../answer/answer.ts';
import { versionHeaders } from './read.ts';
import type { FhirRequest } from './request.ts';

/** HTTP methods that write. */
type WriteMethod = WriteEntry['method'];

/** The access-log actions for responses that show more than the request sent. */
const ACTION = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

/** Returns the HTTP status for a write's outcome. */
export function writeStatus({ outcome }: WriteResult): 200 | 201 {
  return outcome === 'created' || outcome === 'restored' ? 201 : 200;
}

/** Returns `Type/id/_history/n`, relative to the base. */
export function writtenLocation({ type, id, version }: WriteResult): string {
  return `${type}/${id}/_history/${version}`;
}

/** Returns when the version was recorded, if the command knows it. */
export function writtenTime({ lastUpdated }: WriteResult): Micros | undefined {
  return lastUpdated === undefined ? undefined : toMicros(lastUpdated);
}

/**
 * Returns a write's OperationOutcome, for `Prefer: return=OperationOutcome`.
 * @param warnings warnings about implausible values, which are shown only to a caller that may see its own write
 */
export function printOutcome(
  caller: Caller,
  method: WriteMethod,
  result: WriteResult,
  warnings: readonly Issue[],
): string {
  const diagnostics = `${writtenLocation(result)} ${result.outcome}`;
  const told = mayShow(caller, method, result) ? warnings : [];
  return operationOutcome([{ code: 'informational', diagnostics }, ...told]);
}

/** Returns a warning for each implausible value that a write stored. */
export function warnOfWritten(
  service: Pick<FhirRequest['service'], 'findImplausible'>,
  { outcome, body, lastUpdated }: WriteResult,
): Issue[] {
  if (outcome === 'matched' || outcome === 'unchanged' || body === undefined) return [];
  return warningIssues(service, parseStored(body), toMicros(lastUpdated ?? ''));
}

/**
 * Returns a warning for each implausible value in a resource.
 * @param at when the resource is written
 */
export function warningIssues(
  { findImplausible }: Pick<FhirRequest['service'], 'findImplausible'>,
  resource: JsonObject,
  at: Micros,
): Issue[] {
  return findImplausible(resource, at).map(({ element: expression, message: diagnostics }) => ({
    severity: 'warning',
    code: 'value',
    diagnostics,
    expression,
  }));
}

/**
 * Returns whether a response contains only data that the request sent: nothing that a condition matched, and nothing that a
 * patch or update kept. All other responses need the scope `read`.
 */
function isOwn(method: WriteMethod, { outcome, type }: WriteResult): boolean {
  if (outcome === 'matched' || outcome === 'unchanged') return false;
  return method === 'POST' || (method === 'PUT' && type !== 'DocumentReference');
}

/**
 * Records in the access log that a write was also a read, because its response shows more than the request sent, or because it
 * is a patch, which can test stored values.
 * @param represents whether the response contains the resource
 */
export function noteRead(
  { pass }: Pick<FhirRequest, 'pass'>,
  method: WriteMethod,
  result: WriteResult,
  represents: boolean,
): void {
  if (method === 'PATCH' || (represents && !isOwn(method, result)))
    pass?.shows(ACTION[method], result.type, result.id);
}

/** Returns whether the response to a write may show its resource to a caller. */
export function mayShow(caller: Caller, method: WriteMethod, result: WriteResult): boolean {
  // Under a grant, a match was found with the letter `s`, and a search would show it too.
  const isFound = caller.sees.within !== undefined && result.outcome === 'matched';
  return isFound || mayRead(caller, result.type) || isOwn(method, result);
}

/**
 * Responds to a create, update or patch as soon as every read includes it: 201 with `Location`, or 200. The body is the
 * resource, except in two cases: if `Prefer` requests otherwise, or if the resource contains more than the request sent and
 * the caller isn't allowed to read.
 */
export async function answerWritten(
  request: FhirRequest,
  method: WriteMethod,
  { result, position }: Written<WriteResult>,
): Promise<Answer> {
  const { service, prefer } = request;
  if (position !== undefined) await service.freshness.settle(position);
  const status = writeStatus(result);
  const headers = {
    ...versionHeaders(result.version, writtenTime(result)),
    ...(status === 201 || result.outcome === 'matched'
      ? { Location: service.base + writtenLocation(result) }
      : {}),
  };
  const asked = prefer.return ?? 'representation';
  const represents = asked === 'representation' && mayShow(request.caller, method, result);
  const resource = represents ? await readWrittenBody(request, result) : undefined;
  noteRead(request, method, result, resource !== undefined);
  const body = asked === 'OperationOutcome' ? outcomeIn(request, method, result) : resource;
  if (body === undefined) return { status, headers };
  return { status, headers: { ...headers, 'Content-Type': FHIR_JSON }, body };
}

function outcomeIn({ service, caller }: FhirRequest, method: WriteMethod, result: WriteResult): string {
  return printOutcome(caller, method, result, warnOfWritten(service, result));
}

/** A matched resource may come without its body, because the decision didn't need the body; it is then read here. */
async function readWrittenBody(
  { service, caller }: FhirRequest,
  { type, id, body }: WriteResult,
): Promise<string | undefined> {
  return body ?? (await service.queries.read(caller, type, id))?.body ?? undefined;
}
