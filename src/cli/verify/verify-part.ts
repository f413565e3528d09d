/** `annal verify --project`, `--patient`: verifies the streams, rows, documents and access logs of one project or patient. */
import type { Pool } from 'pg';
import { PROJECTIONS } from '#projections/all.ts';
import { closeSession, openSession } from '#projections/session.ts';
import { LogCheck, type LogFault } from '#projections/verify/log-check.ts';
import { type Part, readInBatches, verifyPart } from '#projections/verify/verify-part.ts';
import type { ReadModelFault } from '#projections/verify/verify-read-model.ts';
import { openPool } from '#src/database/pool.ts';
import type { DocumentFault } from '#src/documents/check.ts';
import type { EventStore } from '#src/events/store.ts';
import {
  applicationStream,
  directoryStream,
  projectStream,
  recordStream,
  webhookStream,
} from '#src/events/streams.ts';
import type { AccessLogReport } from '#src/operations/access-log/check.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { withEventStore } from '../database.ts';
import { FAULTS_FOUND, Failure, MISUNDERSTOOD } from '../failure.ts';
import { type Progress, startProgress } from '../progress.ts';
import type { ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { counted } from '../table.ts';
import { comparedIn, purgesIn, withAccessCheck } from './access-check.ts';
import { openCheck } from './document-check.ts';
import { groupByCause } from './verify-causes.ts';
import { hintsFor } from './verify-hints.ts';
import { describeCauses, wrapped } from './verify-text.ts';

/** The command-line options. */
interface PartOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json: boolean;
  readonly project: string | undefined;
  readonly patient: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The read models whose rows name the record to which they belong. */
const MODELS = new Set(['resources', 'history', 'timeline', 'consents']);
/** The maximum number of faults that are listed. */
const NAMED = 1_000;

interface Found {
  readonly events: number;
  readonly streams: number;
  readonly log: readonly LogFault[];
  readonly documents: readonly DocumentFault[];
  readonly accessLog: AccessLogReport;
  readonly readModels: readonly ReadModelFault[];
  /** The number of documents that were checked. */
  readonly documentsRead: number;
}

/**
 * Verifies a project or patient and prints the result.
 * @returns the exit code: 3 if anything differs
 * @throws Failure for an unknown project or patient
 */
export async function verifyPartCommand(options: PartOptions): Promise<number> {
  const { json, signal, project, patient, ...where } = options;
  const found = await withDatabase(
    { ...where, ...(signal === undefined ? {} : { signal }) },
    async ({ url }) => {
      const pool = openPool(url, { max: 1, name: 'annal verify', answerMs: 0 });
      const part = await findPart(pool, project, patient).finally(() => pool.end());
      return withEventStore(url, (store) => verifyStreams(store, url, part, options));
    },
  );
  const { accessLog, documentsRead, ...rest } = found;
  const faults = { ...rest, accessLog: accessLog.faults };
  const causes = groupByCause(faults);
  const clean = causes.length === 0;
  const compared = comparedIn(accessLog, documentsRead, [...MODELS]);
  const read = `${counted(found.events, 'event')} in ${counted(found.streams, 'stream')}`;
  process.stdout.write(
    json
      ? `${JSON.stringify({ clean, ...faults, causes, compared }, null, 2)}\n`
      : clean
        ? `${wrapped(`${read}: the hash chains are intact, the rows of read models match them, and so do documents and access logs. docs/audit.md says what this leaves out.`).join('\n')}\n`
        : `${[`${read}: ${counted(causes.length, 'fault')}.`, '', ...describeCauses(causes), '', ...hintsFor(faults).flatMap((hint) => wrapped(hint))].join('\n')}\n`,
  );
  return clean ? 0 : FAULTS_FOUND;
}

/** @throws Failure for an unknown project or patient */
async function findPart(pool: Pool, project: string | undefined, patient: string | undefined): Promise<Part> {
  if (project !== undefined && patient !== undefined)
    throw new Failure('name either --project or --patient', MISUNDERSTOOD);
  if (patient !== undefined) {
    if (!isUuid(patient)) throw new Failure(`${patient} is not a valid patient id`, MISUNDERSTOOD);
    return { streams: [recordStream(patient)], records: [patient], tenants: [] };
  }
  const id = project ?? '';
  const known = await pool.query('select from projects.project p where p.id = $1', [id]);
  if (known.rowCount === 0) throw new Failure(`unknown project ${id}: no project has this id`);
  const environments = (['sandbox', 'production'] as const).map((environment) => ({
    project: id,
    environment,
  }));
  const tenants = environments.map(tenantId);
  // Index: resources.resource_by_id (tenant, type, id).
  const { rows: patients } = await pool.query<{ id: string }>(
    `select r.id from resources.resource r where r.tenant = any($1::uuid[]) and r.type = 'Patient'`,
    [tenants],
  );
  const { rows: own } = await pool.query<{ kind: string; id: string }>(
    `select 'application' as kind, a.id from projects.application a where a.project = $1
     union all select 'webhook', w.id from webhooks.endpoint w where w.project = $1`,
    [id],
  );
  return {
    streams: [
      projectStream(id),
      ...own.map((each) =>
        each.kind === 'application' ? applicationStream(each.id) : webhookStream(each.id),
      ),
      ...environments.map(directoryStream),
      ...patients.map((each) => recordStream(each.id)),
    ],
    records: patients.map((each) => each.id),
    tenants,
  };
}

async function verifyStreams(
  store: EventStore,
  databaseUrl: string,
  part: Part,
  { json, signal, ...where }: PartOptions,
): Promise<Found> {
  const progress = startProgress(part.streams.length, 'streams', json ? 'lines' : false);
  const session = await openSession(databaseUrl, { name: 'verify part', scratch: true });
  const { documentStore, check: documents } = await openCheck(store, where);
  try {
    const check = new LogCheck(session, store, NAMED);
    await check.begin();
    await readStreams(store, part, progress, signal, async (events) => {
      await documents.check(await check.check(events));
    });
    await check.checkIds();
    const readModels: ReadModelFault[] = [];
    for (const projection of PROJECTIONS.filter(({ name }) => MODELS.has(name))) {
      progress.say(projection.name);
      readModels.push(...(await verifyPart(store, session, projection, part, signal)));
    }
    progress.say('access log');
    const accessLog = await withAccessCheck(
      databaseUrl,
      async (access) => {
        await access.begin();
        return access.end(purgesIn(store));
      },
      new Set(part.records),
    );
    return {
      events: check.events,
      streams: await check.chains.streams(),
      log: check.faults,
      documents: await documents.end(),
      documentsRead: documents.documents,
      accessLog,
      readModels,
    };
  } catch (error) {
    if (signal?.aborted === true) throw new Failure('verification was interrupted', 1, 'interrupted');
    throw error;
  } finally {
    documentStore.close();
    await closeSession(session);
    progress.stop();
  }
}

async function readStreams(
  store: EventStore,
  { streams }: Part,
  progress: Progress,
  signal: AbortSignal | undefined,
  handle: (events: Parameters<LogCheck['check']>[0]) => Promise<void>,
): Promise<void> {
  for (const stream of streams) {
    signal?.throwIfAborted();
    for await (const batch of readInBatches(store, stream)) await handle(batch);
    progress.advance(1);
  }
}
