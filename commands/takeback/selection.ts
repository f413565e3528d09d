/** Selects the versions that a take-back applies to, using the metadata of their events. Pure. */
import type { EventMetadata } from '#src/events/metadata.ts';
import type { AuthorType } from '#src/shared/access/author.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** Selectors for versions: all given selectors must match, and at least one of the first four must be given. */
export interface Selected {
  readonly source_system?: string | undefined;
  readonly key_id?: string | undefined;
  readonly application_id?: string | undefined;
  readonly author_type?: AuthorType | undefined;
  /** The model that wrote the version, as named in `X-Service-Author-Model` (`author.model` in the metadata). */
  readonly model?: string | undefined;
}

/** A selection within a period: versions from `since` up to, but not including, `until`. */
export interface Selection extends Selected {
  readonly since: Micros | null;
  readonly until: Micros;
}

/** The prefix of the `cause` of a take-back's events. */
const CAUSE = 'takeback/';

/** Returns the source system of the versions that a take-back writes, which is also their `cause`. */
export const nameCause = (id: string): string => `${CAUSE}${id}`;

/** Returns the `cause` of the versions that undo a take-back. */
export const nameUndoCause = (id: string): string => `${nameCause(id)}/undo`;

/** Returns true if a take-back, or the undo of one, wrote a version. */
export function isOfTakeback({ cause }: Pick<EventMetadata, 'cause'>): boolean {
  return cause?.startsWith(CAUSE) === true;
}

/**
 * Returns true if a selection includes a version. Versions written by take-backs are never selected; they count as the
 * versions that they restored.
 */
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

/**
 * Returns strings that occur in the JSON of each selected version's metadata, so that these versions can be found without
 * parsing all of them.
 */
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
