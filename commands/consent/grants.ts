/** Commands on grants: give an application access to a person's record, and end grants. */
import type { StoredEvent } from '#src/events/catalog.ts';
import { projectStream } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { Sector } from '#src/shared/access/sector.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Done, RequestContext } from '../command.ts';
import type { Streams } from '../kernel/streams.ts';
import type { ProjectState } from '../project/state.ts';
import type { Resources } from '../resource/state.ts';
import { type Consents, GRANT_DAYS, type Granted, type GrantRef, type NewGrant } from './consents.ts';
import * as decide from './decide.ts';
import { granted, listRevisions } from './held.ts';
import { type Conclude, onRecord, readOwner } from './on-record.ts';

/** Pairwise ids: see `src/oauth/pairwise.ts`. The ids from earlier grants are reused. */
export interface PairwiseIds {
  readonly patient: (sector: Sector, recordId: string) => string;
  readonly subject: (sector: Sector, issuer: string, subject: string) => string;
  /** Returns the ids that an earlier grant to the sector used for the record and the person; they are reused. */
  readonly earlier: (
    sector: Sector,
    recordId: string,
    person: PersonId,
  ) => Promise<{ readonly patient?: string | undefined; readonly subject?: string | undefined }>;
}

/** Dependencies of the commands on grants. */
export interface GrantDeps {
  /** The streams of records and directories. */
  readonly resources: Streams<Resources>;
  readonly projects: Streams<ProjectState>;
  readonly pairwise: PairwiseIds;
}

/** Opens the commands. */
export function openGrants(deps: GrantDeps): Pick<Consents, 'grant' | 'revoke' | 'expire'> {
  const onGrant = (
    by: RequestContext,
    { record, grantId }: GrantRef,
    name: string,
    conclude: Conclude<void>,
  ) =>
    onRecord(deps.resources, by, {
      record,
      name: `${name}/${grantId}`,
      keys: [grantId],
      reads: (state) => listRevisions(state, [grantId]),
      conclude,
      answer: () => undefined,
    });
  return {
    grant: (by, asked) => grant(deps, by, asked),
    revoke: (by, ref, reason, note) =>
      onGrant(by, ref, 'revoke', decide.revoke(ref.record, ref.grantId, reason, note)),
    expire: (by, ref) => onGrant(by, ref, 'expire', decide.expire(ref.record, ref.grantId)),
  };
}

async function grant(deps: GrantDeps, by: RequestContext, asked: NewGrant): Promise<Done<Granted>> {
  const { record, application, days } = asked;
  if (!GRANT_DAYS.some((choice) => choice === days))
    throw new Refusal('invalid', {
      code: 'value',
      diagnostics: `a grant lasts ${GRANT_DAYS.join(', ')} days, not ${days}`,
      expression: 'days',
    });
  const grantId = by.ids.prefixed('grant_');
  const keys = decide.grantKeys(asked, grantId);
  const owner = await readOwner(deps.resources, record, keys);
  await requireUnpurged(deps, owner, record);
  const ids = { grantId, ...(await findPairwise(deps, asked)) };
  return onRecord(deps.resources, by, {
    record,
    name: `grant/${application.id}`,
    keys,
    reads: (state) => listRevisions(state, keys),
    conclude: decide.grant(asked, ids, owner.environment),
    answer: grantedIn,
  });
}

/**
 * Refuses a grant that a purge would miss, because a purge ends only the grants that exist when it begins.
 * @throws Refusal conflict if a purge of the record was requested
 */
export async function requireUnpurged(
  { projects }: Pick<GrantDeps, 'projects'>,
  owner: Tenant,
  record: string,
): Promise<void> {
  const { state } = await projects.read(projectStream(owner.project));
  if (!state.erasing.has(record)) return;
  throw new Refusal('conflict', { code: 'conflict', diagnostics: 'the record is being purged' });
}

async function findPairwise({ pairwise }: GrantDeps, { record, person, application }: NewGrant) {
  const { project, environment, sector: name } = application;
  const sector = { project, environment, sector: name };
  const earlier = await pairwise.earlier(sector, record, person);
  return {
    patient: earlier.patient ?? pairwise.patient(sector, record),
    subject: earlier.subject ?? pairwise.subject(sector, person.issuer, person.subject),
  };
}

/** Returns the result of an earlier attempt, taken from its events. */
function grantedIn(written: readonly StoredEvent[]): Granted {
  const [data] = written.flatMap(({ event }) => (event.type === 'ConsentGranted' ? [granted(event)] : []));
  if (data === undefined) throw new TypeError('an earlier attempt wrote no grant');
  const { grant_id: grantId, patient, subject, expires_at: expiresAt } = data;
  return { grantId, patient, subject, expiresAt };
}
