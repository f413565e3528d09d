/** The read side as the HTTP interfaces see it: one function a question, all over one pool. */
import type { Pool } from 'pg';
import type { Terminology } from '#src/fhir/terminology.ts';
import { type ApiKeyCaller, openApiKeys } from './credentials.ts';
import { type Everything, openEverything } from './everything/everything.ts';
import { Line } from './gather.ts';
import { type History, openHistory } from './history.ts';
import { type NewestVersion, openNewestVersion } from './newest-version.ts';
import { openReadProvenance, type ReadProvenance } from './provenance/read.ts';
import { openSearchProvenance, type SearchProvenance } from './provenance/search.ts';
import { openRead, type Read } from './read.ts';
import { type Marks, openMarks } from './rest/marks.ts';
import { openVersions, type Versions } from './rest/versions.ts';
import { type Include, openInclude } from './search/include-resources.ts';
import { openSearch, type Search } from './search/search.ts';
import { openSummarize, type Summarize } from './summary/summary.ts';
import { withSharedRead, withSharedSearch, withSharedVread } from './terminology/shared.ts';
import { openVread, type Vread } from './vread.ts';

/** Every question of the FHIR interface. None of them answers anything that the caller may not see. */
export interface Queries {
  readonly apiKey: ApiKeyCaller;
  readonly read: Read;
  readonly vread: Vread;
  readonly history: History;
  readonly newestVersion: NewestVersion;
  readonly search: Search;
  readonly include: Include;
  readonly readProvenance: ReadProvenance;
  readonly searchProvenance: SearchProvenance;
  readonly everything: Everything;
  readonly summarize: Summarize;
  readonly marks: Marks;
  readonly versions: Versions;
  /** Lets go of the connections that it holds beside the pool. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the questions over a database.
 * @param terminology what searches ask of codes.
 * @param terminologyReady resolves when the shared terminology is there.
 */
export function openQueries(
  pool: Pool,
  terminology: Terminology,
  terminologyReady: () => Promise<void>,
): Queries {
  const shared = { pool, ready: terminologyReady };
  const line = new Line(pool.options);
  const read = withSharedRead(shared, openRead(line));
  // Their own, so that no read waits behind a long answer.
  const histories = new Line(pool.options);
  return {
    apiKey: openApiKeys(line),
    read,
    vread: withSharedVread(read, openVread(pool)),
    history: openHistory(pool, histories),
    newestVersion: openNewestVersion(line),
    search: withSharedSearch(shared, openSearch(pool, terminology)),
    include: openInclude(pool),
    readProvenance: openReadProvenance(pool),
    searchProvenance: openSearchProvenance(pool, terminology),
    everything: openEverything(pool),
    summarize: openSummarize(pool),
    marks: openMarks(pool),
    versions: openVersions(pool),
    close: async () => {
      await Promise.all([line.close(), histories.close()]);
    },
  };
}
