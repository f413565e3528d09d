/**
 * Defines the interfaces that patients' pages need in addition to the JSON interface routes; `src/app/patient-pages.ts`
 * assembles them.
 */
import type { LinkedPeople } from '#queries/consents/linked-people.ts';
import type { ReadReplaced } from '#queries/history/replaced-versions.ts';
import type { ChangedByAi } from '#queries/rest/changed-by-ai.ts';
import type { ChangesOf } from '#queries/rest/changes.ts';
import type { ReadClinicalEntries } from '#queries/rest/clinical-entries.ts';
import type { EntryContents } from '#queries/rest/entry-content.ts';
import type { EntryOriginOf } from '#queries/rest/entry-origin.ts';
import type { Interpretations } from '#queries/rest/interpretations.ts';
import type { MeasuredKinds } from '#queries/rest/measured-kinds.ts';
import type { OwnTakebacks } from '#queries/rest/own-takebacks.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { Micros } from '#src/shared/time/time.ts';

/**
 * The services for patients' pages. None of them checks rights, so pages use them only for records that `linkTo` has returned
 * during the same request.
 */
export interface PatientPageServices {
  readonly linkedPeople: LinkedPeople;
  readonly changesOf: ChangesOf;
  readonly changedByAi: ChangedByAi;
  readonly clinicalEntries: ReadClinicalEntries;
  /** Reads the versions that current versions replaced, without checking rights. */
  readonly replaced: ReadReplaced;
  readonly entryContents: EntryContents;
  readonly ownTakebacks: OwnTakebacks;
  readonly entryOrigin: EntryOriginOf;
  readonly interpretations: Interpretations;
  readonly measuredKinds: MeasuredKinds;
  /** Records a visit to a record. Returns when the person last saw the record in an earlier session; undefined if never. */
  readonly visited: (person: PersonId, record: string, session: string) => Promise<Micros | undefined>;
  /**
   * Yields the lines of a record's signed export (docs/audit.md), or none if the record was purged.
   * @throws if an event breaks the record's hash chain
   */
  readonly exportRecord: (record: string) => AsyncIterable<string>;
}
