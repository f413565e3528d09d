/** Opens a patient's record for a member of the patient's project. */
import { type Caller, type Environment, ownCaller, requireFilled } from '#src/shared/access/caller.ts';
import { type Role, suffices, TO_READ } from '#src/shared/access/member.ts';
import { notFound } from '#src/shared/refusal.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';
import type { ApiRequest } from '../../api/route.ts';
import { environment } from '../../api/schemas.ts';
import { moveTo } from '../../as-of.ts';
import { type AdminRequest, projectFor } from '../access.ts';
import { requireOpen } from '../record-reads.ts';

/** The read models from which a record is shown. */
export const RECORD_MODELS = ['projects', 'resources', 'history', 'timeline'];

/** A record that a member may read. */
export interface OpenedRecord {
  /** The id of the record's Patient. */
  readonly record: string;
  readonly environment: Environment;
  /** The caller on whose behalf the record is read, as of the requested time. */
  readonly caller: Caller;
  /** Undefined: now. */
  readonly asOf: Micros | undefined;
}

type Asked = ApiRequest<string, 'identity'> & {
  readonly params: { readonly project_id: string; readonly patient_id: string };
};

/**
 * Opens a record.
 * @param asOf already validated
 * @throws Refusal not_found (404), unauthenticated (401), malformed (400) if production is read without a reason, unavailable
 *   (503) while the sandbox is being filled
 */
export async function openRecord(request: Asked, asOf?: string): Promise<OpenedRecord> {
  const { params, identity, services } = request;
  const { id: project, role, filling } = await projectFor(request, params.project_id, 'member');
  const record = params.patient_id.toLowerCase();
  await services.freshness.catchUp(RECORD_MODELS);
  const found = await findEnvironment(request, project, role, record);
  if (found === undefined) throw notFound('Patient', params.patient_id.slice(0, 60));
  request.concerns(project, found);
  requireOpen(request, found);
  const { issuer, subject } = identity;
  const tenant = { project, environment: found };
  const caller = ownCaller(tenant, { kind: 'member', issuer, subject }, ['read'], filling);
  requireFilled(caller.sees);
  const opened = { record, environment: found };
  if (asOf === undefined) return { ...opened, caller, asOf: undefined };
  return { ...opened, caller: await moveTo(caller, asOf), asOf: toMicros(asOf) };
}

/**
 * Returns the environment of the project that contains a patient's record; undefined if no environment that the role may read
 * contains it.
 */
export async function findEnvironment(
  { services }: Pick<AdminRequest, 'services'>,
  project: string,
  role: Role,
  patient: string,
): Promise<Environment | undefined> {
  for (const each of environment.options) {
    if (!suffices(role, TO_READ[each])) continue;
    if (await services.adminQueries.hasRecord([{ project, environment: each }], patient)) return each;
  }
  return undefined;
}
