/**
 * `annal history <Type/id | patient-id | stream>`: shows the author, time, reason, source and changes of each
 * version.
 */
import { stringify } from 'lossless-json';
import { credentialLabel, nameCredentials } from '#src/audit/names.ts';
import { writeSentence } from '#src/audit/provenances.ts';
import { reportPage } from '#src/audit/report.ts';
import { approvedBy, type History, readHistory, type Version, writtenBy } from '#src/audit/versions.ts';
import { openPool } from '#src/database/pool.ts';
import { holdsResources, isStreamName, recordPatient, recordStream } from '#src/events/streams.ts';
import { isUuid } from '#src/shared/ids.ts';
import { printJson } from '#src/shared/json/json.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { withEventStore } from '../database.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import { writeNewFile } from '../files.ts';
import type { ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { counted, printable, table, withoutEmpty } from '../table.ts';
import { nameDirectoryEntries } from './directory-names.ts';
import { reportBroken, withStream } from './patient.ts';
import { resolveStream } from './patients.ts';
import { streamHistory } from './stream-history.ts';

/** The command-line options. */
export interface HistoryOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  /** A file to write the history to, as an HTML page. */
  readonly html?: string;
}

/** The resource, record or stream whose history is shown. */
interface Subject {
  /** `Type/id`, or the name of a stream. */
  readonly resource: string;
  /** Undefined if the resource has to be looked up to find its stream. */
  readonly stream: string | undefined;
  /** The only resource to print; undefined for the whole stream. */
  readonly only: string | undefined;
}

/**
 * Prints a resource's versions, newest first; if only a patient's id is given, prints the versions of the whole record.
 * @returns the exit code: 3 if the stream's hash chain is broken
 * @throws Failure for an unknown or purged resource, an unreadable event, or a file that can't be written
 */
export async function historyCommand(
  of: string,
  { json = false, html, ...where }: HistoryOptions,
): Promise<number> {
  return withDatabase(where, async ({ url }) => showHistory(url, await subjectIn(url, of), { json, html }));
}

async function showHistory(
  databaseUrl: string,
  { resource, only, ...asked }: Subject,
  { json, html }: { readonly json: boolean; readonly html: string | undefined },
): Promise<number> {
  const stream = asked.stream ?? (await findStream(databaseUrl, resource));
  if (!holdsResources(stream)) return streamHistory(databaseUrl, stream, { json, html });
  const record = only === undefined;
  const history = await withEventStore(databaseUrl, async (store) => {
    const found = await withStream(store, stream, (events) => readHistory(events, only));
    const versions = await nameCredentials((name) => store.read(name), found.versions);
    const access = await nameCredentials((name) => store.read(name), found.access);
    return { ...found, access, versions: await nameDirectoryEntries(databaseUrl, versions) };
  });
  if (history.versions.length === 0) throw new Failure(`${resource} doesn't exist`);
  const time = toInstant(nowMicros());
  if (html !== undefined) {
    await writeNewFile(html, reportPage({ resource, record, time, stream }, history));
    const { length } = history.versions;
    process.stdout.write(`Wrote ${counted(length, 'version')} to ${html}.\n`);
  } else if (json) {
    const { versions, access, events, brokenAt, head } = history;
    const chain = { holds: brokenAt === undefined, ...(brokenAt !== undefined && { broken_at: brokenAt }) };
    const all = {
      resource,
      made_at: time,
      stream,
      head: head ?? null,
      events,
      chain,
      versions,
      ...(record && { access }),
    };
    process.stdout.write(`${stringify(all, undefined, 2)}\n`);
  } else process.stdout.write(`${describe(history, record)}\n`);
  return reportBroken(stream, history.brokenAt);
}

/** @throws Failure if the text matches nothing, or several patients. */
async function subjectIn(url: string, text: string): Promise<Subject> {
  if (isStreamName(text) && recordPatient(text) === undefined)
    return { resource: text, stream: text, only: undefined };
  const [, type, id] = /^([A-Z][A-Za-z]+)\/([^/]+)$/.exec(text) ?? [];
  if (type === undefined) {
    const { stream, called } = await resolveStream(url, text);
    return { resource: called, stream, only: undefined };
  }
  if (id === undefined || !isUuid(id)) {
    throw new Failure(
      `${text}: expected Type/id with a UUID, such as Patient/018f…, a patient's id, or the name of a stream`,
      MISUNDERSTOOD,
    );
  }
  return { resource: text, stream: type === 'Patient' ? recordStream(id) : undefined, only: id };
}

/** Returns the stream that contains a resource. Index: primary key of resources.resource. */
async function findStream(databaseUrl: string, resource: string): Promise<string> {
  const [type, id] = resource.split('/');
  const pool = openPool(databaseUrl, { max: 1, name: 'annal history' });
  try {
    const { rows } = await pool.query<{ stream: string }>(
      'select stream from resources.resource where id = $1 and type = $2',
      [id, type],
    );
    const [row] = rows;
    if (row === undefined) throw new Failure(`${resource} doesn't exist`);
    return row.stream;
  } finally {
    await pool.end();
  }
}

/** The maximum length of a value in the table. */
const SHOWN = 60;
/** The maximum length of the text that describes a link's or grant's event. */
const SAID = 100;

/**
 * Returns the table, with the reason and the changes below each version (first versions list no changes), followed by the
 * events about who may use the record.
 */
function describe({ versions, access }: History, record: boolean): string {
  const heading = ['Version', 'Recorded', 'Operation', 'By', 'Credential', 'On behalf of', 'Source system'];
  const rows = versions.map((version) => [
    ...(record ? [version.resource] : []),
    version.version,
    version.recorded,
    version.operation,
    writtenBy(version),
    credentialLabel(version.credential),
    version.on_behalf_of?.display ?? version.on_behalf_of?.reference ?? '',
    version.source_system ?? '',
  ]);
  const columns = record ? ['Resource', ...heading] : heading;
  const [names = '', rule = '', ...lines] = table(...withoutEmpty(columns, rows)).split('\n');
  const below = versions.map((version) => [
    ...[approvedBy(version) ?? []].flat().map((who) => `    approved by: ${printable(who)}`),
    ...version.provenances.map((said) => `    why: ${printable(writeSentence(said))}`),
    ...(version.version === 1 ? [] : changes(version)),
  ]);
  const written = [names, rule, ...lines.flatMap((line, i) => [line, ...(below[i] ?? [])])];
  return [...written, ...(access.length === 0 ? [] : ['', describeAccess(access)])].join('\n');
}

function describeAccess(access: History['access']): string {
  const rows = access.map(({ recorded, type, credential, data }) => {
    const said = printable(JSON.stringify(data));
    return [
      recorded,
      type,
      credentialLabel(credential),
      said.length > SAID ? `${said.slice(0, SAID - 1)}…` : said,
    ];
  });
  return table(['Recorded', 'Links and grants', 'By', 'Says'], rows);
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
