/** Finds bytes in the document store to which a version of their document refers; the sweeper keeps these bytes. */
import type { Pool } from 'pg';
import { isUuid } from '#src/shared/ids.ts';

/** Bytes, identified by the name of their document and their own name. */
export interface NamedBlob {
  readonly document: string;
  readonly blob: string;
}

/** Returns those of the given blobs to which some version refers. */
export type ShownBlobs = <Blob extends NamedBlob>(blobs: readonly Blob[]) => Promise<ReadonlySet<Blob>>;

// Index: primary key of history.version (id, version).
const SHOWN = `
  select k.n::int as n
  from unnest($1::uuid[], $2::text[]) with ordinality k(document, blob, n)
  where exists (select 1 from history.version v
                where v.id = k.document and position(k.blob in v.body) > 0)`;

/** Creates the lookup on a database. */
export function openShownBlobs(pool: Pool): ShownBlobs {
  return async (blobs) => {
    const known = blobs.filter(({ document }) => isUuid(document));
    const { rows } = await pool.query<{ n: number }>(SHOWN, [
      known.map(({ document }) => document),
      known.map(({ blob }) => `"${blob}"`),
    ]);
    return new Set(rows.flatMap(({ n }) => known[n - 1] ?? []));
  };
}
