/** Commands on links, which connect people to records. */
import type { StoredEvent } from '#src/events/catalog.ts';
import { ALL_CONSENT } from '#src/events/snapshot-entries.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { Done, RequestContext } from '../command.ts';
import type { Streams } from '../kernel/streams.ts';
import type { Resources } from '../resource/state.ts';
import type { Consents, LinkedVia, Relationship } from './consents.ts';
import * as decide from './decide.ts';
import { activeGrants, activeSharedLinks, linked, listRevisions } from './held.ts';
import { onRecord } from './on-record.ts';

/** A link to be created. */
export interface NewLink {
  readonly linkId: string;
  readonly person: PersonId;
  readonly relationship: Relationship;
  readonly via: LinkedVia;
}

/** Opens the commands. */
export function openLinks(resources: Streams<Resources>): Pick<Consents, 'link' | 'unlink'> {
  return {
    link: (by, record, person, relationship, via) =>
      linkAs(resources, by, record, { linkId: by.ids.prefixed('link_'), person, relationship, via }),
    unlink: (by, record, { linkId }, reason) =>
      onRecord(resources, by, {
        record,
        name: `unlink/${linkId}`,
        keys: [linkId, ALL_CONSENT],
        reads: (state) => [
          ...listRevisions(state, [linkId]),
          ...activeGrants(state),
          ...activeSharedLinks(state),
        ],
        conclude: decide.unlink(record, linkId, reason),
        answer: () => undefined,
      }),
  };
}

/**
 * Links a person under the given id.
 * @throws Refusal in the same cases as `Consents.link`
 */
export function linkAs(
  resources: Streams<Resources>,
  by: RequestContext,
  record: string,
  asked: NewLink,
): Promise<Done<{ readonly linkId: string }>> {
  const keys = decide.linkKeys(asked.person, asked.linkId);
  return onRecord(resources, by, {
    record,
    name: `link/${asked.linkId}`,
    keys,
    reads: (state) => listRevisions(state, keys),
    conclude: decide.link(record, asked),
    answer: linkIn,
  });
}

function linkIn(written: readonly StoredEvent[]): { readonly linkId: string } {
  const [data] = written.flatMap(({ event }) => (event.type === 'RecordLinked' ? [linked(event)] : []));
  if (data === undefined) throw new TypeError('an earlier attempt wrote no link');
  return { linkId: data.link_id };
}
