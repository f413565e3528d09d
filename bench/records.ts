/** Fills a service with the data that the rows read and write. */
import type { Bench } from './bench.ts';
import type { Outcome } from './load/plan.ts';
import { patient, type Sample } from './sample.ts';
import type { Service } from './service.ts';

/** The base path of the FHIR interface. */
export const FHIR = '/fhir/R4';

/**
 * Creates patients.
 * @returns their ids.
 */
export async function createPatients(service: Pick<Service, 'request'>, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 100) {
    const entry: Sample[] = [];
    for (let i = n; i < Math.min(count, n + 100); i += 1) {
      entry.push({ resource: patient(i), request: { method: 'POST', url: 'Patient' } });
    }
    const { text } = await service.request('POST', FHIR, 200, {
      resourceType: 'Bundle',
      type: 'batch',
      entry,
    });
    const answer = JSON.parse(text) as { entry: { response: { location?: string } }[] };
    for (const { response } of answer.entry) ids.push(idIn(response.location ?? ''));
  }
  return ids;
}

/** The number of Observations to create, and the options. */
export interface Creation {
  readonly count: number;
  /** Default 16. */
  readonly clients?: number;
  /** True to return the Observations' `Location`s. */
  readonly locations?: boolean;
}

/**
 * Creates Observations for the patients in turn.
 * @returns the load's result.
 */
export function createObservations(
  bench: Bench,
  service: Service,
  patients: readonly string[],
  { clients = 16, ...rest }: Creation,
): Promise<Outcome> {
  const requests = { kind: 'observations', path: `${FHIR}/Observation`, patients } as const;
  return bench.load({ target: service.target, clients, requests, expect: 201, ...rest });
}

/** Returns the path of the resource in a create's `Location`, without its version. */
export function resourcePath(location: string): string {
  return `${FHIR}/Observation/${idIn(location)}`;
}

/** Returns the id in `[base/]Type/id[/_history/n]`. */
function idIn(location: string): string {
  const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(location)?.[0];
  if (id === undefined) throw new Error(`no id in the location "${location}"`);
  return id;
}
