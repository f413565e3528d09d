/** Projects that receive webhooks under grants. The grants are given through the consent commands on a running service. */
import type { Environment } from '#src/shared/access/caller.ts';
import { type AdminUser, signIn } from './admin.ts';
import { byPerson, type ConsentInstance, grantBy, identityOf, openInstance } from './consent-commands.ts';
import type { InProcess } from './in-process.ts';
import { eventually } from './process.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** What came. */
export interface Told {
  /** `Service-Event-Id`. */
  readonly event: string;
  readonly type: string;
  readonly body: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A project with an endpoint. */
export interface Listening {
  readonly project: string;
  readonly key: string;
  readonly endpoint: string;
  /** Returns everything that the endpoint has received, in the order of the events. */
  told(): Told[];
  /** Waits for a number of events. */
  come(count: number): Promise<Told[]>;
}

/** An active grant. */
export interface Given {
  readonly grantId: string;
  readonly patient: string;
  revoke(): Promise<void>;
}

/** A receiver, and people with their grants. */
export class WebhookGrants {
  #people = 0;
  private constructor(
    readonly receiver: Receiver,
    readonly consents: ConsentInstance,
    readonly owner: AdminUser,
    readonly organization: string,
  ) {}

  /** Opens the receiver and everything else on a service. */
  static async open(service: Pick<InProcess, 'url' | 'pool' | 'databaseUrl'>): Promise<WebhookGrants> {
    const owner = await signIn(service, 'developer@example.org');
    const { id } = await owner.done('POST', '/organizations', { name: 'Apps' });
    return new WebhookGrants(await startReceiver(), await openInstance(service.databaseUrl), owner, id);
  }

  async close(): Promise<void> {
    await this.consents.close();
    await this.receiver.stop();
  }

  /** Creates a project whose endpoint receives events of the given types. */
  async listen(
    name: string,
    events = ['resource.created', 'resource.updated', 'resource.deleted', 'document.finalized'],
  ): Promise<Listening> {
    const { owner, receiver } = this;
    const { id: project } = await owner.done('POST', `/organizations/${this.organization}/projects`, {
      name,
    });
    const { key } = await owner.done('POST', `/projects/${project}/keys`, {
      name: 'k',
      environment: 'sandbox',
    });
    const path = `/${project}`;
    const { id: endpoint } = await owner.done('POST', `/projects/${project}/webhooks`, {
      url: receiver.url + path,
      events,
      environment: 'sandbox',
    });
    const told = (): Told[] => toldIn(receiver, path);
    return {
      project,
      key,
      endpoint,
      told,
      async come(count) {
        await eventually(async () => told().length >= count);
        return told();
      },
    };
  }

  /**
   * Registers an application.
   * @returns its id
   */
  async register(project: string, name: string): Promise<string> {
    const { id } = await this.owner.done('POST', `/projects/${project}/applications`, {
      name,
      kind: 'public',
      redirect_uris: ['https://diary.example/callback'],
      scopes: ['patient/*.cruds'],
    });
    return id;
  }

  /** Gives an application a grant on a record, from a different person each time. */
  async give(
    record: string,
    project: string,
    application: string,
    scopes: readonly string[],
    sector = application,
  ): Promise<Given> {
    this.#people += 1;
    const person = identityOf(`person-${this.#people}`);
    const by = byPerson(person);
    const environment: Environment = 'sandbox';
    const { consents } = this.consents;
    await consents.link(by, record, person, 'dependent', 'invitation');
    const { result } = await consents.grant(byPerson(person), {
      ...grantBy(person, record),
      application: { id: application, project, environment, sector },
      scopes,
    });
    const { grantId, patient } = result;
    return {
      grantId,
      patient,
      async revoke() {
        const grant = { grantId, record, applicationId: application, person };
        await consents.revoke(byPerson(person), grant, 'patient');
      },
    };
  }
}

function toldIn(receiver: Receiver, path: string): Told[] {
  const all = receiver.received.filter((one) => one.path === path);
  const events = new Map<string, Told & { readonly at: string }>();
  for (const { headers, body } of all) {
    const text = body.toString();
    const { type, created_at, data } = JSON.parse(text) as {
      type: string;
      created_at: string;
      data: Record<string, unknown>;
    };
    const event = String(headers['service-event-id']);
    const at = typeof data.last_updated === 'string' ? data.last_updated : created_at;
    events.set(event, { event, type, body: text, data, at });
  }
  return [...events.values()].sort((one, other) => (one.at < other.at ? -1 : 1));
}
