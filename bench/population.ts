/** Records for the search rows: patients with encounters, conditions and 1,000 Observations each, created without a service. */
import type { StoredEvent } from '#src/events/catalog.ts';
import type { Position } from '#src/events/store.ts';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { condition, type Sample, sampleEncounter } from './sample.ts';

/** Number of Observations per record. */
const RECORD_SIZE = 1_000;
const ENCOUNTERS = 10;
const CONDITIONS = 5;
const PRACTITIONERS = 50;

const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';

/**
 * Code, share of all Observations, unit, range of values. The remaining Observations are blood pressures with two components.
 */
const CODES = [
  ['8302-2', 0.125, 'cm', 150, 200],
  ['29463-7', 0.125, 'kg', 45, 130],
  ['8867-4', 0.125, '/min', 50, 110],
  ['8310-5', 0.125, 'Cel', 35, 41],
  ['4548-4', 0.125, '%', 4, 12],
  ['2339-0', 0.125, 'mg/dL', 60, 250],
  ['2947-0', 0.1, 'mmol/L', 130, 150],
  ['6299-2', 0.01, 'mg/dL', 5, 30],
  ['3016-3', 0.001, 'm[IU]/L', 0.1, 10],
] as const;
/**
 * About twenty Observations have this code, whatever the population's size, so that the number of matches stays constant while
 * the data grows.
 */
const RARE = ['2132-9', 'pg/mL', 100, 900] as const;
const RARE_ONES = 20;

/** The codes that rows search for, by how many Observations have them; about twenty have the rare code. */
export const ASKED = {
  common: '2339-0',
  medium: '6299-2',
  uncommon: '3016-3',
  rare: RARE[0],
  pressure: '85354-9',
} as const;

const LABORATORY = new Set(['4548-4', '2339-0', '2947-0', '6299-2', '3016-3', RARE[0]]);
const DAY = 86_400_000;
const FIRST_DAY = Date.UTC(2015, 0, 1);
/** The number of days over which Observations are spread, roughly in the order in which they are created. */
const DAYS = 3_000;

export interface PopulationSize {
  readonly patients: number;
  /** Number of Observations per record; by default `RECORD_SIZE`. */
  readonly observations?: number;
  readonly tenant: Tenant;
}

/** Yields a population's events; the n-th Observation is in the record of patient n modulo patients. Deterministic. */
export function* population({
  patients,
  observations = RECORD_SIZE,
  tenant,
}: PopulationSize): Generator<StoredEvent> {
  const event = makeEvents(tenant);
  const directory = directoryStream(tenant);
  const practitioners = many(PRACTITIONERS, newUuid);
  for (const [n, id] of practitioners.entries()) {
    yield event(directory, id, { resourceType: 'Practitioner', name: [{ family: name(n), given: ['Ada'] }] });
  }
  const records = many(patients, (n) => ({ id: newUuid(), encounters: many(ENCOUNTERS, newUuid), n }));
  for (const { id, encounters, n } of records) {
    const [stream, subject] = [recordStream(id), `Patient/${id}`];
    yield event(stream, id, {
      resourceType: 'Patient',
      name: [{ family: name(n), given: ['Ada', 'M.'] }],
      gender: n % 2 === 0 ? 'female' : 'male',
      birthDate: day(-20_000 + ((n * 97) % 15_000)),
      generalPractitioner: [{ reference: `Practitioner/${at(practitioners, n)}` }],
    });
    for (const [i, visit] of encounters.entries())
      yield event(stream, visit, sampleEncounter(subject, i * 300));
    for (let i = 0; i < CONDITIONS; i += 1) {
      yield event(stream, newUuid(), condition(subject, n + i, at(encounters, i)));
    }
  }
  for (let n = 0; n < patients * observations; n += 1) {
    const { id, encounters } = at(records, n);
    const resource = {
      ...measured(n, patients * observations),
      subject: { reference: `Patient/${id}` },
      encounter: { reference: `Encounter/${at(encounters, Math.floor(n / patients))}` },
      performer: [{ reference: `Practitioner/${at(practitioners, n * 31)}` }],
    };
    yield event(recordStream(id), newUuid(), resource);
  }
}

/** Returns Observation n of the given number of Observations, without the resources that it refers to: about 1.3 KB. */
function measured(n: number, of: number): Sample {
  const when = new Date(FIRST_DAY + (n / of) * DAYS * DAY + spread(n, 1) * 30 * DAY);
  const instant = `${when.toISOString().slice(0, 19)}Z`;
  const step = Math.max(1, Math.floor(of / RARE_ONES));
  // Spreads the Observations with the rare code over the records.
  const isRare = n % step === Math.floor(n / step) % step;
  const [code, unit, low, high] = isRare ? RARE : chooseCode(spread(n, 2));
  const category = code === ASKED.pressure || !LABORATORY.has(code) ? 'vital-signs' : 'laboratory';
  const value = (from: number, to: number, seed: number) =>
    Math.round((from + spread(n, seed) * (to - from)) * 10) / 10;
  const quantity = (from: number, to: number, seed: number) => ({
    valueQuantity: { value: value(from, to, seed), unit, system: UCUM, code: unit },
  });
  return {
    resourceType: 'Observation',
    status: 'final',
    category: [coded('http://terminology.hl7.org/CodeSystem/observation-category', category)],
    code: { ...coded(LOINC, code), text: `Measurement ${code}` },
    effectiveDateTime: instant,
    issued: instant,
    ...(code === ASKED.pressure
      ? {
          component: [
            { code: coded(LOINC, '8480-6'), ...quantity(90, 180, 3) },
            { code: coded(LOINC, '8462-4'), ...quantity(50, 110, 4) },
          ],
        }
      : quantity(low, high, 3)),
    interpretation: [coded('http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', 'N')],
    note: [{ text: NOTE }],
  };
}

const NOTE =
  'Measured at rest in a sitting position after five minutes of silence, left arm, cuff size medium; the patient ' +
  'reported no complaints. The device was calibrated in the same month, and the reading was repeated once. ';

function chooseCode(share: number): readonly [code: string, unit: string, low: number, high: number] {
  let left = share;
  for (const [code, part, unit, low, high] of CODES) {
    if (left < part) return [code, unit, low, high];
    left -= part;
  }
  return [ASKED.pressure, 'mm[Hg]', 50, 180];
}

/** Returns a number in [0, 1) that looks random and is the same each time. */
function spread(n: number, seed: number): number {
  let x = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

const SYLLABLES = ['ka', 'lo', 'mi', 'ra', 'tu', 've', 'sen', 'dor', 'bel', 'nim'] as const;

/** Returns a family name with three syllables; there are a thousand different names. */
function name(n: number): string {
  const text = [n, Math.floor(n / 10), Math.floor(n / 100)].map((part) => at(SYLLABLES, part)).join('');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function coded(system: string, code: string): Sample {
  return { coding: [{ system, code }] };
}

function day(after: number): string {
  return new Date(FIRST_DAY + after * DAY).toISOString().slice(0, 10);
}

function many<T>(length: number, make: (n: number) => T): T[] {
  return Array.from({ length }, (_, n) => make(n));
}

function at<T>(items: readonly T[], n: number): T {
  const item = items[n % items.length];
  if (item === undefined) throw new Error('nothing to take from');
  return item;
}

/** Returns a function that creates `ResourceCreated` events in the form in which a store returns them. */
export function makeEvents(tenant: Tenant): (stream: string, id: string, resource: Sample) => StoredEvent {
  const began = Date.now() * 1000;
  let count = 0;
  return (stream, id, { resourceType, ...rest }) => {
    count += 1;
    const at = toInstant(began + count);
    return {
      id: newUuid(),
      stream,
      revision: count,
      position: String(count).padStart(16, '0') as Position,
      metadata: {
        schema_version: 1,
        request_id: 'req_bench',
        command_id: id,
        credential: { kind: 'api_key', ...tenant, key_id: 'key_bench' },
        author: { type: 'import' },
        recorded_at: at,
        append: [0, 1],
        owner: tenant,
      },
      event: {
        type: 'ResourceCreated',
        resourceType: String(resourceType),
        resourceId: id,
        version: 1,
        body: JSON.stringify({ resourceType, id, meta: { versionId: '1', lastUpdated: at }, ...rest }),
      },
    };
  };
}
