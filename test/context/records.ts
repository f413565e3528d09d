/** Contexts of the sandbox's records, created without a service. */

import { type Composed, compose } from '#src/context/compose.ts';
import { makeExcerpts } from '#src/context/excerpt.ts';
import { gatherFacts } from '#src/context/gather-facts.ts';
import { type Current, openRecord, versionReference } from '#src/context/record.ts';
import type { ContextRequest } from '#src/context/request.ts';
import { loadTokenizer } from '#src/context/tokenizer.ts';
import { CAST } from '#src/sandbox/cast.ts';
import { generateSandbox } from '#src/sandbox/generate.ts';
import type { Authored, SyntheticRecord } from '#src/sandbox/synthetic.ts';
import type { Coverage } from '#src/shared/access/coverage.ts';
import { IdSource } from '#src/shared/ids.ts';

/** The date of the contexts. */
export const TODAY = '2026-11-22';

/** Returns the thirty records, by story. */
export function sandboxRecords(seed: string): Map<string, SyntheticRecord> {
  const ids = new IdSource('11111111-1111-4111-8111-111111111111', Date.parse(TODAY));
  const { records } = generateSandbox({ seed, today: TODAY, ids });
  return new Map(records.map((record, index) => [CAST[index]?.story ?? '', record]));
}

/** Returns resources as they are stored: each as version 1. */
export function currentOf(resources: readonly Authored[]): Current[] {
  return resources.map(({ type, id, resource }) => ({
    type,
    id,
    version: 1,
    body: JSON.stringify(resource),
  }));
}

/**
 * Creates a context of a record.
 * @param ask the parts of the request that differ from the defaults
 * @param covered what a grant covers
 */
export async function contextOf(
  record: SyntheticRecord,
  ask: Partial<ContextRequest>,
  covered: Coverage = () => 'all',
): Promise<Composed> {
  const authors = new Map(
    record.resources.map(({ type, id, author }) => [
      versionReference({ type, id, version: 1 }),
      { authorType: author.type, source: author.sourceSystem },
    ]),
  );
  const byAi = new Map(
    [...authors].flatMap(([version, { authorType }]) => (authorType === 'ai' ? [[version, undefined]] : [])),
  );
  const asked: ContextRequest = { needs: [], budget_tokens: 2_000, format: 'text', ...ask };
  const current = currentOf(record.resources);
  const bodies = new Map(current.map((version) => [versionReference(version), version.body]));
  const beside = {
    directory: new Map(),
    displays: new Map(),
    today: Date.parse(TODAY),
    covered,
  };
  const opened = openRecord(makeExcerpts(current), byAi);
  const told = await gatherFacts(
    opened,
    asked,
    beside,
    () => Promise.resolve(bodies),
    () => Promise.resolve(new Map()),
  );
  const items = told.facts.map((fact) => ({
    fact,
    author: authors.get(versionReference(fact.entry)) ?? { authorType: 'import' as const, source: null },
  }));
  return compose(items, told, asked.budget_tokens, await loadTokenizer());
}
