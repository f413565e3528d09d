/** Defines the format of the generated table of profiles, and returns its profiles, which are read when first needed. */
import { readFileSync } from 'node:fs';
import type { Json } from '#src/shared/json/json.ts';
import { isR4ResourceType } from '../definitions/tables.ts';

/** A type that a profile allows for an element. */
export interface ProfileType {
  readonly code: string;
  /** Profiles for the value, which must conform to at least one of them. */
  readonly profiles?: readonly string[];
  /**
   * Profiles for the resource that a Reference names, which must conform to at least one of them. Base types are given by URL.
   */
  readonly targets?: readonly string[];
}

/** A discriminator between slices: https://hl7.org/fhir/R4/profiling.html#discriminator */
export interface Discriminator {
  readonly type: 'value' | 'pattern' | 'exists' | 'type' | 'profile';
  readonly path: string;
}

/** A profile's constraints on an element, in addition to the constraints of its base. */
export interface ProfileNode {
  readonly min?: number;
  /** If absent, the base's maximum applies. */
  readonly max?: number;
  readonly types?: readonly ProfileType[];
  readonly fixed?: Json;
  readonly pattern?: Json;
  readonly binding?: { readonly strength: 'required' | 'extensible'; readonly valueSet: string };
  /** Error-level invariants as `[key, human text, FHIRPath]`. */
  readonly rules?: readonly (readonly [key: string, human: string, expression: string])[];
  readonly slicing?: { readonly by: readonly Discriminator[]; readonly closed?: true };
  readonly slices?: Readonly<Record<string, ProfileNode>>;
  /** Child elements by FHIRPath name; for a choice, without `[x]`. */
  readonly children?: Readonly<Record<string, ProfileNode>>;
}

export interface Profile {
  readonly type: string;
  readonly version: string;
  /** The bundled profile on which this one is based; absent if this profile is based directly on its type. */
  readonly base?: string;
  readonly root: ProfileNode;
}

/** The format of `definitions/generated/profiles.json`. */
export interface ProfileTable {
  /** By canonical url. */
  readonly profiles: Readonly<Record<string, Profile>>;
  /** Maps a canonical URL to codes by code system. */
  readonly valueSets: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

/** The URL prefix of R4's own definitions. */
const R4_DEFINITION = 'http://hl7.org/fhir/StructureDefinition/';

let table: ProfileTable | undefined;

function profiles(): ProfileTable {
  table ??= JSON.parse(
    readFileSync(new URL('../definitions/generated/profiles.json', import.meta.url), 'utf8'),
  ) as ProfileTable;
  return table;
}

/** Returns a bundled profile by its URL, without a version. */
export function findProfile(url: string): Profile | undefined {
  const all = profiles().profiles;
  return Object.hasOwn(all, url) ? all[url] : undefined;
}

/** Returns the URLs of all bundled profiles. */
export function profileUrls(): readonly string[] {
  return Object.keys(profiles().profiles);
}

const ofTypes = new Map<string, readonly string[]>();

/** Returns the URLs of the bundled profiles for a resource type. */
export function listProfiles(type: string): readonly string[] {
  let urls = ofTypes.get(type);
  if (urls === undefined) {
    urls = profileUrls().filter((url) => findProfile(url)?.type === type);
    ofTypes.set(type, urls);
  }
  return urls;
}

/**
 * Returns the codes in a value set to which a profile binds, by code system.
 * @throws Error if the value set isn't in the table.
 */
export function profileValueSet(url: string): Readonly<Record<string, readonly string[]>> {
  const systems = profiles().valueSets[url];
  if (systems === undefined) throw new Error(`the value set ${url} is not enumerated`);
  return systems;
}

/** Returns the resource type whose base definition a URL names: `…/StructureDefinition/Patient`; otherwise undefined. */
export function baseType(url: string): string | undefined {
  const name = url.startsWith(R4_DEFINITION) ? url.slice(R4_DEFINITION.length) : '';
  return isR4ResourceType(name) || name === 'Resource' ? name : undefined;
}

/** Returns a profile's short name, which is the last part of its URL. */
export function shortName(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}
