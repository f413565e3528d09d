/** Reads the terminology resource whose id an operation's URL names. */
import { type JsonObject, parseStored } from '#src/shared/json/json.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { ConceptMap, ValueSet } from '#src/terminology/resources.ts';
import type { OperationRequest } from '../operation.ts';
import { parseConceptMap, parseValueSet } from './terminology-bodies.ts';

/**
 * Returns the parsed body of the resource; undefined if the URL has no id.
 * @throws Refusal not_found (404)
 */
async function readInstance({
  service,
  caller,
  type,
  id,
}: OperationRequest): Promise<JsonObject | undefined> {
  if (type === undefined || id === undefined) return undefined;
  const found = await service.queries.read(caller, type, id);
  if (found === undefined || found.body === null) throw notFound(type, id);
  return parseStored(found.body);
}

/**
 * Returns the URL of the CodeSystem that the operation's URL names; undefined without an id.
 * @throws Refusal not_found (404)
 */
export async function readCodeSystem(request: OperationRequest): Promise<{ url: string } | undefined> {
  const found = await readInstance(request);
  return found === undefined ? undefined : { url: String(found.url) };
}

/**
 * Returns the ValueSet that the operation's URL names; undefined without an id.
 * @throws Refusal not_found (404)
 */
export async function readValueSet(request: OperationRequest): Promise<ValueSet | undefined> {
  const found = await readInstance(request);
  return found === undefined ? undefined : parseValueSet(found);
}

/**
 * Returns the ConceptMap that the operation's URL names; undefined without an id.
 * @throws Refusal not_found (404)
 */
export async function readConceptMap(request: OperationRequest): Promise<ConceptMap | undefined> {
  const found = await readInstance(request);
  return found === undefined ? undefined : parseConceptMap(found);
}
