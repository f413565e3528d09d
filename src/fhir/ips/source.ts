/** Resources as the summary is made of them: their stored text, and what it says. */
import { isObject, type Json, type JsonObject, parseJson } from '#src/shared/json.ts';
import { someMembers } from '#src/shared/json-members.ts';

/** A resource as it is stored. */
export interface Stored {
  readonly type: string;
  readonly id: string;
  /** FHIR JSON, compact, decimals as they came; perhaps made whenever it is asked for. */
  readonly body: string;
}

/** A resource and what it says. */
export interface Source extends Stored {
  /** `Type/id`. */
  readonly key: string;
  readonly value: JsonObject;
}

/** Whether the version of a resource that is here is one of some, which are named `Type/id/_history/n`. */
export function isVersionOf({ key, value }: Source, versions: ReadonlySet<string>): boolean {
  if (versions.size === 0 || !isObject(value.meta)) return false;
  return versions.has(`${key}/_history/${String(value.meta.versionId)}`);
}

/** What looks like a number between two delimiters; now and then it is part of a string, which does no harm. */
const NUMBER = /[:,[](-?\d[\d.eE+-]*)(?=[,\]}])/g;

/** Whether JavaScript would print every number of a text as it stands there. */
function isExact(body: string): boolean {
  NUMBER.lastIndex = 0;
  for (let found = NUMBER.exec(body); found !== null; found = NUMBER.exec(body)) {
    const literal = found[1] ?? '';
    if (String(Number(literal)) !== literal) return false;
  }
  return true;
}

/** Reads a stored resource; numbers keep their literals. The quick way where none can change. */
export function sourceOf({ type, id, body }: Stored): Source {
  return sourceFrom(type, id, body, isExact(body) ? JSON.parse(body) : parseJson(body).value);
}

/**
 * Reads some members of it, for whatever asks for no other and for no number: a record is much, its summary shows little.
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
