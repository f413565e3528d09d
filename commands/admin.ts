/**
 * The write side of the admin interface: one function per command. The interface checks roles before it calls a command;
 * commands refuse whatever the current state doesn't allow.
 */
import { BY_OPERATOR } from '#src/events/metadata.ts';
import type { Position } from '#src/events/store.ts';
import { applicationStream, organizationStream, projectStream } from '#src/events/streams.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Person, Role } from '#src/shared/access/member.ts';
import { Refusal, unavailable } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import * as application from './application/decide.ts';
import { clientSecret, hasSecret, type NewApplication, registration } from './application/registration.ts';
import {
  APPLICATION,
  type ApplicationSettings,
  type ApplicationState,
  type Branding,
} from './application/state.ts';
import type { CriteriaLocks, Done, RequestContext, Wrote } from './command.ts';
import type { Decide } from './kernel/decision.ts';
import type { Kernel } from './kernel/kernel.ts';
import { Streams } from './kernel/streams.ts';
import * as organization from './organization/decide.ts';
import * as invitations from './organization/invitations.ts';
import { ORGANIZATION, type OrganizationState, type Sso } from './organization/state.ts';
import * as project from './project/decide.ts';
import { type Founded, type Founding, foundFor } from './project/found.ts';
import { issueKey, type NewKey } from './project/key.ts';
import {
  answerRequest,
  type ProductionAccess,
  type ProductionRule,
  requestProduction,
  requireAccess,
  withdrawProduction,
} from './project/production.ts';
import { PROJECT, type ProjectState } from './project/state.ts';
import type { SandboxQueue } from './sandbox/queue.ts';
import { provisioningRequested } from './sandbox/request.ts';
import { drawSecret } from './secret.ts';

/** The commands. All throw `Refusal`, for example not_found for a missing object. */
export interface AdminCommands {
  readonly createOrganization: (
    by: RequestContext,
    name: string,
    founder: Person,
  ) => Promise<Done<{ readonly id: string }>>;
  /**
   * Adds a member or changes their role.
   * @throws Refusal conflict for the last owner
   */
  readonly addMember: (
    by: RequestContext,
    organizationId: string,
    member: Person,
    role: Role,
  ) => Promise<Done>;
  /**
   * Invites an e-mail address, in lower case.
   * @throws Refusal conflict if too many invitations are pending
   */
  readonly inviteMember: (
    by: RequestContext,
    organizationId: string,
    asked: Pick<invitations.NewInvitation, 'email' | 'role' | 'by'>,
  ) => Promise<Done<{ readonly id: string; readonly until: Micros }>>;
  readonly withdrawInvitation: (by: RequestContext, organizationId: string, id: string) => Promise<Done>;
  /** @throws Refusal not_found if the invitation isn't for the address or has ended; conflict if the person is a member */
  readonly acceptInvitation: (
    by: RequestContext,
    organizationId: string,
    asked: { readonly id: string; readonly person: Person; readonly email: string },
  ) => Promise<Done>;
  readonly removeMember: (by: RequestContext, organizationId: string, member: Person) => Promise<Done>;
  /**
   * Changes the SSO settings.
   * @throws Refusal conflict if another organization has one of the domains; forbidden for changes that the domain claim
   *   doesn't
   * allow
   */
  readonly configureSso: (
    by: RequestContext,
    organizationId: string,
    settings: Sso,
    claim: organization.SsoClaim,
  ) => Promise<Done>;
  /**
   * Confirms the domain of the caller's verified e-mail address.
   * @throws Refusal invalid for a domain of a public mail provider; forbidden if single sign-on is set up with other domains
   */
  readonly confirmDomain: (by: RequestContext, organizationId: string, domain: string) => Promise<Done>;
  /** @throws Refusal throttled while too many sandboxes of the caller or of the organization are waiting to be filled */
  readonly createProject: (
    by: RequestContext,
    organizationId: string,
    name: string,
  ) => Promise<Done<{ readonly id: string }>>;
  readonly deleteProject: (by: RequestContext, projectId: string) => Promise<Done>;
  /**
   * Asks the operator for production access.
   * @throws Refusal conflict if it isn't needed, or while a request is pending
   */
  readonly requestProduction: (
    by: RequestContext,
    projectId: string,
    use: string,
  ) => Promise<Done<{ readonly id: string }>>;
  /**
   * Answers a request for production access, as the operator.
   * @throws Refusal conflict if it has already been answered
   */
  readonly answerProduction: (
    by: RequestContext,
    projectId: string,
    requestId: string,
    answer: { readonly allow: boolean; readonly reason?: string | undefined },
  ) => Promise<Done>;
  /**
   * Withdraws production access, as the operator: existing keys and applications remain.
   * @throws Refusal not_found
   */
  readonly withdrawProduction: (by: RequestContext, projectId: string) => Promise<Done>;
  /**
   * Creates a key. The key is shown only in this response.
   * @throws Refusal forbidden for a production key that an operator must allow first
   */
  readonly createKey: (
    by: RequestContext,
    projectId: string,
    key: NewKey,
  ) => Promise<Done<{ readonly id: string; readonly key: string }>>;
  /** Revokes a key; does nothing if it is already revoked. */
  readonly revokeKey: (by: RequestContext, projectId: string, keyId: string) => Promise<Done>;
  /**
   * Checks that a project may use tokens for an environment.
   * @throws Refusal not_found; forbidden as for a key
   */
  readonly requireEnvironment: (projectId: string, environment: Environment) => Promise<void>;
  /**
   * Registers an application. A confidential application's secret is shown only in this response.
   * @throws Refusal forbidden as for a key
   */
  readonly registerApplication: (
    by: RequestContext,
    projectId: string,
    asked: NewApplication,
  ) => Promise<Done<{ readonly id: string; readonly clientId: string; readonly secret: string | undefined }>>;
  /**
   * Gives an application a new secret, which is shown only in this response; the previous secret keeps working for the
   * overlap, in microseconds.
   * @throws Refusal conflict for an application without a secret
   */
  readonly rotateSecret: (
    by: RequestContext,
    applicationId: string,
    overlap: Micros,
  ) => Promise<Done<{ readonly secret: string; readonly previousUntil: string | undefined }>>;
  /**
   * Changes an application's settings. Registering keys invalidates its secrets.
   * @returns the settings after the change
   */
  readonly changeApplication: (
    by: RequestContext,
    applicationId: string,
    asked: application.Change,
  ) => Promise<Done<ApplicationSettings>>;
  readonly brandApplication: (by: RequestContext, applicationId: string, branding: Branding) => Promise<Done>;
  /** Marks an application as trusted or no longer trusted, as the operator. */
  readonly trustApplication: (by: RequestContext, applicationId: string, trusted: boolean) => Promise<Done>;
  readonly deleteApplication: (by: RequestContext, applicationId: string) => Promise<Done>;
  /**
   * Creates an organization, a project and a key in one command.
   * @throws Refusal throttled as for a project
   */
  readonly quickstart: (by: RequestContext, founding: Founding) => Promise<Founded>;
}

/** Prefixes of the client ids of an environment's applications (docs/spec/decisions.md, section 9). */
const CLIENT_PREFIX = { sandbox: 'client_test_', production: 'client_live_' } as const;

/** Opens them. */
export function openAdmin({
  kernel,
  locks,
  sandboxPatients,
  productionAccess: access,
  newestApplication,
  queue,
  domainHolders,
  waitFor,
}: {
  readonly kernel: Kernel;
  readonly locks: CriteriaLocks;
  /** Number of synthetic patients in a new project's sandbox, 0 to 30. */
  readonly sandboxPatients: number;
  /** The projects that get production keys and applications. */
  readonly productionAccess: ProductionAccess;
  /**
   * Returns when a project's newest production application was registered, including deleted applications.
   * @throws Refusal unavailable if the read model doesn't reach the log's head
   */
  readonly newestApplication: (projectId: string) => Promise<Micros | undefined>;
  /** The queue in which sandboxes wait to be filled. */
  readonly queue: SandboxQueue;
  /**
   * Returns, for each e-mail domain, the organization that currently holds it; domains that no organization holds are absent.
   * @throws Refusal unavailable if the read model doesn't reach the log's head
   */
  readonly domainHolders: (domains: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Waits until the read model `projects` reaches a position; returns false if that takes too long. */
  readonly waitFor: (position: Position) => Promise<boolean>;
}): AdminCommands {
  const organizations = new Streams(kernel, ORGANIZATION);
  const projects = new Streams(kernel, PROJECT);
  const applications = new Streams(kernel, APPLICATION);
  const onOrganization = (by: RequestContext, id: string, decide: Decide<OrganizationState>) =>
    done(organizations.transact(organizationStream(id), by, decide));
  const onProject = (by: RequestContext, id: string, decide: Decide<ProjectState>) =>
    done(projects.transact(projectStream(id), by, decide));
  const onApplication = (by: RequestContext, id: string, decide: Decide<ApplicationState>) =>
    done(applications.transact(applicationStream(id), by, decide));
  /**
   * Runs work on a project, one task at a time. Closing a project and registering an application in it append to two different
   * streams, so without this lock neither would notice the other.
   */
  const inTurn = (id: string, work: () => Promise<Done>) => locks.hold([`project-applications ${id}`], work);
  /**
   * Returns the production rule for a project. Doesn't read the project's applications if its own events are enough to decide.
   */
  async function ruleFor(id: string, environment: Environment = 'production'): Promise<ProductionRule> {
    if (access === 'open' || environment === 'sandbox') return { access };
    const { state } = await projects.read(projectStream(id));
    return state.production ? { access } : { access, newestApplication: await newestApplication(id) };
  }
  return {
    async createOrganization(by, name, founder) {
      const id = by.ids.prefixed('org_');
      return { ...(await onOrganization(by, id, organization.create(id, name, founder))), result: { id } };
    },
    addMember: (by, id, member, role) => onOrganization(by, id, organization.addMember(id, member, role)),
    async inviteMember(by, organizationId, asked) {
      const id = by.ids.prefixed('minv_');
      const now = by.now();
      const decide = invitations.invite(organizationId, { ...asked, id, now });
      const until = now + invitations.INVITATION_LIFE;
      return { ...(await onOrganization(by, organizationId, decide)), result: { id, until } };
    },
    withdrawInvitation: (by, id, invitation) => onOrganization(by, id, invitations.withdraw(invitation)),
    acceptInvitation: (by, organizationId, { id, person, email }) =>
      onOrganization(by, organizationId, invitations.accept(id, person, email, by.now())),
    removeMember: (by, id, member) => onOrganization(by, id, organization.removeMember(id, member)),
    configureSso: (by, id, settings, claim) =>
      locks.hold(
        settings.domains.map((domain) => `sso-domain ${domain}`),
        async () => {
          const holders = await domainHolders(settings.domains);
          refuseHeld(settings.domains, (domain) => (holders.get(domain) ?? id) !== id);
          const configured = await onOrganization(by, id, organization.configureSso(id, settings, claim));
          // The next request for one of the domains must already see its owner.
          if (configured.wrote !== undefined && !(await waitFor(configured.wrote.position)))
            throw unavailable(
              "the settings were saved but aren't active on every instance yet; retry in a second",
            );
          return configured;
        },
      ),
    confirmDomain: (by, id, domain) => onOrganization(by, id, organization.confirmDomain(id, domain)),
    async createProject(by, organizationId, name) {
      const id = by.ids.prefixed('proj_');
      const filling = provisioningRequested({ ...by, patients: sandboxPatients });
      const create = () => onProject(by, id, project.create(id, organizationId, name, filling));
      const created = await (filling.length === 0
        ? create()
        : queue(by, organizationId, create, ({ wrote }) => wrote?.position));
      return { ...created, result: { id } };
    },
    deleteProject: (by, id) => inTurn(id, () => onProject(by, id, project.remove(id))),
    async requestProduction(by, projectId, use) {
      const id = by.ids.prefixed('preq_');
      const rule = await ruleFor(projectId);
      return {
        ...(await onProject(by, projectId, requestProduction(projectId, id, use, rule))),
        result: { id },
      };
    },
    answerProduction: (by, projectId, requestId, answer) =>
      onProject(by, projectId, answerRequest(projectId, requestId, answer)),
    withdrawProduction: (by, projectId) =>
      inTurn(projectId, async () => {
        const newest = await newestApplication(projectId);
        // The withdrawal must be later than the newest application, because an application registered after the withdrawal
        // would count.
        const now = () => Math.max(by.now(), (newest ?? 0) + 1);
        return onProject({ ...by, now }, projectId, withdrawProduction(projectId, newest));
      }),
    async createKey(by, projectId, asked) {
      const id = by.ids.prefixed('key_');
      const { key, event } = issueKey(id, asked, await drawSecret(by));
      const rule = await ruleFor(projectId, asked.environment);
      const made = await onProject(by, projectId, project.createKey(projectId, event, rule));
      return { ...made, result: { id, key } };
    },
    revokeKey: (by, projectId, keyId) => onProject(by, projectId, project.revokeKey(projectId, keyId)),
    async requireEnvironment(id, environment) {
      const rule = await ruleFor(id, environment);
      const { state } = await projects.read(projectStream(id));
      requireAccess(state, id, { ...rule, what: 'tokens', environment });
    },
    async registerApplication(by, projectId, asked) {
      const id = by.ids.prefixed('app_');
      const clientId = by.ids.prefixed(CLIENT_PREFIX[asked.environment]);
      const random = hasSecret(asked) ? await drawSecret(by) : undefined;
      const ids = { application: id, project: projectId, client: clientId };
      const { data, secret } = registration(ids, asked, random);
      const made = await inTurn(projectId, async () => {
        const rule = await ruleFor(projectId, asked.environment);
        const { state } = await projects.read(projectStream(projectId));
        return onApplication(by, id, application.register(data, state, rule));
      });
      // An earlier attempt, by an older version of the service, may have given the application a different client id.
      const { state } = await applications.read(applicationStream(id));
      return { ...made, result: { id, clientId: state.clientId ?? clientId, secret } };
    },
    async rotateSecret(by, id, overlap) {
      const { secret, sha256 } = clientSecret(await drawSecret(by));
      const rotated = await onApplication(
        by,
        id,
        application.rotateSecret(id, sha256, { overlap, now: by.now() }),
      );
      // In a repeated attempt, this is the time that the first attempt set.
      const { state } = await applications.read(applicationStream(id));
      const { secrets } = state;
      const previousUntil = secrets?.sha256 === sha256 ? secrets.previous?.until : undefined;
      return { ...rotated, result: { secret, previousUntil } };
    },
    async changeApplication(by, id, asked) {
      const changed = await onApplication(by, id, application.change(id, asked));
      const { state } = await applications.read(applicationStream(id));
      return { ...changed, result: state.settings };
    },
    brandApplication: (by, id, branding) => onApplication(by, id, application.brand(id, branding)),
    trustApplication: (by, id, trusted) =>
      onApplication({ ...by, cause: BY_OPERATOR }, id, application.trust(id, trusted)),
    deleteApplication: (by, id) => onApplication(by, id, application.remove(id)),
    quickstart(by, founding) {
      const found = () => foundFor({ organizations, projects }, by, { ...founding, sandboxPatients });
      return sandboxPatients === 0 ? found() : queue(by, undefined, found, ({ position }) => position);
    },
  };
}

async function done(writing: Promise<Wrote | undefined>): Promise<Done> {
  return { result: undefined, wrote: await writing };
}

/**
 * Refuses domains that belong to other organizations.
 * @throws Refusal conflict naming every such domain, but not its organization
 */
function refuseHeld(domains: readonly string[], isHeld: (domain: string) => boolean): void {
  const held = domains.flatMap((domain, index) =>
    isHeld(domain)
      ? [
          {
            code: 'duplicate' as const,
            diagnostics: `${domain} belongs to another organization`,
            expression: `domains.${index}`,
          },
        ]
      : [],
  );
  if (held.length > 0) throw new Refusal('conflict', held);
}
