/**
 * Validates the ids that auditors search by. An id that can't exist is refused, because the search would find nothing and not
 * say why.
 */
import { z } from 'zod';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { isUuid } from '#src/shared/ids.ts';

const EXAMPLE = '01a227be-9c0a-723c-9ea7-1599e08e91ba';
const RESOURCE = /^([A-Z][A-Za-z]{1,60})(?:\/(.*))?$/s;

/** A patient's id. */
export const patientId = z
  .string()
  .refine(isUuid, `must be the id of a patient, such as ${EXAMPLE}, and not a name`)
  .describe('Id of the patient.');
export const keyId = z
  .string()
  .regex(/^key_[\w-]{1,60}$/, 'must be the id of an API key, such as key_WKf3nDxr0H-E8wVPuwrEnQ')
  .describe('Id of an API key.');
export const applicationId = z
  .string()
  .regex(/^app_[\w-]{1,60}$/, 'must be the id of an application, such as app_WKf3nDxr0H-E8wVPuwrEnQ')
  .describe('Id of an application.');
/** `Type/id`. */
export const resourceId = z
  .string()
  .refine((text) => isUuid(RESOURCE.exec(text)?.[2] ?? ''), `must be Type/id, such as Observation/${EXAMPLE}`)
  .describe('`Type/id`.');
/** `Type` or `Type/id`. */
export const typeOrResource = z
  .string()
  .refine((text) => {
    const [, type, id] = RESOURCE.exec(text) ?? [];
    return TYPE_NAMES.some((each) => each === type) && (id === undefined || isUuid(id));
  }, `must be a type such as Observation, or Type/id such as Observation/${EXAMPLE}`)
  .transform((text) => {
    const [, type = '', id] = RESOURCE.exec(text) ?? [];
    return { type, id };
  })
  .describe('`Type` or `Type/id`.');
