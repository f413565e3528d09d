/** Applications that make proposals, and people who decide on them, on a running service. */
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import { recordStream } from '#src/events/streams.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { type AdminUser, signIn } from './admin.ts';
import { grantData, granted } from './consents.ts';
import { type Allowed, type Application, Granting } from './granted.ts';
import type { InProcess } from './in-process.ts';
import { identityOf, linkOf, type MyAnswer, newPatient } from './me.ts';
import { eventually } from './process.ts';
import { Answer } from './service.ts';

/** The scopes that tests use to make proposals. */
export const PROPOSER = ['patient/Condition.cru', 'patient/Observation.cru'];

/** A person's record for which an application may propose changes. */
export interface Shared {
  /** The Patient's real id, and the pairwise id. */
  readonly record: string;
  readonly patient: string;
  /** The person's e-mail address; the record is the person's own. */
  readonly email: string;
  readonly linkId: string;
  readonly allowed: Allowed;
}

/** A proposal as a response shows it. */
export interface Shown {
  readonly id: string;
  readonly status: string;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

/** Everything that proposal tests need from a service. */
export class Proposing {
  #people = 0;
  private constructor(
    readonly service: InProcess,
    readonly granting: Granting,
    readonly owner: AdminUser,
    readonly organization: string,
  ) {}

  /** Opens it. */
  static async open(service: InProcess): Promise<Proposing> {
    const owner = await signIn(service, 'developer@example.org');
    const { id } = await owner.done('POST', '/organizations', { name: 'Hearty Labs' });
    return new Proposing(service, await Granting.open(service), owner, id);
  }

  close(): Promise<void> {
    return this.granting.close();
  }

  /** Registers an application in a project of its own. */
  async application(): Promise<Application> {
    const { id } = await this.owner.done('POST', `/organizations/${this.organization}/projects`, {
      name: 'App',
    });
    return this.granting.register(this.owner, id);
  }

  /** Creates a record, links a person to it and gives an application access to it. */
  async share(
    application: Application,
    { scopes = PROPOSER, seconds = 90 * 86_400 }: { scopes?: string[]; seconds?: number } = {},
  ): Promise<Shared> {
    this.#people += 1;
    const email = `mira-${this.#people}@example.org`;
    const record = await newPatient(this.service);
    const linkId = `link_${record}`;
    await this.granting.events.append(record, linkOf(this.service, email, 'self', linkId));
    const allowed = await this.allow(application, record, email, { scopes, seconds });
    return { record, patient: allowed.patient, email, linkId, allowed };
  }

  /** Gives an application access to a record under a person's grant. */
  async allow(
    application: Application,
    record: string,
    email: string,
    { scopes = PROPOSER, seconds = 90 * 86_400 }: { scopes?: string[]; seconds?: number } = {},
  ): Promise<Allowed> {
    const data = grantData({
      application_id: application.applicationId,
      project_id: application.project,
      environment: application.environment,
      sector: application.applicationId,
      scopes,
      person: identityOf(this.service, email),
      expires_at: toInstant(nowMicros() + seconds * 1_000_000),
    });
    await this.granting.events.append(record, granted(data));
    const shown = 'select from consents.grants where grant_id = $1';
    await eventually(async () => (await this.service.pool.query(shown, [data.grant_id])).rowCount === 1);
    const rest = { application, data, record, patient: data.patient };
    return { ...rest, token: await this.granting.tokenOf(rest, scopes) };
  }

  /**
   * Sends an application's request to `/v1/patients/{patient}/proposals`.
   * @param url the URL of an instance
   */
  async app(
    { patient, token }: Pick<Allowed, 'patient' | 'token'>,
    path = '',
    method = 'GET',
    body?: object,
    {
      headers = {},
      url = this.service.url,
    }: { headers?: Readonly<Record<string, string>>; url?: string } = {},
  ): Promise<Answer> {
    const response = await fetch(`${url}/v1/patients/${patient}/proposals${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return new Answer(response.status, response.headers, await response.text());
  }

  /**
   * Proposes a new Condition.
   * @throws Error if the proposal is refused
   */
  async condition({ allowed }: Pick<Shared, 'allowed'>, text = 'Asthma', rest: object = {}): Promise<Shown> {
    const resource = conditionOf(allowed.patient, text);
    return this.proposed(allowed, { operation: 'create', resource, author_type: 'ai', ...rest });
  }

  /**
   * Makes a proposal.
   * @throws Error if the proposal is refused
   */
  async proposed(allowed: Allowed, body: object): Promise<Shown> {
    const answer = await this.app(allowed, '', 'POST', body);
    if (answer.status !== 201) throw new Error(`POST …/proposals: ${answer}`);
    return JSON.parse(answer.text) as Shown;
  }

  /**
   * Sends a request from the person.
   * @param url the URL of an instance
   */
  async person(
    { email, record }: Pick<Shared, 'email' | 'record'>,
    path = '',
    method = 'GET',
    body?: object,
    {
      headers = {},
      url = this.service.url,
    }: { headers?: Readonly<Record<string, string>>; url?: string } = {},
  ): Promise<MyAnswer> {
    const { pool } = this.service;
    const token = await new DevIssuer(pool, devIssuerUrl(this.service.url)).idToken(findPerson(email));
    const response = await fetch(`${url}/me/patients/${record}/proposals${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: JSON.parse(await response.text()) };
  }

  /**
   * Sends a request from the person below `/me/patients/{patient}`.
   * @returns the status
   */
  async sendMe(
    { email, record }: Pick<Shared, 'email' | 'record'>,
    path: string,
    method: string,
    url = this.service.url,
  ): Promise<number> {
    const token = await new DevIssuer(this.service.pool, devIssuerUrl(this.service.url)).idToken(
      findPerson(email),
    );
    const { status } = await fetch(`${url}/me/patients/${record}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}` },
    });
    return status;
  }

  /**
   * Accepts or rejects a proposal.
   * @param url the URL of an instance
   */
  decide(
    shared: Pick<Shared, 'email' | 'record'>,
    id: string,
    how: 'accept' | 'reject',
    body = {},
    url = this.service.url,
  ): Promise<MyAnswer> {
    return this.person(shared, `/${id}/${how}`, 'POST', body, { url });
  }

  /** Reads the record's events, oldest first. */
  async events(record: string): Promise<StoredEvent[]> {
    const found: StoredEvent[] = [];
    for await (const recorded of this.granting.events.store.read(recordStream(record)))
      found.push(understand(recorded));
    return found;
  }
}

/** Returns a Condition for a patient. */
export const conditionOf = (patient: string, text: string, rest: object = {}) => ({
  resourceType: 'Condition',
  subject: { reference: `Patient/${patient}` },
  code: { text },
  ...rest,
});
