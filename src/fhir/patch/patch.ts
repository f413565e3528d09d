/** Parses and applies both kinds of PATCH documents: https://hl7.org/fhir/R4/http.html#patch. Pure. */
import { isObject, type JsonObject, MAX_VALUES, type ParsedJson, parseJson } from '#src/shared/json/json.ts';
import { sizeOfJson } from '#src/shared/json/json-equal.ts';
import { atOnce, type Steps } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { applyFhirPathPatch } from './fhirpath-apply.ts';
import { type FhirPathOperation, parseFhirPathPatch } from './fhirpath-patch.ts';
import { applyJsonPatch, type JsonPatchOperation, parseJsonPatch } from './json-patch.ts';
import { sameIdentity } from './protected.ts';

/**
 * A parsed patch. `exact` means that numbers may be kept as literals, both in the patch's values and in the resource to which
 * it is applied.
 */
export type Patch = { readonly exact: boolean } & (
  | { readonly format: 'json-patch'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly format: 'fhirpath-patch'; readonly operations: readonly FhirPathOperation[] }
);

/** JSON Patch's media type. */
export const JSON_PATCH = 'application/json-patch+json';

/** Media types of PATCH bodies, for the header `Accept-Patch` and the CapabilityStatement's `patchFormat`. */
export const PATCH_TYPES = [
  JSON_PATCH,
  'application/fhir+json',
  'application/json',
  'application/json+fhir',
] as const;

/**
 * Parses a PATCH body.
 * @param contentType as in the request, including parameters.
 * @throws Refusal unsupported_media_type (415); malformed (400), naming the operations that aren't well formed.
 */
export function parsePatch(contentType: string, { value, exact }: ParsedJson): Patch {
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mediaType === JSON_PATCH) return { format: 'json-patch', operations: parseJsonPatch(value), exact };
  if (!PATCH_TYPES.some((type) => type === mediaType)) {
    throw new Refusal(
      'unsupported_media_type',
      {
        code: 'not-supported',
        diagnostics: `the Content-Type of a PATCH must be one of ${PATCH_TYPES.join(', ')}`,
      },
      { 'Accept-Patch': PATCH_TYPES.join(', ') },
    );
  }
  if (!isObject(value) || value.resourceType !== 'Parameters') {
    throw malformed(`a PATCH in FHIR JSON must be a Parameters resource; send a JSON Patch as ${JSON_PATCH}`);
  }
  return { format: 'fhirpath-patch', operations: parseFhirPathPatch(value), exact };
}

/**
 * Parses the resource in a Bundle's PATCH entry: Parameters, or a Binary that contains a JSON Patch
 * (https://hl7.org/fhir/R4/http.html#transaction).
 * @param exact whether the Bundle's tree keeps numbers as literals.
 * @throws Refusal malformed (400)
 */
export function parsePatchEntry(resource: JsonObject, exact: boolean): Patch {
  if (resource.resourceType === 'Parameters')
    return parsePatch('application/fhir+json', { value: resource, exact });
  if (resource.resourceType !== 'Binary') {
    throw malformed('the resource of a PATCH entry must be Parameters, or a Binary with a JSON Patch');
  }
  const { contentType, data } = resource;
  if (typeof contentType !== 'string' || contentType.split(';', 1)[0]?.trim().toLowerCase() !== JSON_PATCH) {
    throw malformed(`the Binary of a PATCH entry must have contentType ${JSON_PATCH}`);
  }
  return parsePatch(JSON_PATCH, parseJson(decodeBase64(data)));
}

/**
 * Applies a patch to a resource, either completely or not at all, one operation per step. The given resource isn't changed;
 * the result shares no object with it. The result isn't validated here: it is validated later, like every write.
 * @param textAsKnown returns text in the resource and in paths as the client knows it, because FHIRPath compares parts of the
 *   text
 * @returns the patched resource, with numbers kept as literals if the resource or the patch had any.
 * @throws Refusal invalid (422), naming the operation and its path, or the element that no patch may change; too_large (413)
 */
export function* patchInSteps(
  resource: JsonObject,
  patch: Patch,
  textAsKnown?: (text: string) => string,
): Steps<JsonObject> {
  const patched =
    patch.format === 'json-patch'
      ? yield* applyJsonPatch(resource, patch.operations)
      : yield* applyFhirPathPatch(resource, patch.operations, textAsKnown);
  yield;
  const { values } = sizeOfJson(patched ?? null);
  // A resource that already exceeded the limit may still be patched if it doesn't grow.
  if (values > MAX_VALUES && values > sizeOfJson(resource).values) {
    const diagnostics = `after the patch the resource has ${values} JSON values; the limit is ${MAX_VALUES}`;
    throw new Refusal('too_large', { code: 'too-costly', diagnostics });
  }
  return sameIdentity(resource, patched);
}

/** Applies a patch as `patchInSteps` does, but without pauses. */
export function applyPatch(resource: JsonObject, patch: Patch): JsonObject {
  return atOnce(patchInSteps(resource, patch));
}

function decodeBase64(data: unknown): string {
  // Whitespace is removed before the check, because a pattern that allowed whitespace in two places would take quadratic time
  // on a run of spaces.
  if (typeof data === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(data.replace(/\s+/g, ''))) {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(data, 'base64'));
    } catch {
      // Not UTF-8; refused below.
    }
  }
  throw malformed('Binary.data must be the JSON Patch as UTF-8 in base64');
}

function malformed(diagnostics: string): Refusal {
  return new Refusal('malformed', { code: 'structure', diagnostics });
}
