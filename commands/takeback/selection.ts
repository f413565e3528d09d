/** Which versions a take-back is about, by the metadata of their events. Pure. */
import type { EventMetadata } from '#src/events/metadata.ts';
import type { AuthorType } from '#src/shared/access/author.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** Selectors of versions: all that are given must match, and one of the first four is. */
export interface Selected {
  readonly source_system?: string | undefined;
  readonly key_id?: string | undefined;
  readonly application_id?: string | undefined;
  readonly author_type?: AuthorType | undefined;
  /** The model that wrote, as `X-Service-Author-Model` named it (`author.model` in the metadata). */
  readonly model?: string | undefined;
}

/** A selection within a time: versions from `since` on, before `until`. */
export interface Selection extends Selected {
  readonly since: Micros | null;
  readonly until: Micros;
}

/** The `cause` of the events of a take-back begins with it. */
const CAUSE = 'takeback/';

/** Returns the source system of a take-back's versions, which is also their `cause`. */
export const nameCause = (id: string): string => `${CAUSE}${id}`;

/** Returns the `cause` of versions that undo a take-back. */
export const nameUndoCause = (id: string): string => `${nameCause(id)}/undo`;

/** Tells whether a take-back wrote a version, or undid one. */
export function isOfTakeback({ cause }: Pick<EventMetadata, 'cause'>): boolean {
  return cause?.startsWith(CAUSE) === true;
}

/** Tells whether a selection is about a version; those of take-backs stand for the versions that they restored. */
export function isSelected(
  { source_system, key_id, application_id, author_type, model, since, until }: Selection,
  { at, metadata }: { readonly at: Micros; readonly metadata: EventMetadata },
): boolean {
  const { credential, author } = metadata;
  return (
    !isOfTakeback(metadata) &&
    at >= (since ?? 0) &&
    at < until &&
    (source_system === undefined || metadata.source_system === source_system) &&
    (key_id === undefined || credential.key_id === key_id) &&
    (application_id === undefined || credential.application === application_id) &&
    (author_type === undefined || author?.type === author_type) &&
    (model === undefined || author?.model === model)
  );
}

/** Returns texts that the JSON of each selected version's metadata contains, to find them without parsing all. */
export function listTexts({ source_system, key_id, application_id, author_type, model }: Selected): string[] {
  const member = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`"${name}":${JSON.stringify(value)}`];
  return [
    ...member('source_system', source_system),
    ...member('key_id', key_id),
    ...member('application', application_id),
    ...(author_type === undefined ? [] : [`"author":{"type":"${author_type}"`]),
    ...member('model', model),
  ];
}
