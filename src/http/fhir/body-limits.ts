/** How large the bodies of FHIR requests may be: docs/limits.md. */
import { PATCH_TYPES } from '#src/fhir/patch/patch.ts';
import { MAX_VALUES } from '#src/shared/json.ts';
import { type BodyLimits, JSON_TYPES } from '../body.ts';
import { JsonCount } from '../body-count.ts';

/** The kinds of bodies that requests have. */
export type FhirBody = 'resource' | 'patch' | 'bundle';

/** Settings that limit bodies. */
export interface FhirBodySettings {
  readonly limits: { readonly bodyBytes: number; readonly bundleBytes: number };
  readonly bundleEntries: number;
  readonly bundleValues: number;
}

/** A Bundle may have a value for each of so many bytes that are allowed: Bundles of patients have one in 23. */
const BYTES_PER_VALUE = 16;

/** Returns the most JSON values of a Bundle. */
export function bundleValues({ bundleBytes }: { readonly bundleBytes: number }): number {
  // A small limit on bytes needs none on values.
  return Math.max(MAX_VALUES, Math.floor(bundleBytes / BYTES_PER_VALUE));
}

/** Returns the limits of a body. Each entry of a Bundle may have as many values as a resource. */
export function chooseLimits(settings: FhirBodySettings, takes: FhirBody): BodyLimits {
  const { limits, bundleEntries, bundleValues: values } = settings;
  if (takes === 'bundle') {
    const entries = { most: bundleEntries, values: MAX_VALUES };
    const count = () => new JsonCount({ values, entries });
    return { accepted: JSON_TYPES, bytes: limits.bundleBytes, count };
  }
  const accepted = takes === 'patch' ? PATCH_TYPES : JSON_TYPES;
  return { accepted, bytes: limits.bodyBytes, count: () => new JsonCount({ values: MAX_VALUES }) };
}
