/** `annal history project-…`, `organization-…`: the events of a stream that holds no resources. */
import { type Occurrence, occurrencesOf } from '#src/audit/occurrences.ts';
import { nowMicros, toInstant } from '#src/shared/time.ts';
import { withEventStore } from './database.ts';
import { Failure, MISUNDERSTOOD } from './failure.ts';
import { reportBroken, withStream } from './patient.ts';
import { printable, table } from './table.ts';

/** Longest text of what an event says in the table. */
const SHOWN = 100;

/**
 * Prints the events of a stream, newest first.
 * @returns the exit code: 3 when the hash chain does not hold.
 * @throws Failure for a stream without events, an event that cannot be read, or when a page is asked for.
 */
export async function streamHistory(
  databaseUrl: string,
  stream: string,
  { json, html }: { readonly json: boolean; readonly html: string | undefined },
): Promise<number> {
  if (html !== undefined)
    throw new Failure('--html shows versions of resources: use --json here', MISUNDERSTOOD);
  const { occurrences, brokenAt, head } = await withEventStore(databaseUrl, (store) =>
    withStream(store, stream, occurrencesOf),
  );
  if (occurrences.length === 0) throw new Failure(`${stream} is not known`);
  if (json) {
    const chain = { holds: brokenAt === undefined, ...(brokenAt !== undefined && { broken_at: brokenAt }) };
    const made_at = toInstant(nowMicros());
    const all = { stream, made_at, head: head ?? null, chain, events: occurrences };
    process.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
  } else {
    process.stdout.write(`${table(['Revision', 'Recorded', 'Event', 'By', 'Says'], occurrences.map(row))}\n`);
  }
  return reportBroken(stream, brokenAt);
}

function row({ revision, recorded, type, credential, data }: Occurrence): (string | number)[] {
  const said = printable(JSON.stringify(data));
  const short = said.length > SHOWN ? `${said.slice(0, SHOWN - 1)}…` : said;
  return [revision, recorded, type, credential.key_id ?? credential.subject ?? credential.kind, short];
}
