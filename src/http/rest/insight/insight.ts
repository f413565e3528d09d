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

/** Read models on which these responses are based. */
export const INSIGHT_MODELS = LISTING_MODELS;

/** The letters that a grant must have: whole records are searched and read, or at least their Observations. */
export const OBSERVATIONS_NEEDED = [{ type: 'Observation', letters: 'rs' }] as const;

/** Maximum number of equivalent codes in a group. */
const MOST_CODES = 20;

/** The codes in a group, separated by `~`. */
export const group = z
  .string()
  .max(1_000)
  .regex(/^[^\s,~]+(?: [^\s,~]+)*(?:~[^\s,~]+)*$/, 'must be a code, or equivalent codes with ~ between')
  .refine((text) => text.split('~').length <= MOST_CODES, `must be at most ${MOST_CODES} codes`);

/** Returns the codes in a group. A code without a system is taken as a LOINC code. */
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
 * Runs a query. If the read model lagged behind the models that write responses wait for, runs it again.
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
