/** Defines what the routes for series and patterns share. */

import { z } from 'zod';
import type { Told } from '#queries/insight/insight.ts';
import type { Coded } from '#src/insight/track.ts';
import { WARNING_KINDS } from '#src/insight/warning.ts';
import { requireFilled } from '#src/shared/access/caller.ts';
import { cut } from '#src/shared/cut.ts';
import { notFound } from '#src/shared/refusal.ts';
import { LOINC, splitCode } from '#src/v1/elements.ts';
import { LISTING_MODELS } from '../listing.ts';
import type { RestRequest } from '../record.ts';

/** Read models from which these responses are made. */
export const INSIGHT_MODELS = LISTING_MODELS;

/** The letters required of a grant: whole records are searched and read, or at least Observations. */
export const OBSERVATIONS_NEEDED = [{ type: 'Observation', letters: 'rs' }] as const;

/** Maximum number of equivalent codes in a group. */
const MOST_CODES = 20;

/** The codes in a group, separated by `~`. */
export const group = z
  .string()
  .max(1_000)
  .regex(/^[^\s,~]+(?: [^\s,~]+)*(?:~[^\s,~]+)*$/, 'must be a code, or equivalent codes with ~ between')
  .refine((text) => text.split('~').length <= MOST_CODES, `must be at most ${MOST_CODES} codes`);

/** Returns the codes in a group. A bare code is a LOINC code. */
export function parseCodes(text: string): Coded[] {
  const codes = text.split('~').map((each) => {
    const { system = LOINC, code } = splitCode(each);
    return { system, code };
  });
  return [...new Map(codes.map((code) => [`${code.system}|${code.code}`, code])).values()];
}

/** Warnings in a response. */
export const warnings = z
  .array(z.object({ kind: z.enum(WARNING_KINDS), text: z.string(), count: z.int() }))
  .describe('Values that were left out, and values that are known only roughly.');

/**
 * Runs a query, and runs it again if the read model was behind the models that responses to writes wait for.
 * @throws Refusal not_found (404) for a patient that the caller can't see
 */
export async function askFresh<T>(
  { services, caller }: RestRequest,
  patient: string,
  ask: () => Promise<Told<T>>,
): Promise<T> {
  requireFilled(caller.sees);
  let answer = await ask();
  if (!answer.fresh) {
    await services.freshness.catchUp(['timeline', 'resources']);
    answer = await ask();
  }
  if (answer.told === undefined) throw notFound('Patient', cut(patient, 64));
  return answer.told;
}
