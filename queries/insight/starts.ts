/** Reads when medications were started, according to MedicationStatements. */
import type { PoolClient } from 'pg';
import type { Start } from '#src/insight/detect/starts.ts';
import { DAY } from '#src/insight/track.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { objectIn, textIn } from '#src/v1/elements.ts';
import { nameList } from '#src/v1/lists.ts';
import { seesType } from '../sight.ts';
import type { Span } from './read.ts';
import { type ReadRow, readRows } from './rows.ts';

/** Statuses that mean that a medication was taken. */
const TAKEN: ReadonlySet<string | null> = new Set(['active', 'completed', 'stopped', 'on-hold']);

/** The starts, and the name that each code has in its newest start, by `system|code`. */
export interface ReadStarts {
  readonly starts: readonly Start[];
  readonly names: ReadonlyMap<string, string>;
  /** When the newest of the versions read was recorded; null if there were none. */
  readonly newest: Micros | null;
}

/** Reads the starts in order, each combination of code and date once; leaves out entries that an AI wrote. */
export async function readStarts(database: PoolClient, span: Span): Promise<ReadStarts> {
  if (!seesType(span.sees, 'MedicationStatement', 'rs'))
    return { starts: [], names: new Map(), newest: null };
  const of = { ...span, type: 'MedicationStatement', lists: [nameList('MedicationStatement')] } as const;
  const named: (Start & { readonly name: string | null })[] = [];
  let newest: Micros | null = null;
  await readRows(database, of, (row) => {
    newest = Math.max(newest ?? row.since, row.since);
    const start = startIn(row);
    if (start !== undefined) named.push(start);
  });
  const startKey = ({ code, date }: Start): string => `${code.system}|${code.code} ${date}`;
  const ordered = named.sort(
    (a, b) => a.time - b.time || (startKey(a) + a.source.fhir < startKey(b) + b.source.fhir ? -1 : 1),
  );
  const names = new Map(
    ordered.flatMap(({ code, name }) => (name === null ? [] : [[`${code.system}|${code.code}`, name]])),
  );
  const starts = ordered.map(({ name, ...start }) => start);
  return {
    starts: [...new Map(starts.toReversed().map((start) => [startKey(start), start])).values()].reverse(),
    names,
    newest,
  };
}

function startIn({
  fhir,
  version,
  author,
  at,
  fields,
}: ReadRow): (Start & { readonly name: string | null }) | undefined {
  if (fields === undefined || author === 'ai') return undefined;
  const shown = objectIn(JSON.parse(`{${fields}}`));
  const [code, start, status] = [textIn(shown.code), textIn(shown.start), textIn(shown.status)];
  if (code === null || start === null || !TAKEN.has(status)) return undefined;
  return {
    code: { system: textIn(shown.system) ?? '', code },
    name: textIn(shown.display),
    date: start,
    time: at / 1000 / DAY,
    source: { fhir, version, authorType: author },
  };
}
