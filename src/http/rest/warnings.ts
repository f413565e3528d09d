/** Warnings of implausible values in the answers of writes (docs/rest.md, "Warnings"). */
import { z } from 'zod';
import type { WriteResult } from '#commands/command.ts';
import { IMPLAUSIBLE, type ImplausibleCode } from '#src/shared/implausible.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { nameMember } from './inputs.ts';
import type { RestRequest } from './record.ts';

const codes = Object.keys(IMPLAUSIBLE) as [ImplausibleCode, ...ImplausibleCode[]];

/** A warning in an answer. */
interface Warning {
  readonly field: string;
  readonly code: ImplausibleCode;
  readonly message: string;
}

/** The member that the answers of writes have besides those of the record. */
const warnings = z
  .array(z.object({ field: z.string(), code: z.enum(codes), message: z.string() }).meta({ id: 'Warning' }))
  .describe('Implausible values. They are stored as they were sent.');

/** Returns the schema of a record in the answer of its write. @param id the schema's name in the OpenAPI document */
export function writtenSchema<Shape extends z.ZodRawShape>(record: z.ZodObject<Shape>, id: string) {
  return record.extend({ warnings }).meta({ id });
}

/**
 * Returns the member `warnings` for a record that was written: its implausible values, as far as v1 has members for them.
 * The same write has the same warnings, also when its answer is made again.
 * @param resource that was stored
 */
export function warningsIn(
  { services }: Pick<RestRequest, 'services'>,
  resource: JsonObject,
  { lastUpdated }: Pick<WriteResult, 'lastUpdated'>,
): { readonly warnings: readonly Warning[] } {
  const found = services.findImplausible(resource, toMicros(lastUpdated ?? ''));
  return {
    warnings: found.flatMap(({ element, code, message }) => {
      const field = nameMember(element);
      return field === undefined ? [] : [{ field, code, message }];
    }),
  };
}
