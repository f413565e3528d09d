/**
 * JSON Patches in a Bundle are base64 texts: their values are counted as those of a body are, and their ids are
 * exchanged under a grant, as those of a PATCH request are.
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
 * Counts the values of all JSON Patches, one patch per step.
 * @param most values of all together; one patch may have as many as a resource
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
      // Nesting is the parser's to refuse: only its entry fails then.
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

/** Returns entries with the ids that the inside knows in the JSON Patches of their Binaries, one entry per step. */
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

/** Returns the text of base64; undefined if it is neither, which the command refuses without quoting it. */
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
    // It will be refused with a message that quotes it.
    return edge.inward(text);
  }
  const inward = edge.json(value);
  return isObject(inward) || Array.isArray(inward) ? printJson(inward, exact) : JSON.stringify(inward);
}
