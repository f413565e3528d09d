/** `annal history <Type/id | patient-id>`: who wrote which version, when, why, from where, and what they changed. */
import { stringify } from 'lossless-json';
import { reportPage } from '#src/audit/report.ts';
import { type History, historyOf, type Version } from '#src/audit/versions.ts';
import { openPool } from '#src/database/pool.ts';
import { recordStream } from '#src/events/streams.ts';
import { isUuid } from '#src/shared/ids.ts';
import { printJson } from '#src/shared/json.ts';
import { nowMicros, toInstant } from '#src/shared/time.ts';
import { databaseUrlOf, withEventStore } from './database.ts';
import { Failure } from './failure.ts';
import { writeNewFile } from './files.ts';
import { patientId, reportBroken, withStream } from './patient.ts';
import type { ServiceOptions } from './service.ts';
import { printable, table } from './table.ts';

/** What the command line says. */
export interface HistoryOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  /** A file to write the history to as a page. */
  readonly html?: string;
}

/** What the history is asked of. */
interface Subject {
  readonly type: string;
  readonly id: string;
  /** Whether the whole record of that patient is meant. */
  readonly record: boolean;
}

/**
 * Prints the versions of a resource, newest first; of a patient's id alone, those of the whole record.
 * @returns the exit code: 3 when the hash chain of the stream does not hold.
 * @throws Failure for what is not known or was purged, an event that cannot be read, or a file that cannot be written.
 */
export async function historyCommand(
  of: string,
  { json = false, html, ...where }: HistoryOptions,
): Promise<number> {
  const subject = subjectIn(of);
  const { type, id, record } = subject;
  const databaseUrl = await databaseUrlOf(where);
  const stream = type === 'Patient' ? recordStream(id) : await streamOf(databaseUrl, subject);
  const history = await withEventStore(databaseUrl, (store) =>
    withStream(store, stream, (events) => historyOf(events, record ? undefined : id)),
  );
  if (history.versions.length === 0) throw new Failure(`${type}/${id} is not known`);
  if (html !== undefined) {
    const about = { resource: `${type}/${id}`, record, time: toInstant(nowMicros()) };
    await writeNewFile(html, reportPage(about, history));
    process.stdout.write(`${history.versions.length} versions are in ${html}.\n`);
  } else if (json) process.stdout.write(`${stringify(history.versions, undefined, 2)}\n`);
  else process.stdout.write(`${describe(history, record)}\n`);
  return reportBroken(stream, history.brokenAt);
}

function subjectIn(text: string): Subject {
  if (!text.includes('/')) return { type: 'Patient', id: patientId(text), record: true };
  const [, type, id] = /^([A-Z][A-Za-z]+)\/([^/]+)$/.exec(text) ?? [];
  if (type === undefined || id === undefined || !isUuid(id)) {
    throw new Failure(`${text}: expected Type/id, such as Patient/018f…, or a patient's id`);
  }
  return { type, id, record: false };
}

/** The stream that a resource is in. Index: primary key of resources.resource. */
async function streamOf(databaseUrl: string, { type, id }: Subject): Promise<string> {
  const pool = openPool(databaseUrl, { max: 1, name: 'annal history' });
  try {
    const { rows } = await pool.query<{ stream: string }>(
      'select stream from resources.resource where id = $1 and type = $2',
      [id, type],
    );
    const [row] = rows;
    if (row === undefined) throw new Failure(`${type}/${id} is not known`);
    return row.stream;
  } finally {
    await pool.end();
  }
}

/** Longest text of a value in the table. */
const SHOWN = 60;

/** The table, with what changed below each version; of first versions only that they are. */
function describe({ versions }: History, record: boolean): string {
  const heading = ['Version', 'Recorded', 'Operation', 'By', 'On behalf of', 'Source system'];
  const rows = versions.map((version) => [
    ...(record ? [version.resource] : []),
    version.version,
    version.recorded,
    version.operation,
    version.acting_as ?? version.author ?? version.author_type ?? '',
    version.on_behalf_of ?? '',
    version.source_system ?? '',
  ]);
  const [names = '', rule = '', ...lines] = table(record ? ['Resource', ...heading] : heading, rows).split(
    '\n',
  );
  const below = versions.map((version) => (version.version === 1 ? [] : changes(version)));
  return [names, rule, ...lines.flatMap((line, i) => [line, ...(below[i] ?? [])])].join('\n');
}

function changes({ differences }: Version): string[] {
  const short = (value: Parameters<typeof printJson>[0]): string => {
    const text = value === undefined ? '' : printable(printJson(value));
    return text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text;
  };
  return differences.map(({ path, before, after }) => {
    if (before === undefined) return `    + ${printable(path)}: ${short(after)}`;
    if (after === undefined) return `    - ${printable(path)}: ${short(before)}`;
    return `    ~ ${printable(path)}: ${short(before)} → ${short(after)}`;
  });
}
