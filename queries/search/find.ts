/** Runs plans (`plan.ts`): one statement after the other, until one returns the page. */
import { LRUCache } from 'lru-cache';
import type { Refusal } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { Binds, rowsIn } from '../database/binds.ts';
import { costlySearch, isCanceled } from '../database/gather.ts';
import { type Asks, prepared } from '../database/prepared.ts';
import { type ExplainedStep, ledBy, splitConditions } from './explain.ts';
import { conditionsOn, type OrderKey } from './order.ts';
import { type Asked, countPlan, type PagePlan, type Step } from './plan.ts';
import type { Predicate } from './predicates/predicate.ts';
import type { Selection, Source } from './selection.ts';
import { stepStatement } from './statement.ts';
import { total, type Wanted } from './statements/page.ts';

/** A row of a page: its position in the order, and the resource, which is null if it has been deleted in the meantime. */
export interface FoundRow {
  readonly place: string;
  readonly keys: readonly (string | null)[];
  readonly version: number | null;
  readonly last_updated: Micros;
  /** The body, or its size if it is large (`large-bodies.ts`). */
  readonly body: string;
}

/** A row in a statement's result. */
interface Row {
  readonly total: number | null;
  readonly over: boolean;
  /** The rows as joined by `framed`. */
  readonly rows: string | null;
}

/** A page, with its total if requested. */
export interface Found {
  readonly total?: number;
  readonly rows: readonly FoundRow[];
}

/** A page that may be incomplete: if `over` is true, the step left out rows. */
interface Tried extends Found {
  readonly over: boolean;
}

/** Finds pages and totals. */
export interface Find {
  /** Runs a page's plan. */
  page(asked: Asked, plan: PagePlan): Promise<Found>;
  total(selection: Selection): Promise<number>;
}

/**
 * Sources that had more than a few rows are remembered: the maximum number of sources, the maximum length of their names, and
 * for how long they are remembered, in ms. Sources with very many keys have longer names and aren't remembered.
 */
const KNOWN = 1_000;
const KNOWN_LENGTH = 2_000;
const KNOWN_MS = 600_000;

/** Creates a `Find` on a database. */
export function openFind(pool: Asks): Find {
  const large = new LRUCache<string, true>({ max: KNOWN, ttl: KNOWN_MS });
  const run = async (wanted: Wanted, step: Step, all?: Selection): Promise<Tried> => {
    const binds = new Binds();
    const sql = stepStatement(wanted, step, binds, all);
    const { rows } = await pool.query<Row>(prepared(sql, binds.values)).catch((error: unknown) => {
      throw isCanceled(error) ? costly(splitConditions(wanted, step)) : error;
    });
    const [found] = rows;
    return {
      over: found?.over === true,
      ...(typeof found?.total === 'number' ? { total: found.total } : {}),
      rows: rowsIn(found?.rows).map((columns) => foundRow(columns, wanted.order)),
    };
  };

  const readTotal = async (selection: Selection): Promise<number> => {
    const binds = new Binds();
    const { source } = countPlan(selection);
    const sql = total(selection, source, binds);
    const { rows } = await pool
      .query<{ count: number }>(prepared(sql, binds.values))
      .catch((error: unknown) => {
        throw isCanceled(error) ? costly(ledBy(selection, source)) : error;
      });
    return rows[0]?.count ?? 0;
  };

  const inSteps = async (asked: Asked, steps: readonly Step[]): Promise<Found> => {
    let found: Found = { rows: [] };
    for (let at = 0; at < steps.length; at += 1) {
      const step = steps[at];
      if (step === undefined) break;
      const name = step.kind === 'sort' && step.remembered === true ? sourceName(step.source) : undefined;
      if (name !== undefined && large.has(name)) continue;
      const tried = await run(asked, step);
      if (isPage(asked, step, tried)) return tried;
      if (name !== undefined && name.length <= KNOWN_LENGTH) large.set(name, true);
      if ('promising' in step && tried.rows.length < (step.promising ?? 0)) at += 1;
      found = tried;
    }
    return found;
  };

  /** Finds the rows that have no value for the sort key; these rows come last. */
  const withoutValues = async (
    asked: Asked,
    without: Predicate,
    limit: number,
    isCounted: boolean,
  ): Promise<Found> => {
    const { selection, order, last, ...others } = asked;
    const counts = asked.total && !isCounted;
    const left = { ...selection, predicates: [...selection.predicates, without] };
    if (order.length > 1) {
      const [found, sum] = await Promise.all([
        run({ ...asked, selection: left, limit, total: false }, { kind: 'sort', source: undefined }),
        counts ? readTotal(selection) : undefined,
      ]);
      return { ...found, ...(sum === undefined ? {} : { total: sum }) };
    }
    const byId: Wanted = {
      ...others,
      limit,
      selection: left,
      total: counts,
      ...(last?.keys[0] === null ? { last: { id: last.id, keys: [last.id] } } : {}),
      order: [{ by: '_id', type: 'uuid', descending: order[0]?.descending === true }],
    };
    const found = await run(byId, { kind: 'walk-resources' }, selection);
    return { ...found, rows: found.rows.map((row) => ({ ...row, keys: [null] })) };
  };

  return {
    async page(asked, plan) {
      if (plan.kind !== 'order') return inSteps(asked, plan.steps);
      const { step, without } = plan;
      const walked = step === undefined ? undefined : await run(asked, step);
      const rows = walked?.rows ?? [];
      if (without === undefined || rows.length === asked.limit) return { ...walked, rows };
      const rest = await withoutValues(asked, without, asked.limit - rows.length, walked !== undefined);
      return { ...(walked ?? rest), rows: [...rows, ...rest.rows] };
    },
    total: readTotal,
  };
}

/** Returns the refusal for a statement that the database cancelled. */
function costly({ by, checks }: Pick<ExplainedStep, 'by' | 'checks'>): Refusal {
  return costlySearch(
    checks.map(({ condition }) => condition),
    by,
  );
}

/** Returns true if a step found the page, that is, if it found all matches that come first. */
function isPage({ limit, order, selection }: Asked, step: Step, { over, rows }: Tried): boolean {
  if (over) return false;
  if (step.kind === 'sort' || step.kind === 'sort-entries' || rows.length === limit) return true;
  // A walk without a limit reads everything. A walk along a condition's own values sets `over` if it stopped before the end of
  // its path.
  const most = step.kind === 'walk-values' ? step.path.most : step.most;
  return (
    most === undefined ||
    (order.length === 1 && conditionsOn(order[0]?.place, selection.predicates).length > 0)
  );
}

/**
 * Returns a name for a source that is the same in every identical search; undefined if only its statement identifies the
 * source.
 */
function sourceName(source: Source | undefined): string | undefined {
  if (source === undefined || source.kind === 'rows') return undefined;
  if (source.kind === 'keys') return JSON.stringify(source.sets);
  const { table, keys, condition } = source.values;
  const binds = new Binds();
  return JSON.stringify([table, keys, condition(binds), binds.values]);
}

function foundRow(columns: readonly string[], order: readonly OrderKey[]): FoundRow {
  const [place = '', version = '', lastUpdated = '', ...others] = columns;
  const keys = order.map(({ type }, n) => {
    const key = others[n] ?? '';
    return type === 'text' ? (JSON.parse(key) as string | null) : key === '' ? null : key;
  });
  return {
    place,
    keys,
    version: version === '' ? null : Number(version),
    last_updated: Number(lastUpdated) as Micros,
    body: others[order.length] ?? '',
  };
}
