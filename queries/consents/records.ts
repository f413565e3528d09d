/** The records that a person has: their own and those of their dependents (docs/spec/decisions.md, section 9). */
import type { Pool } from 'pg';
import { type Death, readDeath } from '#src/clinical/reading/person.ts';
import { first, text } from '#src/fhir/parts.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import { isUuid } from '#src/shared/ids.ts';
import { parseStored } from '#src/shared/json/json.ts';
import type { SandboxLinks } from './sandbox-links.ts';

/** A person who has records. The e-mail address is used only for synthetic patients. */
export type RecordHolder = Pick<Identity, 'issuer' | 'subject' | 'email'>;

/** A person's link to a record. */
export interface LinkRow {
  /** Undefined for a link that results from an e-mail address in the sandbox, because no event created such a link. */
  readonly linkId: string | undefined;
  /** The Patient's real id. */
  readonly record: string;
  readonly environment: Environment;
  readonly relationship: 'self' | 'dependent';
  readonly via: 'invitation' | 'own' | 'identity_grant' | 'sandbox';
}

/** A person's record (`MyPatient`, docs/spec/decisions.md, section 4). */
export interface MyPatient extends LinkRow {
  /** The same as `record`. */
  readonly id: string;
  readonly given: string | null;
  readonly family: string | null;
  /** YYYY-MM-DD, possibly without day or month. */
  readonly birth_date: string | null;
  /** Undefined unless the record says that the patient has died. */
  readonly died: Death | undefined;
  /** The name of the project that owns the record; null for a synthetic patient if only one project was requested. */
  readonly keeper: string | null;
}

/** The records to read. */
export interface RecordsAsked {
  /** If given, leaves out synthetic patients in other projects; linked records in other projects are kept. */
  readonly project?: string | undefined;
  /** True to include records whose Patient is deleted; they have no name. */
  readonly deleted?: boolean | undefined;
}

/** Queries about people's records. */
export interface RecordQueries {
  /** Reads a person's records in an environment: their own first, then the others in the order in which they were linked. */
  readonly listRecords: (
    person: RecordHolder,
    environment: Environment,
    asked?: RecordsAsked,
  ) => Promise<readonly MyPatient[]>;
  /**
   * Reads a person's link to a record, even while the record's Patient is deleted; undefined if the person has no link to it.
   */
  readonly linkTo: (person: RecordHolder, record: string) => Promise<LinkRow | undefined>;
}

/** The maximum number of records per person. */
const MOST = 1_000;

const LINK = `l.link_id as "linkId", l.record, l.environment, l.relationship, l.via`;

// Index: consents.links_of_person, and the primary key of resources.resource.
const RECORDS = `
select ${LINK}, r.body, coalesce(r.deleted, false) as deleted, p.name as keeper
from consents.links l left join projects.project p on p.id = l.owner_project left join resources.resource r on r.id = l.record and r.type = 'Patient'
where l.issuer = $1 and l.subject = $2 and l.environment = $3 and l.unlinked_at is null
order by l.relationship <> 'self', l.linked_at, l.link_id limit ${MOST}`;

// Index: consents.links_of_record.
const TO = `
select ${LINK} from consents.links l
where l.record = $3::uuid and l.issuer = $1 and l.subject = $2 and l.unlinked_at is null
order by l.relationship <> 'self', l.linked_at limit 1`;

/** A record's row. */
type Row = LinkRow & Pick<MyPatient, 'keeper'> & { readonly body: string | null; readonly deleted: boolean };

/**
 * Creates the queries.
 * @param devIssuer the identifier of the development issuer, whose people have synthetic patients; undefined if there is none
 */
export function openRecords(
  pool: Pool,
  sandboxLinks: SandboxLinks,
  devIssuer: string | undefined,
): RecordQueries {
  const signInAddress = ({ issuer, email }: RecordHolder): string | undefined =>
    issuer === devIssuer ? email?.toLowerCase() : undefined;
  return {
    async listRecords(person, environment, { project, deleted = false } = {}) {
      const { rows } = await pool.query<Row>({
        name: 'records-of-person',
        text: RECORDS,
        values: [person.issuer, person.subject, environment],
      });
      const email = environment === 'sandbox' ? signInAddress(person) : undefined;
      const computed = email === undefined ? [] : await sandboxLinks(email, { project });
      const all = [
        ...rows.filter((row) => deleted || !row.deleted),
        ...computed.map(
          (link): Row => ({
            ...fromSandbox(link),
            ...{ body: link.body, deleted: false, keeper: link.keeper },
          }),
        ),
      ].sort((a, b) => rank(a) - rank(b));
      const found = new Map<string, MyPatient>();
      for (const row of all) if (!found.has(row.record)) found.set(row.record, renderPatient(row));
      return [...found.values()];
    },
    async linkTo(person, record) {
      if (!isUuid(record)) return undefined;
      const { rows } = await pool.query<LinkRow>({
        name: 'link-of-person',
        text: TO,
        values: [person.issuer, person.subject, record],
      });
      if (rows[0] !== undefined) return rows[0];
      const email = signInAddress(person);
      const [computed] = email === undefined ? [] : await sandboxLinks(email, { record });
      return computed === undefined ? undefined : fromSandbox(computed);
    },
  };
}

const rank = ({ relationship }: LinkRow): number => (relationship === 'self' ? 0 : 1);

function fromSandbox({ record, relationship }: Pick<LinkRow, 'record' | 'relationship'>): LinkRow {
  return { linkId: undefined, record, environment: 'sandbox', relationship, via: 'sandbox' };
}

function renderPatient({ linkId, record, environment, relationship, via, body, keeper }: Row): MyPatient {
  const patient = parseStored(body ?? '{}');
  const { name, birthDate } = patient;
  const names = first(name);
  const given = [names?.given ?? []].flat().filter((part) => typeof part === 'string');
  return {
    id: record,
    linkId,
    record,
    environment,
    relationship,
    via,
    given: given.length === 0 ? null : given.join(' '),
    family: text(names?.family) ?? null,
    birth_date: text(birthDate) ?? null,
    died: readDeath(patient),
    keeper,
  };
}
