/** `annal history project-…`, `organization-…`: prints the events of a stream that contains no resources. */
import { credentialLabel, nameCredentials } from '#src/audit/names.ts';
import { type Occurrence, type Occurrences, readOccurrences } from '#src/audit/occurrences.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { withEventStore } from '../database.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import { printable, table } from '../table.ts';
import { reportBroken, withStream } from './patient.ts';

/** The maximum length of the text about an event in the table. */
const SHOWN = 100;

/**
 * Prints a stream's events, newest first.
 * @returns the exit code: 3 if the hash chain is broken.
 * @throws Failure for a stream without events, for an event that can't be read, or if an HTML page is requested.
 */
export async function streamHistory(
  databaseUrl: string,
  stream: string,
  { json, html }: { readonly json: boolean; readonly html: string | undefined },
): Promise<number> {
  if (html !== undefined)
    throw new Failure('--html shows versions of resources only; use --json for a stream', MISUNDERSTOOD);
  const { occurrences, brokenAt, head } = await withEventStore(databaseUrl, async (store) => {
    const found = await withStream(store, stream, readOccurrences);
    const named = await nameCredentials(
      (name) => store.read(name),
      found.occurrences,
      listOwners(stream, found),
    );
    return { ...found, occurrences: named };
  });
  if (occurrences.length === 0) throw new Failure(`${stream} doesn't exist`);
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

/** Returns the projects and organizations whose members may have written to a stream. */
function listOwners(
  stream: string,
  { occurrences }: Occurrences,
): { readonly projects: string[]; readonly organizations: string[] } {
  const id = stream.slice(stream.indexOf('-') + 1);
  const projects = occurrences.flatMap(({ data }) =>
    'project_id' in data && typeof data.project_id === 'string' ? data.project_id : [],
  );
  return {
    projects: stream.startsWith('project-') ? [id, ...projects] : projects,
    organizations: stream.startsWith('organization-') ? [id] : [],
  };
}

function row({ revision, recorded, type, credential, data }: Occurrence): (string | number)[] {
  const said = printable(JSON.stringify(data));
  const short = said.length > SHOWN ? `${said.slice(0, SHOWN - 1)}…` : said;
  return [revision, recorded, type, credentialLabel(credential), short];
}
