/** Parses the resource in a request's body, and defines how large bodies may be (docs/limits.md). */
import type { SubmittedResource } from '#commands/command.ts';
import { PATCH_TYPES } from '#src/fhir/patch/patch.ts';
import { withArticle } from '#src/shared/article.ts';
import { cut } from '#src/shared/cut.ts';
import { isObject, MAX_VALUES, type ParsedJson, parseInParts, parseJson } from '#src/shared/json/json.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type BodyLimits, decodeBody, JSON_TYPES, type RawBody } from '../body.ts';
import { JsonCount } from '../body-count.ts';

/** The length, in bytes, from which a resource is parsed in slices. */
const LONG = 200_000;

/**
 * Parses a body and, under a grant, exchanges its ids.
 * @throws Refusal malformed (400) for invalid JSON or UTF-8
 */
export function parseBody(body: RawBody | undefined): ParsedJson {
  if (body === undefined) throw malformed('required', 'the request has no body');
  const { edge } = body;
  if (edge === undefined) return parseJson(decodeBody(body));
  const { value, exact } = edge.refusing(() => parseJson(decodeBody(body)));
  return { value: edge.json(value), exact };
}

/**
 * Parses a long body, such as a Bundle, in slices so that other requests can run in between.
 * @throws the same errors as `parseBody`
 */
export async function parseLongBody(body: RawBody | undefined): Promise<ParsedJson> {
  if (body === undefined) throw malformed('required', 'the request has no body');
  const { edge } = body;
  const parsing = () => inSlices(parseInParts(decodeBody(body)));
  if (edge === undefined) return parsing();
  const { value, exact } = await edge.refusingLater(parsing);
  return { value: await edge.jsonInSlices(value), exact };
}

/**
 * Parses the resource in a body.
 * @param type the type in the URL
 * @throws Refusal malformed (400) for invalid JSON, for a value that isn't an object, and for a type other than the URL's
 */
export async function parseResource(body: RawBody | undefined, type: string): Promise<SubmittedResource> {
  const isLong = body !== undefined && body.bytes.length > LONG;
  const { value, exact } = isLong ? await parseLongBody(body) : parseBody(body);
  if (!isObject(value)) throw malformed('structure', 'the body must be a JSON object');
  const { resourceType } = value;
  if (typeof resourceType !== 'string') {
    throw malformed('required', 'the body has no resourceType', `${type}.resourceType`);
  }
  if (resourceType !== type) {
    const shown = cut(resourceType, 64);
    throw malformed(
      'value',
      `the body is ${withArticle(shown)}, but the URL names ${type}`,
      `${type}.resourceType`,
    );
  }
  return { value, exact };
}

function malformed(
  code: 'required' | 'structure' | 'value',
  diagnostics: string,
  expression?: string,
): Refusal {
  return new Refusal('malformed', { code, diagnostics, ...(expression === undefined ? {} : { expression }) });
}

/** The kinds of request bodies. */
export type FhirBody = 'resource' | 'patch' | 'bundle';

/** Settings that limit bodies. */
export interface FhirBodySettings {
  readonly limits: { readonly bodyBytes: number; readonly bundleBytes: number };
  readonly bundleEntries: number;
  readonly bundleValues: number;
}

/** Number of allowed bytes per allowed JSON value in a Bundle. In Bundles about patients, there is one value per 23 bytes. */
const BYTES_PER_VALUE = 16;

/** Returns the maximum number of JSON values in a Bundle. */
export function bundleValues({ bundleBytes }: { readonly bundleBytes: number }): number {
  // If few bytes are allowed, there is no need for a limit on values below the usual one.
  return Math.max(MAX_VALUES, Math.floor(bundleBytes / BYTES_PER_VALUE));
}

/** Returns the limits on a body. Each Bundle entry may have as many values as a resource. */
export function chooseLimits(settings: FhirBodySettings, takes: FhirBody): BodyLimits {
  const { limits, bundleEntries, bundleValues: values } = settings;
  if (takes === 'bundle') {
    const entries = { most: bundleEntries, values: MAX_VALUES };
    const count = () => new JsonCount({ values, entries });
    return { accepted: JSON_TYPES, bytes: limits.bundleBytes, count };
  }
  const accepted = takes === 'patch' ? PATCH_TYPES : JSON_TYPES;
  return { accepted, bytes: limits.bodyBytes, count: () => new JsonCount({ values: MAX_VALUES }) };
}
