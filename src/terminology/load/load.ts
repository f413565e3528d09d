/** Loads a code system from a customer's own files, in the place of what is there, in one transaction. */
import type { ClientBase, Pool } from 'pg';
import { ATC, LOINC, LOINC_NOTICE } from '../bundled/bundled.ts';
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
  /** Canonical URL of the value set of all its codes. */
  readonly valueSet: string;
  readonly copyright?: string;
  /** Its codes are found by what somebody types. */
  readonly found?: true;
  readonly load: (
    tx: ClientBase,
    system: number,
    tables: readonly Table[],
    read: (bytes: number) => void,
  ) => Promise<number>;
}

/** A code system that is one table. */
const fromOne =
  (concepts: (table: Table, read: (bytes: number) => void) => AsyncGenerator<NewConcept>): Loadable['load'] =>
  (tx, system, [table, ...others], read) => {
    if (table === undefined || others.length > 0)
      throw new BadFile('this code system is loaded from a single file');
    async function* rows(file: Table) {
      for await (const concept of concepts(file, read)) yield { ...concept, system };
    }
    return copyConcepts(tx, rows(table));
  };

/** By the name on the command line. */
export const LOADABLE = {
  loinc: {
    url: LOINC,
    title: 'LOINC',
    valueSet: `${LOINC}/vs`,
    copyright: LOINC_NOTICE,
    found: true,
    load: fromOne(loincConcepts),
  },
  atc: {
    url: ATC,
    title: 'Anatomical Therapeutic Chemical Classification',
    valueSet: `${ATC}/vs`,
    found: true,
    load: fromOne(atcConcepts),
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

/** A name of the table. */
export type LoadableName = keyof typeof LOADABLE;

/** What is loaded. */
export interface LoadRequest {
  readonly name: LoadableName;
  readonly files: readonly string[];
  /** The release's version, as its publisher writes it. */
  readonly version?: string | undefined;
  /** Microseconds since 1970, which the changed resource bears. */
  readonly now: number;
  /** Is told how many more bytes were read. */
  readonly read?: (bytes: number) => void;
  /** Stops at the next row; nothing is changed then. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Loads a code system. Until it is complete everybody sees what was there before.
 * @returns how many concepts it has now.
 * @throws BadFile naming file, line and column; AbortError when it was stopped.
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
    // Statements over value sets are planned by it; PostgreSQL itself would do it a minute later.
    await tx.query('analyze terminology.concept');
    const resource = {
      resourceType: 'CodeSystem' as const,
      ...described,
      status: 'active',
      ...(copyright === undefined ? {} : { copyright }),
      valueSet,
      ...(name === 'loinc' ? {} : { hierarchyMeaning: 'is-a' }),
      // Its concepts are asked for by $lookup and $expand; the resource lists none.
      content: 'not-present' as const,
      count,
    };
    await putResources(tx, [resource], { loaded: true, changedAt: now });
    return count;
  });
}

/** A code that comes twice is the file's fault. */
function explain(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === '23505' && 'detail' in error) {
    const [, code] = /\(system, code\)=\(\d+, (.*)\)/.exec(String(error.detail)) ?? [];
    throw new BadFile(`the code ${code ?? ''} occurs twice`);
  }
  throw error;
}
