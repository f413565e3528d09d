/** Reads when medications started, as MedicationStatements say it. */
import type { PoolClient } from 'pg';
import type { Start } from '#src/insight/detect/starts.ts';
import { DAY } from '#src/insight/track.ts';
import { objectIn, textIn } from '#src/v1/elements.ts';
import { listOf } from '#src/v1/lists.ts';
import { seesType } from '../sight.ts';
import type { Span } from './read.ts';
import { type ReadRow, readRows } from './rows.ts';

/** Statuses of statements that something was taken. */
const TAKEN: ReadonlySet<string | null> = new Set(['active', 'completed', 'stopped', 'on-hold']);

/** Reads the starts, each code and date once, in order; what an AI wrote is left out. */
export async function readStarts(database: PoolClient, span: Span): Promise<Start[]> {
  if (!seesType(span.sees, 'MedicationStatement', 'rs')) return [];
  const of = { ...span, type: 'MedicationStatement', lists: [listOf('MedicationStatement')] } as const;
  const starts: Start[] = [];
  await readRows(database, of, (row) => {
    const start = startIn(row);
    if (start !== undefined) starts.push(start);
  });
  const keyOf = ({ code, date }: Start): string => `${code.system}|${code.code} ${date}`;
  const ordered = starts.sort(
    (a, b) => a.time - b.time || (keyOf(a) + a.source.fhir < keyOf(b) + b.source.fhir ? -1 : 1),
  );
  return [...new Map(ordered.toReversed().map((start) => [keyOf(start), start])).values()].reverse();
}

function startIn({ fhir, version, author, at, fields }: ReadRow): Start | undefined {
  if (fields === undefined || author === 'ai') return undefined;
  const shown = objectIn(JSON.parse(`{${fields}}`));
  const [code, start, status] = [textIn(shown.code), textIn(shown.start), textIn(shown.status)];
  if (code === null || start === null || !TAKEN.has(status)) return undefined;
  return {
    code: { system: textIn(shown.system) ?? '', code },
    date: start,
    time: at / 1000 / DAY,
    source: { fhir, version, authorType: author },
  };
}
