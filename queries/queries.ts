/** The read side as the HTTP interfaces see it: one function a question, all over one pool. */
import type { Pool } from 'pg';
import { type ApiKeyCaller, openApiKeys } from './credentials.ts';
import { Line } from './gather.ts';
import { type History, openHistory } from './history.ts';
import { type NewestVersion, openNewestVersion } from './newest-version.ts';
import { openReadProvenance, type ReadProvenance } from './provenance/read.ts';
import { openSearchProvenance, type SearchProvenance } from './provenance/search.ts';
import { openRead, type Read } from './read.ts';
import { type Include, openInclude } from './search/include-resources.ts';
import { openSearch, type Search } from './search/search.ts';
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
  /** Lets go of the connections that it holds beside the pool. */
  readonly close: () => Promise<void>;
}

/** Opens the questions over a database. */
export function openQueries(pool: Pool): Queries {
  const line = new Line(pool.options);
  // Their own, so that no read waits behind a long answer.
  const histories = new Line(pool.options);
  return {
    apiKey: openApiKeys(line),
    read: openRead(line),
    vread: openVread(pool),
    history: openHistory(pool, histories),
    newestVersion: openNewestVersion(line),
    search: openSearch(pool),
    include: openInclude(pool),
    readProvenance: openReadProvenance(pool),
    searchProvenance: openSearchProvenance(pool),
    close: async () => {
      await Promise.all([line.close(), histories.close()]);
    },
  };
}
