/** Defines the form of resources from which a summary is made: their stored text, and its parsed content. */
import { isObject, type Json, type JsonObject, parseJson } from '#src/shared/json.ts';
import { someMembers } from '#src/shared/json-members.ts';

/** A resource as it is stored. */
export interface Stored {
  readonly type: string;
  readonly id: string;
  /** Compact FHIR JSON with decimals as received; a getter may compute it. */
  readonly body: string;
}

/** A resource with its parsed content. */
export interface Source extends Stored {
  /** `Type/id`. */
  readonly key: string;
  readonly value: JsonObject;
}

/** Returns the name of this version of a resource: `Type/id/_history/n`; undefined if it has none. */
export function versionNameOf({ key, value }: Source): string | undefined {
  return isObject(value.meta) ? `${key}/_history/${String(value.meta.versionId)}` : undefined;
}

/** A number between two delimiters. A match may be inside a string, which does no harm. */
const NUMBER = /[:,[](-?\d[\d.eE+-]*)(?=[,\]}])/g;

/** Returns whether JavaScript would print every number of a text unchanged. */
function isExact(body: string): boolean {
  NUMBER.lastIndex = 0;
  for (let found = NUMBER.exec(body); found !== null; found = NUMBER.exec(body)) {
    const literal = found[1] ?? '';
    if (String(Number(literal)) !== literal) return false;
  }
  return true;
}

/** Parses a stored resource; numbers keep their literals. Uses JSON.parse if that changes no number. */
export function sourceOf({ type, id, body }: Stored): Source {
  return sourceFrom(type, id, body, isExact(body) ? JSON.parse(body) : parseJson(body).value);
}

/**
 * Reads some members of a stored resource, for callers that need no others and no numbers: a resource is large, and a
 * summary shows little of it.
 * @param known as for `someMembers`.
 */
export function glanceAt(
  { type, id, body }: Stored,
  members: ReadonlySet<string>,
  known: Map<string, Json>,
): Source {
  return sourceFrom(type, id, body, someMembers(body, members, known) ?? JSON.parse(body));
}

function sourceFrom(type: string, id: string, body: string, value: unknown): Source {
  return { key: `${type}/${id}`, type, id, body, value: isObject(value) ? value : {} };
}
