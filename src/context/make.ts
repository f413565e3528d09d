/**
 * Generates a context from a record. The record is read from the read models or, to generate an earlier context again, from
 * the events.
 */
import { setImmediate } from 'node:timers/promises';
import { referredMedication } from '#src/clinical/reading/medicine-subject.ts';
import type { SystemCode } from '#src/fhir/terminology.ts';
import type { Coverage } from '#src/shared/access/coverage.ts';
import { readEarlier } from './ai-notes.ts';
import { type Authorship, type Composed, compose } from './compose.ts';
import { wholeEntry } from './excerpt.ts';
import type { Fact } from './fact.ts';
import { type GatheredFacts, gatherFacts } from './gather-facts.ts';
import type { ReadBodies } from './newest.ts';
import {
  type Current,
  codesWithoutWords,
  type Entry,
  type OpenedRecord,
  type Version,
  versionReference,
} from './record.ts';
import { listReplaced, type ReadReplacedTexts, withReplaced } from './replaced.ts';
import type { ContextRequest } from './request.ts';
import { loadTokenizer } from './tokenizer.ts';

/** A record, and the lookups that a context needs. */
export interface Sources {
  readonly opened: OpenedRecord;
  /** Reads directory entries by `Type/id`; leaves out missing entries. */
  directory(keys: readonly string[]): Promise<readonly Current[]>;
  /** Reads the names of codes, by `system|code`. */
  displays(codes: readonly SystemCode[]): Promise<ReadonlyMap<string, string>>;
  /** Reads the authors of versions, by `versionReference`. */
  authors(versions: readonly Version[]): Promise<ReadonlyMap<string, Authorship>>;
  /** Reads the stored text of versions in the record. */
  readonly bodies: ReadBodies;
  /** Reads the stored text of earlier versions. */
  readonly replaced: ReadReplacedTexts;
  readonly covered: Coverage;
}

/** A context, and the results of the lookups from which it was generated. */
export interface MadeContext {
  readonly told: GatheredFacts;
  readonly composed: Composed;
  /** Versions of directory entries, by `Type/id`. */
  readonly directory: Readonly<Record<string, number>>;
  /** Names of codes, by `system|code`. */
  readonly displays: Readonly<Record<string, string>>;
}

/** The minimum number of tokens per line. */
const LEAST_TOKENS = 5;
/** How many more facts are tried than could fit. */
const BESIDE = 60;

/**
 * Generates a context. The same record, request and day always produce the same context.
 * @param today `YYYY-MM-DD`
 */
export async function makeContext(
  sources: Sources,
  ask: ContextRequest,
  today: string,
): Promise<MadeContext> {
  // Lets other requests run before the work on a long record begins.
  await setImmediate();
  const opened = await withReplaced(sources.opened, sources.replaced);
  const earlier = await readEarlier(opened, sources.bodies);
  const drugs = [
    ...(opened.facts.get('MedicationStatement') ?? []),
    ...(opened.facts.get('MedicationRequest') ?? []),
    ...opened.byAi,
    ...earlier,
  ];
  const found = await sources.directory(
    [...new Set(drugs.flatMap(({ value }) => referredMedication(value) ?? []))].sort(),
  );
  const directory = new Map(
    found.map((current): [string, Entry] => [`${current.type}/${current.id}`, wholeEntry(current)]),
  );
  const others = [...earlier, ...directory.values(), ...listReplaced(opened)];
  const displays = await sources.displays(codesWithoutWords(sources.opened, others));
  const beside = { directory, displays, earlier, today: Date.parse(today), covered: sources.covered };
  const told = await gatherFacts(opened, ask, beside, sources.bodies, sources.replaced);
  const most = Math.ceil(ask.budget_tokens / LEAST_TOKENS) + BESIDE;
  const isTold = (fact: Fact, n: number): boolean => n < most || fact.isNeeded === true;
  const facts = told.facts.filter(isTold);
  const authors = await sources.authors(facts.map(({ entry }) => entry));
  const items = facts.map((fact) => {
    const author = authors.get(versionReference(fact.entry));
    if (author === undefined) throw new TypeError(`nobody wrote ${versionReference(fact.entry)}`);
    return { fact, author };
  });
  const rest = told.facts.filter((fact, n) => !isTold(fact, n));
  return {
    told,
    composed: compose(items, { ...told, rest }, ask.budget_tokens, await loadTokenizer()),
    directory: sorted([...directory].map(([key, { version }]) => [key, version])),
    displays: sorted([...displays]),
  };
}

function sorted<Value>(entries: readonly (readonly [string, Value])[]): Record<string, Value> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
