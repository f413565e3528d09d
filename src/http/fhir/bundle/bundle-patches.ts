/**
 * Handles JSON Patches in a Bundle, which are encoded as base64. As in a PATCH request, their values are counted as in a body,
 * and under a grant their ids are exchanged.
 */
import type { WriteEntry } from '#src/fhir/bundle.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  MAX_VALUES,
  parseJson,
  printJson,
} from '#src/shared/json/json.ts';
import { mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { JsonCount } from '../../body-count.ts';
import type { Edge } from '../../edge/edge.ts';

/**
 * Counts the values in all JSON Patches, one patch per step.
 * @param most maximum number of values in all patches together; a single patch may contain as many as a resource
 * @throws Refusal too_large (413)
 */
export function* countPatches(writes: readonly WriteEntry[], most: number): Steps<void> {
  let left = most;
  for (const { method, resource } of writes) {
    if (method !== 'PATCH' || resource?.resourceType !== 'Binary' || typeof resource.data !== 'string')
      continue;
    const count = new JsonCount({ values: MAX_VALUES });
    try {
      count.add(Buffer.from(resource.data, 'base64'));
    } catch (error) {
      // The parser refuses excessive nesting later; then only that entry fails.
      if (!(error instanceof Refusal) || error.kind === 'too_large') throw error;
    }
    left -= count.values;
    if (left < 0) {
      const diagnostics = `the JSON Patches of the Bundle have more than ${most} JSON values, the limit`;
      throw new Refusal('too_large', { code: 'too-costly', diagnostics });
    }
    yield;
  }
}

/** Returns the entries with real ids in the JSON Patches that their Binaries contain, one entry per step. */
export function inwardPatches(edge: Edge, writes: readonly WriteEntry[]): Steps<WriteEntry[]> {
  return mapSteps(writes, (entry) => {
    const { method, resource } = entry;
    if (method !== 'PATCH' || resource?.resourceType !== 'Binary') return entry;
    return { ...entry, resource: inwardBinary(edge, resource) };
  });
}

function inwardBinary(edge: Edge, binary: JsonObject): JsonObject {
  if (typeof binary.data !== 'string') return binary;
  const text = decodeBase64(binary.data);
  if (text === undefined) return binary;
  return { ...binary, data: Buffer.from(inwardText(edge, text)).toString('base64') };
}

/**
 * Decodes base64 text; returns undefined if it isn't valid base64 or UTF-8. The command refuses such text without quoting it.
 */
function decodeBase64(data: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(data, 'base64'));
  } catch {
    return undefined;
  }
}

function inwardText(edge: Edge, text: string): string {
  let value: Json;
  let exact: boolean;
  try {
    ({ value, exact } = parseJson(text));
  } catch {
    // This text isn't a valid patch, and the message that refuses it will quote it.
    return edge.inward(text);
  }
  const inward = edge.json(value);
  return isObject(inward) || Array.isArray(inward) ? printJson(inward, exact) : JSON.stringify(inward);
}
