/** Handles `as_of` in REST v1: returns lists, items and results derived from a record as of an earlier time (docs/as-of.md). */
import { moveTo, notInFuture } from '../as-of.ts';
import type { RestRequest } from './record.ts';
import { moment } from './schemas.ts';

/** A point in time that has passed. */
export const past = moment.refine(notInFuture, 'must not be in the future');

/** The query parameter of requests that support reading as of a point in time. */
export const PAST_QUERY = {
  as_of: past.optional().describe('Shows the record as it was at this time: ISO 8601 with an offset.'),
};

/** The parsed query. */
export interface AsOf {
  readonly as_of?: string | undefined;
}

/** Returns a request whose caller reads as of a point in time; without a point in time, returns the request unchanged. */
export async function atMoment<Request extends RestRequest>(
  request: Request,
  asOf: string | undefined,
): Promise<Request> {
  return asOf === undefined ? request : { ...request, caller: await moveTo(request.caller, asOf) };
}
