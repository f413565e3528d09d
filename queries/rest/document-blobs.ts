/**
 * Finds the bytes in the document store that some version of their document refers to; the sweeper keeps
 * those.
 */
import type { Pool } from 'pg';
import { isUuid } from '#src/shared/ids.ts';

/** Bytes by the name of their document and their own. */
export interface NamedBlob {
  readonly document: string;
  readonly blob: string;
}

/** Gives those of the blobs that are shown. */
export type ShownBlobs = <Blob extends NamedBlob>(blobs: readonly Blob[]) => Promise<ReadonlySet<Blob>>;

// Index: primary key of history.version (id, version).
const SHOWN = `
  select k.n::int as n
  from unnest($1::uuid[], $2::text[]) with ordinality k(document, blob, n)
  where exists (select 1 from history.version v
                where v.id = k.document and position(k.blob in v.body) > 0)`;

/** Opens the lookup over a database. */
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
