/** Loads a code system from a customer's own files, replacing the installed one, in a single transaction. */
import type { ClientBase, Pool } from 'pg';
import { ATC, LOINC, LOINC_NOTICE, type OwnProperties, ownOfLoinc } from '../bundled/bundled.ts';
import { substanceProperties } from '../bundled/substances.ts';
import { makeCodeIndex } from '../find/make.ts';
import { writingTerminology } from '../install.ts';
import { copyConcepts, type NewConcept, newSystems, putResources, removeSystems } from '../rows.ts';
import { atcConcepts, icd10Concepts } from './classification.ts';
import { loincConcepts } from './loinc.ts';
import { loadSnomed } from './snomed.ts';
import { BadFile, openTable, type Table } from './table.ts';

/** A code system that can be loaded. */
interface Loadable {
  readonly url: string;
  readonly title: string;
  /** Canonical URL of the value set that contains all its codes. */
  readonly valueSet: string;
  readonly copyright?: string;
  /** True if its codes can be found by typed text. */
  readonly found?: true;
  readonly load: (
    tx: ClientBase,
    system: number,
    tables: readonly Table[],
    read: (bytes: number) => void,
  ) => Promise<number>;
}

/**
 * Returns the loader for a code system whose file is a single table.
 * @param own returns names and ranks by which codes can be found, in addition to those in the file
 */
const fromOne =
  (
    concepts: (table: Table, read: (bytes: number) => void) => AsyncGenerator<NewConcept>,
    own: () => OwnProperties = () => () => undefined,
  ): Loadable['load'] =>
  (tx, system, [table, ...others], read) => {
    if (table === undefined || others.length > 0)
      throw new BadFile('this code system is loaded from a single file');
    const ownOf = own();
    async function* rows(file: Table) {
      for await (const concept of concepts(file, read)) {
        const added = ownOf(concept.code, concept.display ?? '');
        const properties = added === undefined ? concept.properties : { ...concept.properties, ...added };
        yield { ...concept, properties, system };
      }
    }
    return copyConcepts(tx, rows(table));
  };

/** Code systems that can be loaded, by their name on the command line. */
export const LOADABLE = {
  loinc: {
    url: LOINC,
    title: 'LOINC',
    valueSet: `${LOINC}/vs`,
    copyright: LOINC_NOTICE,
    found: true,
    load: fromOne(loincConcepts, ownOfLoinc),
  },
  atc: {
    url: ATC,
    title: 'Anatomical Therapeutic Chemical Classification',
    valueSet: `${ATC}/vs`,
    found: true,
    load: fromOne(atcConcepts, () => substanceProperties),
  },
  icd10: {
    url: 'http://hl7.org/fhir/sid/icd-10',
    title: 'International Classification of Diseases, 10th revision',
    valueSet: 'http://hl7.org/fhir/ValueSet/icd-10',
    load: fromOne(icd10Concepts),
  },
  snomed: {
    url: 'http://snomed.info/sct',
    title: 'SNOMED CT',
    valueSet: 'http://snomed.info/sct?fhir_vs',
    load: loadSnomed,
  },
} as const satisfies Record<string, Loadable>;

export type LoadableName = keyof typeof LOADABLE;

/** The code system to load, and its files. */
export interface LoadRequest {
  readonly name: LoadableName;
  readonly files: readonly string[];
  /** The version of the release, as its publisher writes it. */
  readonly version?: string | undefined;
  /** Microseconds since 1970; becomes the time of the changed resource. */
  readonly now: number;
  /** Called with the number of bytes read since the last call. */
  readonly read?: (bytes: number) => void;
  /** Stops the load at the next row, after which nothing has changed. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Loads a code system. Until the load is complete, readers see the previous content.
 * @returns the number of the code system's concepts
 * @throws BadFile naming file, line and column; AbortError if the load was stopped
 */
export async function loadSystem(pool: Pool, request: LoadRequest): Promise<number> {
  const { name, files, version, now, signal } = request;
  const system: Loadable = LOADABLE[name];
  const tables: Table[] = [];
  for (const file of files) tables.push(await openTable(file));
  const { url, title, valueSet, copyright, found } = system;
  return writingTerminology(pool, async (tx) => {
    await removeSystems(tx, 'url = $1', [url]);
    const described = { url, title, name: name.toUpperCase(), ...(version === undefined ? {} : { version }) };
    const numbers = await newSystems(tx, [{ ...described, content: 'complete' }], true);
    const number = numbers.get(url) ?? 0;
    const count = await system
      .load(tx, number, tables, (bytes) => {
        signal?.throwIfAborted();
        request.read?.(bytes);
      })
      .catch(explain);
    if (count === 0) throw new BadFile(`${files.join(', ')}: the file contains no codes`);
    if (found === true) await makeCodeIndex(tx, number);
    // The plans of statements on value sets depend on these statistics, which PostgreSQL itself would collect only a minute
    // later.
    await tx.query('analyze terminology.concept');
    const resource = {
      resourceType: 'CodeSystem' as const,
      ...described,
      status: 'active',
      ...(copyright === undefined ? {} : { copyright }),
      valueSet,
      ...(name === 'loinc' ? {} : { hierarchyMeaning: 'is-a' }),
      // The concepts can be read with $lookup and $expand; the resource itself doesn't list them.
      content: 'not-present' as const,
      count,
    };
    await putResources(tx, [resource], { loaded: true, changedAt: now });
    return count;
  });
}

/** Converts a duplicate key error to a fault in the file, because it means that a code occurs twice. Rethrows other errors. */
function explain(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === '23505' && 'detail' in error) {
    const [, code] = /\(system, code\)=\(\d+, (.*)\)/.exec(String(error.detail)) ?? [];
    throw new BadFile(`the code ${code ?? ''} occurs twice`);
  }
  throw error;
}
