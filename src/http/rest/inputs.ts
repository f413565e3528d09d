/**
 * Makes faults and warnings of writes refer to the input: elements of the resource built from the input are replaced by the
 * names of the input's members (docs/rest.md, "Warnings").
 */

import { z } from 'zod';
import type { WriteResult } from '#commands/command.ts';
import { IMPLAUSIBLE, type ImplausibleCode } from '#src/shared/implausible.ts';
import type { Issue } from '#src/shared/issue.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { toMicros } from '#src/shared/time/time.ts';
import type { RestRequest } from './record.ts';

/** Elements → v1 members. Elements with the same name become members with the same name. */
const MEMBERS: Readonly<Record<string, string>> = {
  abatementDateTime: 'abatement',
  birthDate: 'birth_date',
  category: 'category',
  clinicalStatus: 'clinical_status',
  code: 'code',
  component: 'components',
  derivedFrom: 'derived_from',
  dosage: 'dosage',
  effectiveDateTime: 'effective_at',
  effectivePeriod: 'start',
  gender: 'gender',
  identifier: 'identifiers',
  medicationCodeableConcept: 'code',
  name: 'family',
  note: 'note',
  onsetDateTime: 'onset',
  referenceRange: 'reference_range',
  valueCodeableConcept: 'value_code',
  valueQuantity: 'value',
  valueString: 'value_text',
};

/** Matches the elements of a quantity, which become members of an observation or component. */
const QUANTITY = /^Observation\.(?:component\[(\d+)\]\.)?valueQuantity(\.(?:code|unit))?$/;

/**
 * Returns the member from which an element was built; undefined if there is none.
 * @param element path of the element in JSON names
 */
export function nameMember(element: string): string | undefined {
  const [isQuantity, part, unit] = QUANTITY.exec(element) ?? [];
  if (isQuantity !== undefined)
    return `${part === undefined ? '' : `components.${part}.`}${unit === undefined ? 'value' : 'unit'}`;
  if (element === 'DocumentReference.date') return 'date';
  return MEMBERS[/^[A-Z]\w*\.(\w+)/.exec(element)?.[1] ?? ''];
}

/**
 * Runs a write.
 * @throws Refusal invalid (422), in which the elements that the write's refusal named are replaced by members
 */
export async function namingInputs<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'invalid') throw error;
    throw new Refusal('invalid', error.issues.map(renameToMember), { ...error.headers });
  }
}

function renameToMember(issue: Issue): Issue {
  const [, element = '', type = ''] =
    /^[A-Z]\w*\.(\w+)(?:\.ofType\((\w+)\))?/.exec(issue.expression ?? '') ?? [];
  const expression = MEMBERS[element + type.charAt(0).toUpperCase() + type.slice(1)];
  return expression === undefined ? issue : { ...issue, expression };
}

const codes = Object.keys(IMPLAUSIBLE) as [ImplausibleCode, ...ImplausibleCode[]];

/** A warning in a response. */
interface Warning {
  readonly field: string;
  readonly code: ImplausibleCode;
  readonly message: string;
}

/** The member that is added to records in responses to writes. */
const warnings = z
  .array(z.object({ field: z.string(), code: z.enum(codes), message: z.string() }).meta({ id: 'Warning' }))
  .describe('Implausible values. They are stored as they were sent.');

/**
 * Returns the schema for a record in the response to the write that stored it.
 * @param id the schema's name in the OpenAPI document
 */
export function writtenSchema<Shape extends z.ZodRawShape>(record: z.ZodObject<Shape>, id: string) {
  return record.extend({ warnings }).meta({ id });
}

/**
 * Returns the `warnings` member for a record that was written: its implausible values, as far as v1 has members for them. The
 * same write always results in the same warnings, even if its response is built again.
 * @param resource the resource that was stored
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
