/** An application with grants on another project's record, and requests from both sides. */
import type { Json } from '#src/shared/json/json.ts';
import { type AdminUser, signIn } from './admin.ts';
import { type Allowed, type Application, Granting } from './granted.ts';
import { type InProcess, type KeyedCall, startInProcess } from './in-process.ts';
import type { Answer } from './service.ts';
import { wholeLog } from './whole-log.ts';

/** R4's observation categories. */
export const OBSERVATION_CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';

/** A resource as tests create it. */
export type Resource = { resourceType: string } & Record<string, unknown>;

/** A service whose first project owns records, and an application in another project. */
export class GrantWriting {
  private constructor(
    readonly service: InProcess,
    readonly granting: Granting,
    readonly owner: AdminUser,
    readonly application: Application,
    /** A key for the application's own project. */
    readonly appKey: string,
    /** Real id of the Patient in the record. */
    readonly record: string,
  ) {}

  /**
   * Starts the service and registers the application.
   * @param settings environment variables for the service
   */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<GrantWriting> {
    const service = await startInProcess({}, settings);
    const granting = await Granting.open(service);
    const owner = await signIn(service, 'writer@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    const { key } = await owner.done('POST', `/projects/${id}/keys`, { name: 'own', environment: 'sandbox' });
    const application = await granting.register(owner, id, ['patient/*.cruds', 'offline_access']);
    const made = await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Sand' }] });
    return new GrantWriting(service, granting, owner, application, String(key), String(made.json.id));
  }

  async stop(): Promise<void> {
    await this.granting?.close();
    await this.service?.stop();
  }

  /** Gives the application a grant. */
  allow(scopes: string[], record = this.record): Promise<Allowed> {
    return this.granting.allow(this.application, record, { scopes });
  }

  /** Sends a request from the application. */
  ask(allowed: Allowed, path: string, call: KeyedCall = {}): Promise<Answer> {
    return this.service.fhir(path, { ...call, key: allowed.token });
  }

  /** Sends a body from the application; the body is written as JSON. */
  send(
    allowed: Allowed,
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    return this.ask(allowed, path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Creates a resource with the owner's key and returns its id. */
  async created(resource: Resource, key = this.service.key): Promise<string> {
    const made = await this.service.fhir(`/${resource.resourceType}`, {
      method: 'POST',
      key,
      body: JSON.stringify(resource),
    });
    if (made.status !== 201) throw new Error(`${made.status} ${made.text}`);
    return String(made.json.id);
  }

  /** Returns an Observation for a patient. */
  observation(patient: string, category?: string, rest: Record<string, unknown> = {}): Resource {
    return {
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '4548-4' }] },
      subject: { reference: `Patient/${patient}` },
      ...(category === undefined
        ? {}
        : { category: [{ coding: [{ system: OBSERVATION_CATEGORY, code: category }] }] }),
      ...rest,
    };
  }

  /** Returns the number of events in the log. */
  async events(): Promise<number> {
    return (await wholeLog(this.granting.events.store)).length;
  }

  /** Returns the metadata of a resource's newest event. */
  async metadataOf(id: string): Promise<Record<string, Json>> {
    const { rows } = await this.service.pool.query<{ metadata: string }>(
      'select metadata from history.version where id = $1 order by version desc limit 1',
      [id],
    );
    return JSON.parse(rows[0]?.metadata ?? '{}') as Record<string, Json>;
  }

  /** Returns the access log's entries for a request. */
  async logged(requestId: string): Promise<unknown[][]> {
    const { rows } = await this.service.pool.query<Record<string, unknown>>(
      'select action, resource_type, status, count from operations.access_entry where request_id = $1 order by seq',
      [requestId],
    );
    return rows.map(({ action, resource_type, status, count }) => [action, resource_type, status, count]);
  }
}

/** Returns a resource's content without the numbers that change with each write, and with one id replaced by another. */
export function contentOf(text: string, [from, to]: readonly [string, string] = ['', '']): unknown {
  const value = JSON.parse(from === '' ? text : text.replaceAll(from, to)) as Record<string, unknown>;
  const { id: _id, meta: _meta, ...rest } = value;
  return rest;
}
