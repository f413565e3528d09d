/** Sends requests for search tests, and checks the status of each. */
import { expect } from 'chai';
import type { InProcess } from '../in-process.ts';
import { queryText } from './query-text.ts';
import { to } from './table.ts';

/** An entry in a Bundle. */
export interface Entry {
  readonly fullUrl?: string;
  readonly resource?: { readonly resourceType: string; readonly id: string };
  readonly search?: { readonly mode: string };
  readonly response?: { readonly status: string; readonly location?: string; readonly etag?: string };
}

/** A Bundle. */
export interface Bundle {
  readonly resourceType: string;
  readonly type: string;
  readonly total?: number;
  readonly entry?: readonly Entry[];
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
}

/** Returns the ids of a page's matches, or of the included resources, in order. */
export const idsIn = ({ entry = [] }: Bundle, mode = 'match'): string[] =>
  entry.filter((each) => each.search?.mode === mode).map(({ resource }) => resource?.id ?? '');

/** Returns the link to the next page. */
export const nextOf = ({ link = [] }: Bundle): string | undefined =>
  link.find(({ relation }) => relation === 'next')?.url;

/**
 * Returns an entry that creates a resource.
 * @param rest additional members of its `request`
 */
export const post = (
  resource: { readonly resourceType: string; readonly [name: string]: unknown },
  rest: object = {},
) => ({
  resource,
  request: { method: 'POST', url: resource.resourceType, ...rest },
});

/** Sends requests to one service. */
export class Asking {
  constructor(private readonly service: InProcess) {}

  /** Returns the Bundle at a path or link. */
  async get(path: string, key = this.service.key): Promise<Bundle> {
    const answer = await this.service.fhir(path, { key });
    expect(answer.status, `${path}: ${answer}`).to.equal(200);
    return JSON.parse(answer.text) as Bundle;
  }

  /** Returns the result of a search within a type. The query must not be percent-encoded. */
  search(type: string, query: string, key?: string): Promise<Bundle> {
    return this.get(`/${type}?${queryText(query)}`, key);
  }

  /** Returns the ids on a search's first page. */
  async found(type: string, query: string, key?: string): Promise<string[]> {
    return idsIn(await this.search(type, query, key));
  }

  /**
   * Creates a resource.
   * @returns its id
   */
  async create(body: { readonly resourceType: string; readonly [name: string]: unknown }): Promise<string> {
    return String((await this.service.post(`/${body.resourceType}`, body)).json.id);
  }

  /**
   * Creates an Observation for a patient.
   * @returns its id
   */
  observe(patient: string, rest: object = {}): Promise<string> {
    return this.create(observation(patient, rest));
  }

  /** Sends a Bundle to the FHIR base. */
  send(bundle: object) {
    const body = JSON.stringify({ resourceType: 'Bundle', ...bundle });
    return this.service.fhir('/', { method: 'POST', body });
  }
}

/** Returns an Observation for a patient. */
export const observation = (patient: string, rest: object = {}) => ({
  resourceType: 'Observation',
  status: 'final',
  subject: to(`Patient/${patient}`),
  code: { text: '-' },
  ...rest,
});
