/** A record's links as the record's project sees them: without the people. */
import type { Pool } from 'pg';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { type Page, type PageAsked, readPage } from '../admin/page.ts';

/** A link that holds. */
export interface RecordLink {
  readonly id: string;
  readonly relationship: 'self' | 'dependent';
  readonly via: 'invitation' | 'own' | 'identity_grant';
  /** Since when. */
  readonly created_at: Micros;
}

/** Queries about a record's links. */
export interface RecordLinks {
  /**
   * Reads the active links, newest first.
   * @throws Refusal invalid (422) for a cursor from a different list
   */
  readonly listLinks: (record: string, asked: PageAsked) => Promise<Page<RecordLink>>;
  /** Reads a link by its id, including its person, even if the link has ended; undefined if the record has no such link. */
  readonly readLink: (record: string, id: string) => Promise<(RecordLink & PersonId) | undefined>;
}

const COLUMNS = 'l.link_id as id, l.relationship, l.via, l.linked_at as created_at';

/** Creates the queries. */
export function openRecordLinks(pool: Pool): RecordLinks {
  return {
    // Index: consents.links_of_record.
    listLinks: (record, asked) =>
      readPage<RecordLink>(
        pool,
        {
          name: 'links-of-record',
          rows: (after) => `select ${COLUMNS} from consents.links l
            where l.record = $1::uuid and l.unlinked_at is null
            ${after && `and (l.linked_at, l.link_id) ${after}`}`,
          values: [record],
        },
        asked,
      ),
    async readLink(record, id) {
      const { rows } = await pool.query<RecordLink & PersonId>({
        name: 'link-of-record',
        text: `select ${COLUMNS}, l.issuer, l.subject from consents.links l where l.link_id = $2 and l.record = $1::uuid`,
        values: [record, id],
      });
      return rows[0];
    },
  };
}
