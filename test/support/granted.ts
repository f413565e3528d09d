/** Applications with tokens on a running service: grants on records, and tokens for the applications themselves. */
import type { Pool } from 'pg';
import { issueClientToken, issueGrantTokens } from '#src/oauth/tokens/issue-tokens.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import type { AdminUser } from './admin.ts';
import { type GrantData, grantData, granted, linked, revoked } from './consents.ts';
import { eventually } from './process.ts';
import { RecordEvents } from './record-events.ts';

/** A registered application. */
export interface Application {
  readonly applicationId: string;
  readonly project: string;
  readonly environment: Environment;
}

/** An application's access to a record. */
export interface Allowed {
  /** An access token. */
  readonly token: string;
  readonly application: Application;
  readonly data: GrantData;
  /** The real id of the Patient in the record, and the pairwise id. */
  readonly record: string;
  readonly patient: string;
}

/** Gives applications access to a service's records. */
export class Granting {
  private constructor(
    readonly pool: Pool,
    readonly events: RecordEvents,
  ) {}

  /** Opens the service's log. */
  static async open(service: { readonly pool: Pool; readonly databaseUrl: string }): Promise<Granting> {
    return new Granting(service.pool, await RecordEvents.open(service.databaseUrl));
  }

  close(): Promise<void> {
    return this.events.close();
  }

  /** Registers a confidential application in a project. */
  async register(
    owner: AdminUser,
    project: string,
    scopes = ['patient/*.rs', 'offline_access'],
  ): Promise<Application> {
    const { id } = await owner.done('POST', `/projects/${project}/applications`, {
      name: 'Hearty',
      kind: 'confidential',
      redirect_uris: ['https://app.example/callback'],
      scopes,
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    });
    return { applicationId: id, project, environment: 'sandbox' };
  }

  /** Issues an access token for the application itself. */
  async clientToken(
    application: Application,
    scope = 'system/*.cruds',
    resources: readonly string[] = [],
  ): Promise<string> {
    return (await issueClientToken(this.pool, application, scope, resources)).accessToken;
  }

  /**
   * Gives an application a grant on a record.
   * @param seconds until the grant ends
   */
  async allow(
    application: Application,
    record: string,
    {
      seconds = 90 * 86_400,
      scopes = ['patient/*.rs'],
      resources = [],
    }: { seconds?: number; scopes?: string[]; resources?: string[] } = {},
  ): Promise<Allowed> {
    const patient = newUuid();
    const data = grantData({
      application_id: application.applicationId,
      project_id: application.project,
      environment: application.environment,
      sector: application.applicationId,
      scopes,
      patient,
      expires_at: toInstant(nowMicros() + seconds * 1_000_000),
    });
    await this.events.append(record, linked(`mira-${patient}`), granted(data));
    await this.#shown('select from consents.grants where grant_id = $1', data.grant_id);
    const allowed = { application, data, record, patient };
    return { ...allowed, token: await this.tokenOf(allowed, scopes, resources) };
  }

  /** Issues another access token for a grant. */
  async tokenOf(
    { application, data, record }: Omit<Allowed, 'token'>,
    scopes: readonly string[] = data.scopes,
    resources: readonly string[] = [],
  ): Promise<string> {
    const issued = await issueGrantTokens(this.pool, {
      client: application,
      grantId: data.grant_id,
      record,
      scope: scopes.join(' '),
      resources,
    });
    if (issued === undefined) throw new Error('the grant is not active');
    return issued.accessToken;
  }

  /** Ends a grant, and waits until the read model shows it. */
  async revoke({ record, data }: Allowed): Promise<void> {
    await this.events.append(record, revoked(data));
    await this.#shown(
      'select from consents.grants where grant_id = $1 and ended_at is not null',
      data.grant_id,
    );
  }

  async #shown(sql: string, grantId: string): Promise<void> {
    await eventually(async () => (await this.pool.query(sql, [grantId])).rowCount === 1);
  }
}
