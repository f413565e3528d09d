/** Parses the parameters of `$everything`: https://hl7.org/fhir/R4/patient-operation-everything.html */

import { type Period, parsePeriod } from '#src/fhir/search/period.ts';
import { BEGINNING_OF_TIME, END_OF_TIME } from '#src/fhir/search/values.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { cut } from '#src/shared/cut.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { CURSOR } from '../cursor.ts';
import { badParameter } from '../search/raw.ts';

/** Resources per page: both the default and the maximum. */
const MAX_PAGE = 5_000;

/** The parsed parameters. */
export interface EverythingRequest {
  /** `_type`: only these types; if absent, everything in the record except automatic Provenances. */
  readonly types?: ReadonlySet<ResourceType>;
  /** `_since`: only resources changed at or after this time. */
  readonly since?: Micros;
  /** `start` and `end`: only care in [from, to). Open ends are infinite. */
  readonly care?: { readonly from: Micros; readonly to: Micros };
  readonly count: number;
  /** `_offset`: number of resources to skip. Absent if there is a cursor, which already contains the position. */
  readonly offset?: number;
  readonly cursor?: string;
  /** The parameters that were used, for the links, without the cursor. */
  readonly used: URLSearchParams;
}

/** The names of the parameters in the CapabilityStatement's operation, and the name of the cursor in `next` links. */
export const EVERYTHING_PARAMETERS: readonly string[] = [
  ...['start', 'end', '_since', '_type', '_count', '_offset', '_summary', '_elements'],
  CURSOR,
];

/**
 * Reads the parameters; a parameter with an empty value counts as absent.
 * @throws Refusal `malformed` naming the parameter
 */
export function parseEverything(query: URLSearchParams): EverythingRequest {
  const used = new URLSearchParams();
  const readValues = (name: string): string[] => {
    const values = query.getAll(name).filter((value) => value !== '');
    for (const value of values) if (name !== CURSOR) used.append(name, value);
    return values;
  };
  const one = (name: string): string | undefined => {
    const [value, ...further] = readValues(name);
    if (further.length > 0) throw badParameter(name, 'it must not be repeated');
    return value;
  };
  const period = (name: string): Period | undefined => {
    const text = one(name);
    return text === undefined ? undefined : parsePeriodParameter(name, text);
  };
  const [start, end, since] = [period('start'), period('end'), period('_since')];
  if (start !== undefined && end !== undefined && start.from >= end.to) {
    throw badParameter('start', 'it must not be after end');
  }
  const types = readValues('_type').flatMap((value) => value.split(','));
  const count = one('_count');
  const offset = one('_offset');
  // These parameters are handled when the response is sent: they determine which parts of resources are shown, and how. Links
  // keep them.
  for (const name of ['_summary', '_elements', '_format', '_pretty', '_asOf']) readValues(name);
  const cursor = one(CURSOR);
  return {
    ...(types.length === 0 ? {} : { types: new Set(types.map(parseType)) }),
    ...(since === undefined ? {} : { since: since.from }),
    ...(start === undefined && end === undefined
      ? {}
      : { care: { from: start?.from ?? BEGINNING_OF_TIME, to: end?.to ?? END_OF_TIME } }),
    count: count === undefined ? MAX_PAGE : parseCount(count),
    ...(offset === undefined || cursor !== undefined ? {} : { offset: parseOffset(offset) }),
    ...(cursor === undefined ? {} : { cursor }),
    used,
  };
}

function parsePeriodParameter(name: string, text: string): Period {
  const period = parsePeriod(text);
  if (period === undefined) throw badParameter(name, 'the value must be a FHIR date or instant');
  return period;
}

function parseType(text: string): ResourceType {
  if (isResourceType(text)) return text;
  throw badParameter('_type', `${cut(text, 64)} is not a supported resource type`);
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw badParameter('_count', 'the value must be a whole number from 1');
  return Math.min(Number(text), MAX_PAGE);
}

function parseOffset(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw badParameter('_offset', 'the value must be a whole number from 0');
}
