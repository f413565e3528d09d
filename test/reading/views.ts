/** The parts of a record that views show: contexts, `$summary`, and the shared-links page. */
import { z } from 'zod';
import { choose } from '#src/clinical/summary/choose.ts';
import { summaryDocument } from '#src/clinical/summary/document.ts';
import { type Composed, compose } from '#src/context/compose.ts';
import { makeExcerpts, wholeEntry } from '#src/context/excerpt.ts';
import { gatherFacts } from '#src/context/gather-facts.ts';
import { type Current, type Entry, openRecord, versionReference } from '#src/context/record.ts';
import { loadTokenizer } from '#src/context/tokenizer.ts';
import { en } from '#src/http/pages/languages/en.ts';
import type { TextKey } from '#src/http/pages/languages/language.ts';
import { readRecord } from '#src/http/shl/viewer/record.ts';
import { inWords, object } from '#src/http/shl/viewer/texts.ts';
import { type Json, reference, type Version } from './raw.ts';
import { mapValues, type VariedRecord } from './varied-records.ts';

const BASE = 'https://annal.example/fhir/R4/';

const current = ({ type, id, version, resource }: Version): Current => ({
  type,
  id,
  version,
  body: JSON.stringify({ ...resource, meta: { versionId: String(version) } }),
});

/**
 * Returns a context for a record.
 * @param today `YYYY-MM-DD`
 */
export async function composeContext(
  { versions, directory }: VariedRecord,
  today: string,
  budget: number,
): Promise<Composed> {
  const all = versions.map(current);
  const bodies = new Map(all.map((each) => [versionReference(each), each.body]));
  const byAi = new Map(versions.filter((each) => each.byAi).map((each) => [reference(each), undefined]));
  const beside = {
    directory: mapValues(directory, (resource, key): Entry => {
      const [type = '', id = ''] = key.split('/');
      return wholeEntry(current({ type, id, version: 1, resource, byAi: false }));
    }),
    displays: new Map(),
    today: Date.parse(today),
    covered: () => 'all' as const,
  };
  const ask = { needs: [], budget_tokens: budget, format: 'text' as const };
  const told = await gatherFacts(
    openRecord(makeExcerpts(all), byAi),
    ask,
    beside,
    () => Promise.resolve(bodies),
    () => Promise.resolve(new Map()),
  );
  const author = { authorType: 'import' as const, source: null };
  const items = told.facts.map((fact) => ({ fact, author }));
  return compose(items, told, budget, await loadTokenizer());
}

const documents = z.object({
  entry: z.array(z.object({ fullUrl: z.string(), resource: z.record(z.string(), z.unknown()) })),
});
const compositions = z.object({
  section: z.array(
    z.object({
      code: z.object({ coding: z.tuple([z.object({ code: z.string() })]) }),
      text: z.object({ div: z.string() }),
      entry: z.array(z.object({ reference: z.string() })).optional(),
    }),
  ),
});

/** A section: its entries, as versions in order, and the rows of its table, whose cells are keyed by heading. */
export interface ShownSection {
  readonly entries: readonly string[];
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly isCut: boolean;
  /** The number of past entries that the section mentions but doesn't list. */
  readonly notListed: number;
}

/** Returns the sections of a `$summary` by LOINC code, and its Bundle. */
export function summarize(
  { patient, versions, directory }: VariedRecord,
  today: string,
): { readonly sections: ReadonlyMap<string, ShownSection>; readonly bundle: Json } {
  const byAi = new Map(versions.filter((each) => each.byAi).map((each) => [reference(each), undefined]));
  const record = versions.filter((each) => each !== patient).map(current);
  const chosen = choose({ base: BASE, patient: current(patient), record, byAi });
  const written = summaryDocument(chosen, {
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
    now: Date.parse(`${today}T12:00:00Z`) * 1_000,
    directory: [...directory].map(([key, resource]) => {
      const [type = '', id = ''] = key.split('/');
      return current({ type, id, version: 1, resource, byAi: false });
    }),
  });
  const bundle: Json = JSON.parse(written);
  const { entry } = documents.parse(bundle);
  const { section } = compositions.parse(entry[0]?.resource);
  const names = new Map(versions.map((each) => [`${BASE}${each.type}/${each.id}`, reference(each)]));
  const sections = section.map(({ code, text, entry: listed = [] }): [string, ShownSection] => [
    code.coding[0].code,
    {
      entries: listed.map((each) => names.get(each.reference) ?? each.reference),
      rows: rowsIn(text.div),
      isCut: / of \d+ entries: /.test(text.div),
      notListed: Number(/<p>(\d+) [^<]* not listed here\.<\/p>/.exec(text.div)?.[1] ?? 0),
    },
  ]);
  return { sections: new Map(sections), bundle };
}

function rowsIn(div: string): Record<string, string>[] {
  const headings = cellsIn(div, 'th');
  const [, body = ''] = /<tbody>(.*)<\/tbody>/s.exec(div) ?? [];
  return [...body.matchAll(/<tr(?: id="[^"]*")?>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    Object.fromEntries(cellsIn(row, 'td').map((cell, n) => [headings[n] ?? '', cell])),
  );
}

function cellsIn(html: string, tag: string): string[] {
  return [...html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, cell = '']) =>
    plainText(cell),
  );
}

/** Returns the text of markup, without tags. */
export function plainText(markup: string): string {
  return markup
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

const shown = z.object({
  patient: z.object({ died: z.unknown() }),
  hidden: z.map(z.string(), z.number()),
  notListed: z.map(z.string(), z.number()),
  sections: z.map(
    z.string(),
    z.array(
      z.object({
        name: z.string(),
        isOver: z.boolean(),
        flag: z.string(),
        flagged: z.string(),
        standing: z.string().optional(),
        key: z.string().optional(),
        value: z.string(),
        parts: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
        date: z.string(),
        means: z.string().optional(),
        details: z.array(z.string()),
        says: z.array(
          z.object({
            key: z.string().default(''),
            days: z.record(z.string(), z.string()).optional(),
            times: z.number().optional(),
            state: z.string().optional(),
            values: z.record(z.string(), z.string()).optional(),
            text: z.string().optional(),
          }),
        ),
      }),
    ),
  ),
});

/** The page's texts in English; numbers and days are kept as written. */
const sayPlainly = Object.assign((key: TextKey) => en[key], {
  number: String,
  day: String,
  time: () => '',
  moment: String,
});

/** Returns what a shared link's page shows for the resources in a file. */
export function view(resources: readonly Json[], today: string): z.output<typeof shown> {
  const record = shown.parse(readRecord(resources.map(object), today));
  for (const [kind, rows] of record.sections)
    if (['results', 'vitals', 'social', 'pregnancy'].includes(kind))
      record.sections.set(
        kind,
        rows.map((row) => ({ ...row, name: inWords(row.name, sayPlainly) })),
      );
  return record;
}
