/**
 * Finds codes in a code system by typed text: by a code, the beginning of a name, some of the name's words, or a near match.
 */
import type { ClientBase, Pool } from 'pg';
import type { FindCodes, FoundCode } from '#src/fhir/terminology.ts';
import { inTransaction, underLock } from '../install.ts';
import type { CodeIndex, FoundPlaces } from './code-index.ts';
import { makeCodeIndex, readCodeIndex } from './make.ts';

/** Number of the database's advisory lock under which missing indexes are built. */
const LOCK = 4_206_107_319;

const AS_OF_ONE_MOMENT = 'begin isolation level repeatable read read only';

/** A code system's index, and the system's number, which changes with each load. */
interface Loaded {
  readonly system: number;
  readonly index: CodeIndex;
}

interface Row extends FoundCode {
  readonly system: number;
  readonly place: number | null;
}

// Indexes: terminology.system (url), concept_in_order (system, place). Each place is looked up separately, since a plan
// for all of them reads the whole system if it has not been analyzed after a load.
const FOUND = `
  select s.id as system, c.place, c.code, c.display, c.category, c.unit
  from terminology.system s
  left join lateral (
    select c.place, c.code, c.display, c.category, c.unit
    from unnest($3::int[]) p(place)
    cross join lateral (
      select c.place, c.code, c.display, c.category, c.unit from terminology.concept c
      where c.system = s.id and c.place = p.place limit 1) c
    where s.id = $2) c on true
  where s.url = $1`;

/**
 * Creates the search on a database. A system's index is loaded into memory when the system is first queried. The codes in each
 * answer come from the database, which also shows whether the system has been reloaded.
 * @param ready resolves when the bundled terminology is installed
 */
export function openFindCodes(pool: Pool, ready: () => Promise<void>): FindCodes {
  const held = new Map<string, Promise<Loaded | undefined>>();
  const loaded = (url: string): Promise<Loaded | undefined> => {
    const before = held.get(url);
    if (before !== undefined) return before;
    const loading = load(pool, url);
    held.set(url, loading);
    loading.catch(() => held.delete(url));
    return loading;
  };
  return async (url, typed, limit) => {
    await ready();
    for (;;) {
      const loading = loaded(url);
      const of = await loading;
      const { places, total } = of?.index.find(typed, limit) ?? NOTHING;
      const { rows } = await pool.query<Row>({
        name: 'codes-found',
        text: FOUND,
        values: [url, of?.system ?? null, places],
      });
      if (rows[0]?.system === of?.system) return { codes: inOrder(places, rows), total };
      if (held.get(url) === loading) held.delete(url);
    }
  };
}

const NOTHING: FoundPlaces = { places: [], total: 0 };

function inOrder(places: readonly number[], rows: readonly Row[]): FoundCode[] {
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  return places.flatMap((place) => byPlace.get(place) ?? []);
}

/** Returns a system's index; builds the index if it is missing, for example after an upgrade. */
async function load(pool: Pool, url: string): Promise<Loaded | undefined> {
  for (;;) {
    const read = await inTransaction(pool, AS_OF_ONE_MOMENT, async (tx) => {
      const system = await readNumber(tx, url);
      return system === undefined ? undefined : { system, index: await readCodeIndex(tx, system) };
    });
    if (read === undefined) return undefined;
    const { system, index } = read;
    if (index !== undefined) return { system, index };
    await underLock(pool, LOCK, (tx) => make(tx, url));
  }
}

/**
 * Builds a system's index, unless another process has just built it. Removal of the system has to wait for this, but this
 * doesn't wait for other systems to be loaded.
 */
async function make(tx: ClientBase, url: string): Promise<void> {
  const { rows } = await tx.query<{ id: number; made: boolean }>(
    `select s.id, exists (select from terminology.code_index i where i.system = s.id) as made
     from terminology.system s where s.url = $1 for key share of s`,
    [url],
  );
  const [system] = rows;
  if (system?.made === false) await makeCodeIndex(tx, system.id);
}

async function readNumber(tx: ClientBase, url: string): Promise<number | undefined> {
  const { rows } = await tx.query<{ id: number }>('select s.id from terminology.system s where s.url = $1', [
    url,
  ]);
  return rows[0]?.id;
}
