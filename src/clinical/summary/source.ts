/** Defines the form of the resources from which a summary is generated: their stored text and their parsed content. */

import { isObject, type Json, type JsonObject, parseStored } from '#src/shared/json/json.ts';
import { someMembers } from '#src/shared/json/json-members.ts';
import type { Replaced } from '../reading/told.ts';

/** A stored resource. */
export interface Stored {
  readonly type: string;
  readonly id: string;
  /** Compact FHIR JSON with decimals as received; may be a getter that computes the text. */
  readonly body: string;
}

/** A resource with its parsed content. */
export interface Source extends Stored {
  /** `Type/id`. */
  readonly key: string;
  readonly value: JsonObject;
  /** The earlier versions, newest first; only the ones that were read. */
  readonly replaced?: readonly Replaced[] | undefined;
}

/** Returns the name of this version of a resource: `Type/id/_history/n`; undefined if it has none. */
export function versionName({ key, value }: Source): string | undefined {
  return isObject(value.meta) ? `${key}/_history/${String(value.meta.versionId)}` : undefined;
}

/** Parses a stored resource; numbers keep their literals. */
export function parseSource({ type, id, body }: Stored): Source {
  return sourceFrom(type, id, body, parseStored(body));
}

/**
 * Reads only some of a stored resource's members, for callers that need no other members and no numbers. Reading all members
 * would be wasteful, because a resource is large and a summary shows little of it.
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
