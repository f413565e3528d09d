/** Terminology as the rest of the house sees it. */
import type { Pool } from 'pg';
import type { FindCodes, Terminology as SearchTerminology, SystemCode } from '#src/fhir/terminology.ts';
import { Refusal } from '#src/shared/refusal.ts';
import {
  type Coded,
  type CodeFacts,
  describe,
  displaysOf,
  lookup,
  related,
  type Subsumption,
  subsumes,
  type Validity,
  validateInSet,
  validateInSystem,
} from './codes.ts';
import { type ExpandOptions, type Expansion, expand } from './expand.ts';
import { openFindCodes } from './find/find.ts';
import { findResource, type KnownSystem, valueSetOf } from './known.ts';
import type { CodeSystem, ConceptMap, ValueSet } from './resources.ts';
import { type Match, type TranslateRequest, translate } from './translate.ts';

/** A value set: its canonical URL, or its definition. */
export type Set = string | ValueSet;

/** Questions about codes. What is not here is refused with not_found (404), as R4's operations say. */
export interface Terminology extends SearchTerminology {
  /** A code's facts and its system's. */
  lookup(coded: Coded): Promise<{ readonly system: KnownSystem; readonly facts: CodeFacts }>;
  /** Display, category and unit of a code; undefined when it is not here. */
  describe(system: string, code: string): Promise<CodeFacts | undefined>;
  /** Displays by `system|code`, of those that are here and have one. */
  displays(codes: readonly SystemCode[]): Promise<ReadonlyMap<string, string>>;
  /** Codes by what somebody types. */
  readonly findCodes: FindCodes;
  valueSet(canonical: string): Promise<ValueSet>;
  expand(set: Set, options?: ExpandOptions): Promise<Expansion>;
  /** @param abstract whether codes that only group others are valid. Default: they are. */
  validateInSystem(coded: Coded, abstract?: boolean): Promise<Validity>;
  validateInSet(set: Set, coded: Coded, abstract?: boolean): Promise<Validity>;
  subsumes(system: string, codeA: string, codeB: string, version?: string): Promise<Subsumption>;
  translate(
    request: TranslateRequest,
  ): Promise<{ readonly result: boolean; readonly matches: readonly Match[] }>;
  resource(type: 'CodeSystem', canonical: string): Promise<CodeSystem | undefined>;
  resource(type: 'ConceptMap', canonical: string): Promise<ConceptMap | undefined>;
}

/**
 * Opens terminology over a database.
 * @param ready resolves when the bundled part is there.
 */
export function openTerminology(pool: Pool, ready: () => Promise<void>): Terminology {
  const setOf = async (set: Set): Promise<ValueSet> => {
    await ready();
    return typeof set === 'string' ? valueSetOf(pool, set) : set;
  };
  const resource = async <T extends 'CodeSystem' | 'ConceptMap'>(type: T, canonical: string) => {
    await ready();
    return findResource(pool, type, canonical);
  };
  return {
    async lookup(coded) {
      await ready();
      return lookup(pool, coded);
    },
    async describe(system, code) {
      await ready();
      return describe(pool, system, code);
    },
    async displays(codes) {
      if (codes.length === 0) return new Map();
      await ready();
      return displaysOf(pool, codes);
    },
    findCodes: openFindCodes(pool, ready),
    valueSet: setOf,
    expand: async (set, options) => expand(pool, await setOf(set), options),
    async validateInSystem(coded, abstract) {
      await ready();
      return validateInSystem(pool, coded, abstract);
    },
    validateInSet: async (set, coded, abstract) => validateInSet(pool, await setOf(set), coded, abstract),
    async subsumes(system, codeA, codeB, version) {
      await ready();
      return subsumes(pool, system, codeA, codeB, version);
    },
    async translate(request) {
      await ready();
      return translate(pool, request);
    },
    async members(valueSet) {
      try {
        return (await expand(pool, await setOf(valueSet))).members;
      } catch (error) {
        if (error instanceof Refusal) return undefined;
        throw error;
      }
    },
    async related(direction, { system, code }) {
      await ready();
      return (await related(pool, system, code, direction))?.map((each) => ({ system, code: each }));
    },
    resource,
  };
}
