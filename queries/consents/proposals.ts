/** A record's proposals in their current state (docs/spec/decisions.md, section 7). */
import type { Pool } from 'pg';
import type { AuthorType } from '#src/shared/access/author.ts';
import { type Micros, nowMicros } from '#src/shared/time/time.ts';
import { type Page, type PageAsked, readPage } from '../admin/page.ts';

/** States of a proposal. */
export const PROPOSAL_STATUSES = [
  'pending',
  'accepted',
  'rejected',
  'withdrawn',
  'superseded',
  'expired',
] as const;

/** A state. */
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number];

/** A proposal; times are microseconds since 1970. */
export interface ProposalRow {
  readonly id: string;
  /** The Patient's real id. */
  readonly record: string;
  readonly grant_id: string;
  readonly operation: 'create' | 'update';
  readonly resource_type: string;
  /** Null for a creation that hasn't been accepted yet. */
  readonly resource_id: string | null;
  /** For an update, the version to be changed. */
  readonly base_version: number | null;
  readonly author_type: AuthorType;
  /** Exact FHIR JSON text of the proposed resource. */
  readonly resource: string;
  readonly rationale: string | null;
  /** When it was made. */
  readonly created_at: Micros;
  readonly expires_at: Micros;
  /** Null if no event has ended the proposal. */
  readonly ended_at: Micros | null;
  readonly status: ProposalStatus;
  /** For an accepted proposal, the version that resulted from it. */
  readonly version: number | null;
  /** The resource's current version, even if it is a deletion. */
  readonly newest: number | null;
  /** Exact FHIR JSON text of the version to be changed by an update. */
  readonly base: string | null;
  /** Whether an AI wrote that version. */
  readonly base_by_ai: boolean;
  readonly application_id: string;
  readonly application_name: string | null;
  readonly application_kind: string | null;
  readonly privacy_url: string | null;
  /** The name of the application's organization. */
  readonly organization: string | null;
}

/** The requested proposals. */
export interface ProposalsAsked extends PageAsked {
  /** The Patient's real id. */
  readonly record: string;
  readonly status?: ProposalStatus | undefined;
  /** Only proposals from this application. */
  readonly application?: string | undefined;
}

/** A proposal that can no longer be accepted, but hasn't been ended by an event. */
export interface LapsedProposal {
  readonly proposalId: string;
  readonly record: string;
}

/** Queries about proposals. Updates need the read models `resources` and `history` in addition to `consents`. */
export interface ProposalQueries {
  /**
   * Reads proposals, newest first.
   * @throws Refusal invalid (422) for a cursor from a different list
   */
  readonly listProposals: (asked: ProposalsAsked) => Promise<Page<ProposalRow>>;
  /** Reads a proposal on a record; undefined if the record has no proposal with that id. */
  readonly proposal: (record: string, id: string) => Promise<ProposalRow | undefined>;
  /**
   * Reads a few of the proposals that had lapsed by a given time.
   * @param except ids to leave out
   */
  readonly lapsedProposals: (at: Micros, except: readonly string[]) => Promise<readonly LapsedProposal[]>;
  /** Returns whether an application and its project exist, and the record's project wasn't deleted. */
  readonly isGrantOpen: (applicationId: string, recordProject: string) => Promise<boolean>;
}

/** The number of proposals to end at once. */
const PAGE = 20;

/** Returns the condition that a pending proposal can no longer be accepted at the time that a parameter contains. */
const lapsed = (at: string): string =>
  `(p.expires_at <= ${at} or g.ended_at is not null or g.expires_at <= ${at})`;

/** The condition isn't met for a creation, because `p.base_version` is then null. */
const MOVED = 'r.version <> p.base_version';

/** @param at placeholder of the current time */
const columns = (at: string): string => `
  p.proposal_id as id, p.record, p.grant_id, p.operation, p.resource_type, p.resource_id, p.base_version, p.author_type,
  p.resource, p.rationale, p.made_at as created_at, p.expires_at, p.ended_at, p.version, r.version as newest,
  v.body as base,
  v.metadata::json #>> '{author,type}' is not distinct from 'ai' as base_by_ai,
  case when p.ended_at is not null then p.status
       when ${lapsed(at)} then 'expired'
       when ${MOVED} then 'superseded'
       else 'pending' end as status,
  p.application_id, a.name as application_name, a.kind as application_kind, a.privacy_url, o.name as organization`;

/** Indexes: primary keys of all but proposals. The application's names are those of today. */
const FROM = `
  from consents.proposals p
  join consents.grants g on g.grant_id = p.grant_id
  left join resources.resource r on r.id = p.resource_id
  left join history.version v on v.id = p.resource_id and v.version = p.base_version
  left join projects.application a on a.id = p.application_id
  left join projects.project j on j.id = g.project
  left join projects.organization o on o.id = j.organization`;

/** Creates the queries. */
export function openProposals(pool: Pool): ProposalQueries {
  return {
    listProposals({ record, status, application, ...page }) {
      // Index: consents.proposals_of_record. A condition that isn't asked for isn't in the text.
      const values: unknown[] = [record, nowMicros()];
      const own = application === undefined ? '' : `and p.application_id = $${values.push(application)}`;
      const named = status === undefined ? '' : `where s.status = $${values.push(status)}`;
      const name = `proposals${own && '-of-application'}${named && '-by-status'}`;
      const rows = (after: string): string => `select s.* from (
        select ${columns('$2::int8')} ${FROM} where p.record = $1::uuid ${own}
          ${after && `and (p.made_at, p.proposal_id) ${after}`}) s ${named}`;
      return readPage<ProposalRow>(pool, { name, rows, values }, page);
    },
    async proposal(record, id) {
      const { rows } = await pool.query<ProposalRow>({
        name: 'proposal',
        text: `select ${columns('$3::int8')} ${FROM} where p.proposal_id = $1 and p.record = $2::uuid`,
        values: [id, record, nowMicros()],
      });
      return rows[0];
    },
    async lapsedProposals(at, except) {
      // Index: consents.open_proposals, which at most a hundred of each grant are in.
      const { rows } = await pool.query<{ readonly id: string; readonly record: string }>({
        name: 'proposals-lapsed',
        text: `select p.proposal_id as id, p.record
          from consents.proposals p
          join consents.grants g on g.grant_id = p.grant_id
          left join resources.resource r on r.id = p.resource_id and p.operation = 'update'
          where p.ended_at is null and (${lapsed('$1::int8')} or ${MOVED}) and p.proposal_id <> all($2::text[])
          order by p.proposal_id limit ${PAGE}`,
        values: [at, except],
      });
      return rows.map(({ id, record }) => ({ proposalId: id, record }));
    },
    async isGrantOpen(applicationId, recordProject) {
      // Index: primary keys. The record's project may have no row (`src/oauth/tokens/live-grant.ts`).
      const { rows } = await pool.query({
        name: 'grant-open',
        text: `select from projects.application a join projects.project p on p.id = a.project
          left join projects.project o on o.id = $2
          where a.id = $1 and a.deleted_at is null and p.deleted_at is null and o.deleted_at is null`,
        values: [applicationId, recordProject],
      });
      return rows.length > 0;
    },
  };
}
