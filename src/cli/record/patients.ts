/** `annal patients <name>`: lists patients by name or identifier. Also finds the patient that other commands name. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { notedPositions } from '#projections/checkpoint.ts';
import { openPool } from '#src/database/pool.ts';
import { isUuid } from '#src/shared/ids.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import type { ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { counted, printable, table, withoutEmpty } from '../table.ts';
import { type FoundPatient, findPatients, type PatientFilter } from './find-patients.ts';
import { namedStream } from './patient.ts';

/** The command-line options. */
export interface PatientsOptions extends Pick<ServiceOptions, 'dataDir'>, PatientFilter {
  readonly json?: boolean;
}

/** The maximum number of patients in a table. */
const SHOWN = 50;
/** The maximum number of patients listed in an error message. */
const NAMED = 10;
/** How long a command waits for the search index, and how often it checks, in ms. */
const INDEXED = { within: 10_000, every: 50 } as const;

/**
 * Prints the patients, from all projects, that match a text.
 * @returns the exit code: 1 if there are none.
 */
export async function patientsCommand(
  text: string,
  { json = false, project, deleted = false, ...where }: PatientsOptions,
): Promise<number> {
  const filter = { deleted, ...(project === undefined ? {} : { project }) };
  const found = await withDatabase(where, ({ url }) => patientsCalled(url, text, filter));
  process.stdout.write(
    `${json ? JSON.stringify({ data: found, total: found.length }, null, 2) : describe(found)}\n`,
  );
  return found.length === 0 ? 1 : 0;
}

/**
 * Returns the id of the patient that a command-line text means: `<id>`, `Patient/<id>`, or a name or identifier that only one
 * patient has. If the text is a name, prints to standard error which patient it matched.
 * @throws Failure that lists the matches if no patient or several patients match.
 */
export async function resolvePatient(url: string, text: string): Promise<string> {
  const id = text.replace(/^Patient\//, '');
  if (isUuid(id)) return id;
  if (text.includes('/') && !text.includes('|'))
    throw new Failure(`${text} is not a valid patient id: expected Patient/018f…`, MISUNDERSTOOD);
  const found = await patientsCalled(url, text);
  const exact = found.filter((each) => each.exact);
  const [only, ...others] = exact.length === 1 ? exact : found;
  if (only === undefined)
    throw new Failure(`no patient matches "${printable(text)}" by id, name or identifier`);
  if (others.length > 0) {
    const named = found.slice(0, NAMED).map((each) => `  ${writeSentence(each)}`);
    const more = found.length > NAMED ? ['  … annal patients lists them all'] : [];
    const list = [...named, ...more].join('\n');
    throw new Failure(
      `"${printable(text)}" matches ${found.length} patients; choose one by its id:\n${list}`,
    );
  }
  process.stderr.write(`annal: ${writeSentence(only)}\n`);
  return only.id;
}

/** Returns the stream that a text means: a stream's name, `directory-…`, or a patient's record as in `resolvePatient`. */
export async function resolveStream(url: string, text: string): Promise<ReturnType<typeof namedStream>> {
  const isStream = /^(record|directory|project|organization|application|webhook)-./.test(text);
  return namedStream(isStream ? text : await resolvePatient(url, text));
}

async function patientsCalled(url: string, text: string, filter?: PatientFilter): Promise<FoundPatient[]> {
  if (text.trim() === '')
    throw new Failure('pass a name or identifier: annal patients <name or identifier>', MISUNDERSTOOD);
  const pool = openPool(url, { max: 1, name: 'annal patients', answerMs: 0 });
  try {
    if (!(await waitForIndex(pool)))
      process.stderr.write('annal: the name index is behind the log; recent patients may be missing\n');
    return await findPatients(pool, text.trim(), filter);
  } finally {
    await pool.end();
  }
}

/**
 * Waits until the search index has caught up with what reads by id show now, because writes don't wait for the index.
 * @returns whether it has caught up; false after ten seconds
 */
async function waitForIndex(pool: Pool): Promise<boolean> {
  const until = performance.now() + INDEXED.within;
  const { resources: shown = '' } = await positions(pool);
  for (;;) {
    const { search = shown } = await positions(pool);
    if (search >= shown) return true;
    if (performance.now() > until) return false;
    await pause(INDEXED.every);
  }
}

/** Returns the positions of the read models that have tables. */
async function positions(pool: Pool): Promise<{ readonly resources?: string; readonly search?: string }> {
  return Object.fromEntries(await notedPositions(pool, ['resources', 'search']));
}

function writeSentence({ id, name, birth_date: born, deleted, ...owner }: FoundPatient): string {
  const { project_name: title, project, environment } = owner;
  const place = [project === null ? null : `${title} (${project})`, environment];
  const parts = [name ?? 'without a name', born === null ? null : `born ${born}`, ...place];
  return printable(`Patient/${id}: ${[...parts, deleted ? 'deleted' : null].filter(Boolean).join(', ')}`);
}

function describe(found: readonly FoundPatient[]): string {
  if (found.length === 0) return 'No patient found.';
  const ids = new Map<string | null, Set<string | null>>();
  for (const { project_name, project } of found)
    ids.set(project_name, (ids.get(project_name) ?? new Set()).add(project));
  const rows = found
    .slice(0, SHOWN)
    .map(({ id, name, birth_date, identifiers, project_name, project, environment, deleted }) => [
      id,
      name ?? '',
      birth_date ?? '',
      identifiers.map(({ value }) => value).join(', '),
      // If several projects have the same name, their ids are shown too.
      [project_name, (ids.get(project_name)?.size ?? 0) > 1 ? project : null, environment]
        .filter(Boolean)
        .join(', '),
      deleted ? 'deleted' : '',
    ]);
  const heading = ['Id', 'Name', 'Born', 'Identifiers', 'Project', 'State'];
  const more = found.length > SHOWN ? ', of which the first 50 are shown; --json prints all' : '';
  return `${table(...withoutEmpty(heading, rows))}\n\n${counted(found.length, 'patient')}${more}.`;
}
