/** JSON Patches in a Bundle are base64 texts: their ids are exchanged under a grant, as those of a PATCH request are. */
import type { WriteEntry } from '#src/fhir/bundle.ts';
import { isObject, type Json, type JsonObject, parseJson, printJson } from '#src/shared/json.ts';
import type { Edge } from '../edge/edge.ts';

/** Returns entries with the ids that the inside knows in the JSON Patches of their Binaries. */
export function inwardPatches(edge: Edge, writes: readonly WriteEntry[]): readonly WriteEntry[] {
  return writes.map((entry) => {
    const { method, resource } = entry;
    if (method !== 'PATCH' || resource?.resourceType !== 'Binary') return entry;
    return { ...entry, resource: inwardBinary(edge, resource) };
  });
}

function inwardBinary(edge: Edge, binary: JsonObject): JsonObject {
  if (typeof binary.data !== 'string') return binary;
  const text = textOf(binary.data);
  if (text === undefined) return binary;
  return { ...binary, data: Buffer.from(inwardText(edge, text)).toString('base64') };
}

/** Returns the text of base64; undefined if it is neither, which the command refuses without quoting it. */
function textOf(data: string): string | undefined {
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
