/** The terminology's interface to the rest of the service. */
import type { Pool } from 'pg';
import type { FindCodes, Terminology as SearchTerminology, SystemCode } from '#src/fhir/terminology.ts';
import { Refusal } from '#src/shared/refusal.ts';
import {
  type Coded,
  type CodeFacts,
  describe,
  lookup,
  readDisplays,
  related,
  type Subsumption,
  subsumes,
  type Validity,
  validateInSet,
  validateInSystem,
} from './codes.ts';
import { type ExpandOptions, type Expansion, expand } from './expand.ts';
import { openFindCodes } from './find/find.ts';
import { findResource, findValueSet, type KnownSystem, requireValueSet } from './known.ts';
import { findMolarMass } from './molar-masses.ts';
import type { CodeSystem, ConceptMap, ValueSet } from './resources.ts';
import { type Match, type TranslateRequest, translate } from './translate.ts';

/** A value set, given as its canonical URL or its definition. */
export type Set = string | ValueSet;

/**
 * Answers queries about codes. Requests for terminology that isn't installed are refused with not_found (404), as R4's
 * operations require.
 */
export interface Terminology extends SearchTerminology {
  /** Returns the properties of a code and of its system. */
  lookup(coded: Coded): Promise<{ readonly system: KnownSystem; readonly facts: CodeFacts }>;
  /** Returns a code's display, category and unit; undefined if the code isn't installed. */
  describe(system: string, code: string): Promise<CodeFacts | undefined>;
  /** Returns displays by `system|code`, for installed codes that have a display and for codes that belong to a concept. */
  displays(codes: readonly SystemCode[]): Promise<ReadonlyMap<string, string>>;
  /** Returns the molar mass of the substance that a code measures, in g/mol; undefined if the mass is unknown. */
  molarMassOf(coded: SystemCode): number | undefined;
  /** Finds codes by typed text. */
  readonly findCodes: FindCodes;
  valueSet(canonical: string): Promise<ValueSet>;
  expand(set: Set, options?: ExpandOptions): Promise<Expansion>;
  /**
   * Validates a code against its code system.
   * @param abstract whether codes that only group other codes are valid; default: true
   */
  validateInSystem(coded: Coded, abstract?: boolean): Promise<Validity>;
  validateInSet(set: Set, coded: Coded, abstract?: boolean): Promise<Validity>;
  subsumes(system: string, codeA: string, codeB: string, version?: string): Promise<Subsumption>;
  translate(
    request: TranslateRequest,
  ): Promise<{ readonly result: boolean; readonly matches: readonly Match[] }>;
  resource(type: 'CodeSystem', canonical: string): Promise<CodeSystem | undefined>;
  resource(type: 'ConceptMap', canonical: string): Promise<ConceptMap | undefined>;
}

/** A literal reference to a value set. */
const VALUE_SET = /^ValueSet\/([A-Za-z0-9.-]{1,64})$/;

/**
 * Creates the queries on a database's terminology.
 * @param ready resolves when the bundled part is installed
 */
export function openTerminology(pool: Pool, ready: () => Promise<void>): Terminology {
  const resolveSet = async (set: Set): Promise<ValueSet> => {
    await ready();
    return typeof set === 'string' ? requireValueSet(pool, set) : set;
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
      return readDisplays(pool, codes);
    },
    molarMassOf: ({ system, code }) => findMolarMass(system, code),
    findCodes: openFindCodes(pool, ready),
    valueSet: resolveSet,
    expand: async (set, options) => expand(pool, await resolveSet(set), options),
    async validateInSystem(coded, abstract) {
      await ready();
      return validateInSystem(pool, coded, abstract);
    },
    validateInSet: async (set, coded, abstract) =>
      validateInSet(pool, await resolveSet(set), coded, abstract),
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
        const literal = VALUE_SET.exec(valueSet)?.[1];
        if (literal === undefined) return (await expand(pool, await resolveSet(valueSet))).members;
        await ready();
        const found = await findValueSet(pool, literal);
        return found && (await expand(pool, found)).members;
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
