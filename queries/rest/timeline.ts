/** Reads a patient's timeline (docs/spec/decisions.md, section 4) only from the read model `timeline`. */

import { z } from 'zod';
import type { Meaning } from '#src/clinical/reading/dates.ts';
import { createdAt } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { PlacedCode } from '#src/v1/phrase.ts';
import type { TimelineType } from '#src/v1/timeline.ts';
import { asJson } from '../database/binds.ts';
import type { Asks } from '../database/prepared.ts';
import { openPages, type Pages } from './places.ts';

export interface TimelineEntry {
  readonly id: string;
  readonly type: TimelineType;
  readonly version: number;
  /** The date as in the resource; null without a date. */
  readonly date: string | null;
  /** The meaning of the date; null if there is none. */
  readonly means: Meaning | null;
  /** For an entry without a date, when it was created. */
  readonly created: Micros;
  readonly title: string;
  /** The code system, if the title is a code; null if the title is in words. */
  readonly titleSystem: string | null;
  readonly summary: string | null;
  /** The codes in the summary that have no text. */
  readonly summaryCodes: readonly PlacedCode[];
  readonly author: string;
  /**
   * The Medication that names the entry (FHIR JSON text); empty if the entry contains its own name, or refers to no
   * Medication.
   */
  readonly referred: string;
}

/**
 * Returns a page of a record.
 * @throws Refusal invalid (422) for a cursor that isn't from this list
 */
export type Timeline = Pages<TimelineEntry>;

const columns = [
  'e.type',
  asJson('e.date'),
  asJson('e.date_means'),
  'e.since',
  asJson('e.title'),
  asJson('e.title_system'),
  asJson('e.summary'),
  `coalesce(e.summary_codes, '[]')`,
  'e.author_type',
  'e.version',
];

/** The form that the projection writes (`projections/timeline/schema.ts`). */
const placedCodes = z.array(
  z
    .tuple([z.int(), z.string(), z.string()])
    .transform(([offset, system, code]) => ({ offset, system, code })),
);

/** Creates timelines on a database. */
export const openTimeline = (pool: Asks): Timeline =>
  openPages(
    pool,
    'rest-timeline',
    { columns, unbounded: ['e.title_system', 'e.summary_codes'] },
    (id, read) => {
      const [
        type,
        date = 'null',
        means = 'null',
        since,
        title = 'null',
        system = 'null',
        summary = 'null',
        codes = '[]',
        author = '',
        version,
        referred = '',
      ] = read;
      return {
        id,
        type: type as TimelineType,
        version: Number(version),
        date: JSON.parse(date),
        means: JSON.parse(means),
        created: createdAt(id) ?? Number(since),
        title: JSON.parse(title),
        titleSystem: JSON.parse(system),
        summary: JSON.parse(summary),
        summaryCodes: codes === '[]' ? [] : placedCodes.parse(JSON.parse(codes)),
        author,
        referred,
      };
    },
  );
