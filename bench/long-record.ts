/** A patient's Observations over twenty years, ordered by time, generated without a service. */
import type { StoredEvent } from '#src/events/catalog.ts';
import { recordStream } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { makeEvents } from './population.ts';
import { observation } from './sample.ts';

const LOINC = 'http://loinc.org';
/** The code that one in a thousand Observations has. */
export const RARE = '2132-9';
const FIRST_DAY = Date.UTC(2006, 0, 1);
const YEARS_MS = 20 * 365.25 * 86_400_000;

/** The record's owner and size. */
export interface LongRecord {
  readonly tenant: Tenant;
  /** The id of an existing Patient. */
  readonly patient: string;
  readonly count: number;
}

/** Yields the record's events. */
export function* longRecord({ tenant, patient, count }: LongRecord): Generator<StoredEvent> {
  const event = makeEvents(tenant);
  for (let n = 0; n < count; n += 1) {
    const effectiveDateTime = new Date(FIRST_DAY + (n / count) * YEARS_MS).toISOString();
    const rare = n % 1_000 === 7 ? { code: { coding: [{ system: LOINC, code: RARE }] } } : {};
    const resource = { ...observation(`Patient/${patient}`, n), effectiveDateTime, ...rare };
    yield event(recordStream(patient), newUuid(), resource);
  }
}
