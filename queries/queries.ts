/** The read side as the HTTP interfaces see it: one function per query, all on one pool. */

import { availableParallelism } from 'node:os';
import pg, { type Pool } from 'pg';
import { Pace } from '#queries/database/pace.ts';
import type { AiVersions } from '#src/clinical/summary/choose.ts';
import type { ReplacedText } from '#src/context/replaced.ts';
import type { FindCodes, Terminology } from '#src/fhir/terminology.ts';
import type { MolarMassOf } from '#src/insight/measurement.ts';
import { type Caller, turnKey } from '#src/shared/access/caller.ts';
import { Admission, type AdmissionLimits } from '#src/shared/load/admission.ts';
import { presence } from '#src/shared/load/slices.ts';
import { type MakeContext, type NameCodes, openMakeContext } from './context/context.ts';
import { RecordCache } from './context/record-cache.ts';
import { type ApiKeyCaller, openApiKeys } from './credentials.ts';
import { lineOver, openPast } from './database/as-of.ts';
import { Line } from './database/gather.ts';
import { type Everything, openEverything } from './everything/everything.ts';
import { type History, openHistory } from './history/history.ts';
import { type NewestVersion, openNewestVersion } from './history/newest-version.ts';
import { type CurrentVersion, readReplacedTexts } from './history/replaced-versions.ts';
import { type Include, openInclude } from './include/include.ts';
import {
  type Compare,
  openCompare,
  openSeries,
  type ReadPatterns,
  type ReadSeries,
} from './insight/insight.ts';
import { openPatterns } from './insight/patterns.ts';
import { openReadProvenance, type ReadProvenance } from './provenance/read.ts';
import { openSearchProvenance, type SearchProvenance } from './provenance/search.ts';
import { openRead, type Read } from './read.ts';
import { type GrantedQueries, openGranted } from './read-granted.ts';
import { type Items, openItems } from './rest/items.ts';
import { type Marks, openMarks, openReadMarked, type ReadMarked } from './rest/marks.ts';
import { openTimeline, type Timeline } from './rest/timeline.ts';
import { openVersions, type Versions } from './rest/versions.ts';
import { openSearch, type Search } from './search/search.ts';
import { openTallies } from './search/tallies.ts';
import { type LoadVersions, openSearchRecord, type SearchRecord } from './search-record.ts';
import { aiVersions } from './summary/ai-versions.ts';
import { openSummarize, type Summarize } from './summary/summary.ts';
import { withSharedRead, withSharedSearch, withSharedVread } from './terminology/shared.ts';
import { openVread, type Vread } from './vread.ts';

/**
 * All queries for the FHIR interface. None of them returns data that the caller isn't allowed to see. For a caller with
 * `sees.asOf`, queries about single resources and whole records return data as of that time.
 */
export interface Queries extends GrantedQueries {
  readonly apiKey: ApiKeyCaller;
  readonly read: Read;
  readonly vread: Vread;
  readonly history: History;
  readonly newestVersion: NewestVersion;
  readonly search: Search;
  readonly include: Include;
  /** Searches within a record as of the caller's requested time, which must be set. */
  readonly searchRecord: SearchRecord;
  readonly readProvenance: ReadProvenance;
  readonly searchProvenance: SearchProvenance;
  readonly everything: Everything;
  readonly summarize: Summarize;
  /** Returns the versions of a record's resources that an AI wrote, like `aiVersions`. */
  readonly aiVersions: (caller: Caller, record: string) => Promise<AiVersions>;
  /** Returns the text of replaced versions, like `readReplacedTexts`. */
  readonly replacedVersions: (
    caller: Caller,
    current: readonly CurrentVersion[],
  ) => Promise<ReadonlyMap<string, readonly ReplacedText[]>>;
  readonly tellContext: MakeContext;
  readonly series: ReadSeries;
  readonly patterns: ReadPatterns;
  readonly comparison: Compare;
  readonly items: Items;
  readonly timeline: Timeline;
  readonly findCodes: FindCodes;
  readonly marks: Marks;
  readonly readMarked: ReadMarked;
  readonly versions: Versions;
  /** The pool of connections for searches. */
  readonly searches: Pool;
  /** Closes the connections that are open in addition to the pool. */
  readonly close: () => Promise<void>;
}

/**
 * Limits on concurrent searches and reads of whole records, in total and per caller (as for turns), so that other reads and
 * writes can use the database at the same time. The maximum wait is the same as for a connection.
 */
const SEARCHES = {
  total: 8,
  // Each search takes one core of the database: while other callers have requests in progress, half of the cores are left to
  // them.
  ofOne: () => (presence.several ? Math.max(1, availableParallelism() >> 1) : 6),
  waiting: 200,
  waitMs: 5_000,
} as const;

/**
 * Number of concurrent summaries, from reading the record to building the document: one record is read while another document
 * is built. A higher number would use more memory without finishing sooner. Once it is their turn, summaries count towards
 * `SEARCHES` too.
 */
const SUMMARIES = { total: 2, ofOne: 2, waiting: 200, waitMs: 15_000 } as const;

/** The maximum number of concurrent searches under grants by all of a project's applications together. */
const OF_GRANTS = 2;

/**
 * While a record's owner is searching, applications search the owner's records one at a time. The pause between their searches
 * leaves the owner two thirds of the capacity that two searches would share (`npm run bench -- --only grants`).
 */
const PACE = { activeMs: 100, restMs: 30, waiting: 200, waitMs: 5_000 } as const;

/**
 * Number of concurrent contexts: two long records at once would take twice the memory, and just as much of this process's
 * time.
 */
const CONTEXTS = { total: 1, ofOne: 1, waiting: 200, waitMs: 15_000 } as const;

/** Number of concurrent series and comparisons, limited because each keeps all of a record's values in memory. */
const INSIGHTS = { total: 2, ofOne: 2, waiting: 200, waitMs: 15_000 } as const;

/**
 * Number of concurrent searches for patterns in records. A search by one project may take up the entire time limit
 * (`queries/insight/patterns.ts`); neither the pattern searches of other projects nor series wait for it. Results that are
 * cached, or are already being computed for another request, don't take a turn.
 */
const PATTERNS = { total: 2, ofOne: 1, waiting: 200, waitMs: 25_000 } as const;

/**
 * Opens connections for searches. Their statements fix the join order (`search/page.ts`), so they are planned once for all
 * values. By default, PostgreSQL would plan some of them each time, which takes longer than running them.
 */
function searchPool({ options }: Pool, most: number): Pool {
  const settings = [options.options ?? '', '-c plan_cache_mode=force_generic_plan'].join(' ').trim();
  const pool = new pg.Pool({ ...options, max: most, options: settings });
  pool.on('error', () => undefined);
  return pool;
}

/** Returns one process's share of the search limits: at least one search per caller, and at least two in total. */
function shareSearches(sharers: number): AdmissionLimits & { readonly total: number } {
  if (sharers === 1) return SEARCHES;
  const share = (most: number): number => Math.ceil(most / sharers);
  return { ...SEARCHES, total: Math.max(2, share(SEARCHES.total)), ofOne: () => share(SEARCHES.ofOne()) };
}

/** A query that a caller makes. */
type Ask<Rest extends readonly unknown[], Answer> = (caller: Caller, ...rest: Rest) => Promise<Answer>;

/**
 * Creates a query that runs as of now or, for callers that request an earlier time, as of that time.
 * @param present the query as of now
 * @param open creates the query on the rows as of an earlier time
 */
function atMoments<Rest extends readonly unknown[], Answer>(
  pool: Pool,
  present: Ask<Rest, Answer>,
  open: (then: Pool) => Ask<Rest, Answer>,
): Ask<Rest, Answer> {
  return (caller, ...rest) => {
    const { asOf } = caller.sees;
    return asOf === undefined ? present(caller, ...rest) : open(openPast(pool, asOf))(caller, ...rest);
  };
}

/**
 * Creates the queries on a database.
 * @param terminology the code lookups for searches and contexts
 * @param terminologyReady resolves when the shared terminology is installed
 * @param loadVersions loads versions into tables with the projections, which queries don't import
 * @param sharers the number of processes that share a machine's search limits
 */
export function openQueries(
  pool: Pool,
  terminology: Terminology & {
    readonly displays: NameCodes;
    readonly findCodes: FindCodes;
    readonly molarMassOf: MolarMassOf;
  },
  terminologyReady: () => Promise<void>,
  loadVersions: LoadVersions,
  sharers = 1,
): Queries {
  const limits = shareSearches(sharers);
  const shared = { pool, ready: terminologyReady };
  const line = new Line(pool.options);
  const readNow = withSharedRead(shared, openRead(line, pool));
  const read = atMoments(pool, readNow, (then) => openRead(lineOver(then), then));
  // Histories have a separate line, so that no read waits behind a long response.
  const histories = new Line(pool.options);
  const turns = new Admission(limits);
  const pace = new Pace(PACE);
  const searches = searchPool(pool, limits.total);
  const insights = new Admission(INSIGHTS);
  const patterns = new Admission(PATTERNS);
  const series = atMoments(pool, openSeries(pool, terminology.molarMassOf), (then) =>
    openSeries(then, terminology.molarMassOf),
  );
  const records = new RecordCache(pool);
  const tellContext = atMoments(pool, openMakeContext(pool, terminology.displays, records), (then) =>
    openMakeContext(then, terminology.displays, records),
  );
  /** Makes a query wait for its turn among the same caller's queries (`turnKey`). */
  const inTurn =
    <Rest extends readonly unknown[], Answer>(
      ask: (caller: Caller, ...rest: Rest) => Promise<Answer>,
      at = turns,
    ): ((caller: Caller, ...rest: Rest) => Promise<Answer>) =>
    (caller, ...rest) => {
      const most = caller.sees.within !== undefined && at === turns ? OF_GRANTS : undefined;
      return at.run(turnKey(caller.calls), () => ask(caller, ...rest), most);
    };
  /** Makes a query under a grant yield to the record's owner before it takes its turn. */
  const fairly =
    <Rest extends readonly unknown[], Answer>(
      ask: (caller: Caller, ...rest: Rest) => Promise<Answer>,
    ): ((caller: Caller, ...rest: Rest) => Promise<Answer>) =>
    ({ calls, sees }, ...rest) => {
      const asking = (): Promise<Answer> => ask({ calls, sees }, ...rest);
      return sees.within === undefined
        ? pace.own(calls.projectId, asking)
        : pace.yielding(sees.ownerId, asking);
    };
  return {
    apiKey: openApiKeys(line),
    read,
    ...openGranted(pool),
    vread: withSharedVread(readNow, openVread(pool)),
    history: atMoments(pool, openHistory(pool, histories), (then) => openHistory(then, lineOver(then))),
    newestVersion: openNewestVersion(line),
    search: fairly(
      inTurn(
        withSharedSearch(
          shared,
          openSearch(searches, terminology, undefined, openTallies(searches)),
          terminology,
        ),
      ),
    ),
    include: fairly(inTurn(openInclude(searches))),
    searchRecord: fairly(inTurn(openSearchRecord(searches, loadVersions, terminology))) as SearchRecord,
    readProvenance: atMoments(pool, openReadProvenance(pool), openReadProvenance),
    searchProvenance: fairly(inTurn(openSearchProvenance(pool, terminology))),
    everything: fairly(inTurn(atMoments(pool, openEverything(pool), openEverything))),
    summarize: fairly(
      inTurn(inTurn(atMoments(pool, openSummarize(pool), openSummarize)), new Admission(SUMMARIES)),
    ),
    aiVersions: ({ sees }, record) => aiVersions(pool, sees, record),
    replacedVersions: ({ sees }, current) => readReplacedTexts(pool, sees, current),
    tellContext: fairly(inTurn(tellContext, new Admission(CONTEXTS))),
    series: fairly(inTurn(series, insights)),
    patterns: fairly(
      openPatterns(pool, terminology.molarMassOf, ({ calls }, work) => patterns.run(turnKey(calls), work)),
    ),
    comparison: fairly(inTurn(openCompare(series), insights)),
    items: fairly(inTurn(atMoments(searches, openItems(searches), openItems))),
    timeline: fairly(inTurn(atMoments(searches, openTimeline(searches), openTimeline))),
    findCodes: terminology.findCodes,
    marks: openMarks(pool),
    readMarked: atMoments(pool, openReadMarked(line, pool), (then) => openReadMarked(lineOver(then), then)),
    versions: openVersions(pool),
    searches,
    close: async () => {
      await Promise.all([line.close(), histories.close(), searches.end()]);
    },
  };
}
