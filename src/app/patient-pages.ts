/** Assembles the services for patients' pages: linked people, new entries, and the signed export of a record. */
import type { Pool } from 'pg';
import { openLinkedPeople } from '#queries/consents/linked-people.ts';
import { readReplaced } from '#queries/history/replaced-versions.ts';
import { openChangedByAi } from '#queries/rest/changed-by-ai.ts';
import { openChanges } from '#queries/rest/changes.ts';
import { openClinicalEntries } from '#queries/rest/clinical-entries.ts';
import { openEntryContents } from '#queries/rest/entry-content.ts';
import { openEntryOrigin } from '#queries/rest/entry-origin.ts';
import { openInterpretations } from '#queries/rest/interpretations.ts';
import { openMeasuredKinds } from '#queries/rest/measured-kinds.ts';
import { openOwnTakebacks } from '#queries/rest/own-takebacks.ts';
import { exportLines } from '../audit/export.ts';
import { signingKey } from '../audit/key.ts';
import type { Config } from '../config.ts';
import type { EventStore } from '../events/store.ts';
import { recordStream } from '../events/streams.ts';
import type { PatientPageServices } from '../http/ports/patient-pages.ts';
import type { RecordVisits } from '../operations/record-visits.ts';
import { nowMicros, toInstant } from '../shared/time/time.ts';

/** Opens the parts. */
export function openPatientPages({
  pool,
  store,
  config,
  visits,
}: {
  readonly pool: Pool;
  readonly store: Pick<EventStore, 'read'>;
  readonly config: Pick<Config, 'dataDir' | 'auditKeyFile'>;
  readonly visits: RecordVisits;
}): PatientPageServices {
  return {
    linkedPeople: openLinkedPeople(pool),
    changesOf: openChanges(pool),
    changedByAi: openChangedByAi(pool),
    clinicalEntries: openClinicalEntries(pool),
    replaced: (current) => readReplaced(pool, undefined, current),
    entryContents: openEntryContents(pool),
    entryOrigin: openEntryOrigin(pool),
    interpretations: openInterpretations(pool),
    measuredKinds: openMeasuredKinds(pool),
    ownTakebacks: openOwnTakebacks(pool),
    visited: (person, record, session) => visits.visit(person, record, session),
    async *exportRecord(record) {
      const key = await signingKey({ dataDir: config.dataDir, file: config.auditKeyFile });
      const time = (): string => toInstant(nowMicros());
      yield* exportLines(store.read(recordStream(record)), time, key, () => undefined);
    },
  };
}
