/**
 * The write side of the admin interface: one function a command. Whether the caller may is decided before, by their
 * role; what the thing's own state forbids is refused here.
 */
import type { Position } from '#src/events/store.ts';
import { applicationStream, organizationStream, projectStream } from '#src/events/streams.ts';
import type { Person, Role } from '#src/shared/member.ts';
import { Refusal, unavailable } from '#src/shared/refusal.ts';
import { Aggregate, type Circumstances } from './aggregate.ts';
import * as application from './application/decide.ts';
import { type NewApplication, registration } from './application/registration.ts';
import { APPLICATION, type Branding } from './application/state.ts';
import type { CriteriaLocks, Written } from './command.ts';
import type { Handler } from './handle.ts';
import * as organization from './organization/decide.ts';
import { ORGANIZATION, type Sso } from './organization/state.ts';
import * as project from './project/decide.ts';
import { type Founded, type Founding, foundFor } from './project/found.ts';
import { issueKey, type NewKey } from './project/key.ts';
import { PROJECT } from './project/state.ts';
import { secretOf } from './secret.ts';

/** What the commands work with. */
export interface AdminDeps {
  readonly handler: Handler;
  readonly locks: CriteriaLocks;
  /**
   * Which organization holds each of these e-mail domains now, by domain; those that none holds are absent.
   * @throws Refusal unavailable when the read model does not come to the log's head.
   */
  readonly domainHolders: (domains: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Waits until the read model `projects` shows a position; false when it takes too long. */
  readonly visible: (position: Position) => Promise<boolean>;
}

/** Every command. All throw `Refusal`: not_found for what is not there (any more). */
export interface AdminCommands {
  readonly createOrganization: (
    by: Circumstances,
    name: string,
    founder: Person,
  ) => Promise<Written<{ readonly id: string }>>;
  /** Adds a member or gives one another role. @throws Refusal conflict for the last owner. */
  readonly addMember: (
    by: Circumstances,
    organizationId: string,
    member: Person,
    role: Role,
  ) => Promise<Written<void>>;
  readonly removeMember: (
    by: Circumstances,
    organizationId: string,
    member: Person,
  ) => Promise<Written<void>>;
  /** @throws Refusal conflict when another organization holds one of the domains. */
  readonly configureSso: (by: Circumstances, organizationId: string, settings: Sso) => Promise<Written<void>>;
  /** @param domain of the caller's verified e-mail address. */
  readonly verifyOrganization: (
    by: Circumstances,
    organizationId: string,
    domain: string,
  ) => Promise<Written<void>>;
  readonly createProject: (
    by: Circumstances,
    organizationId: string,
    name: string,
  ) => Promise<Written<{ readonly id: string }>>;
  readonly deleteProject: (by: Circumstances, projectId: string) => Promise<Written<void>>;
  /** The key is shown this once. */
  readonly createKey: (
    by: Circumstances,
    projectId: string,
    key: NewKey,
  ) => Promise<Written<{ readonly id: string; readonly key: string }>>;
  readonly revokeKey: (by: Circumstances, projectId: string, keyId: string) => Promise<Written<void>>;
  /** A confidential application's secret is shown this once. */
  readonly registerApplication: (
    by: Circumstances,
    projectId: string,
    asked: NewApplication,
  ) => Promise<Written<{ readonly id: string; readonly secret: string | undefined }>>;
  readonly brandApplication: (
    by: Circumstances,
    applicationId: string,
    branding: Branding,
  ) => Promise<Written<void>>;
  readonly trustApplication: (
    by: Circumstances,
    applicationId: string,
    trusted: boolean,
  ) => Promise<Written<void>>;
  readonly deleteApplication: (by: Circumstances, applicationId: string) => Promise<Written<void>>;
  /** An organization, a project and a key in one. */
  readonly quickstart: (by: Circumstances, founding: Founding) => Promise<Founded>;
}

/** Opens them. */
export function openAdmin({ handler, locks, domainHolders, visible }: AdminDeps): AdminCommands {
  const organizations = new Aggregate(handler, ORGANIZATION);
  const projects = new Aggregate(handler, PROJECT);
  const applications = new Aggregate(handler, APPLICATION);
  const done = async (writing: Promise<Position | undefined>): Promise<Written<void>> => ({
    result: undefined,
    position: await writing,
  });
  const onOrganization = (by: Circumstances, id: string, decide: ReturnType<typeof organization.verify>) =>
    done(organizations.write(organizationStream(id), by, decide));
  const onProject = (by: Circumstances, id: string, decide: ReturnType<typeof project.remove>) =>
    done(projects.write(projectStream(id), by, decide));
  const onApplication = (by: Circumstances, id: string, decide: ReturnType<typeof application.remove>) =>
    done(applications.write(applicationStream(id), by, decide));
  return {
    async createOrganization(by, name, founder) {
      const id = by.ids.prefixed('org_');
      return { ...(await onOrganization(by, id, organization.create(id, name, founder))), result: { id } };
    },
    addMember: (by, id, member, role) => onOrganization(by, id, organization.addMember(id, member, role)),
    removeMember: (by, id, member) => onOrganization(by, id, organization.removeMember(id, member)),
    configureSso: (by, id, settings) =>
      locks.hold(
        settings.domains.map((domain) => `sso-domain ${domain}`),
        async () => {
          const holders = await domainHolders(settings.domains);
          refuseHeld(settings.domains, (domain) => (holders.get(domain) ?? id) !== id);
          const written = await onOrganization(by, id, organization.configureSso(id, settings));
          // The next to ask for one of the domains must see whose it is.
          if (written.position !== undefined && !(await visible(written.position)))
            throw unavailable('the settings are kept, but do not show yet; try again');
          return written;
        },
      ),
    verifyOrganization: (by, id, domain) => onOrganization(by, id, organization.verify(id, domain)),
    async createProject(by, organizationId, name) {
      const id = by.ids.prefixed('proj_');
      return { ...(await onProject(by, id, project.create(id, organizationId, name))), result: { id } };
    },
    deleteProject: (by, id) => onProject(by, id, project.remove(id)),
    async createKey(by, projectId, asked) {
      const id = by.ids.prefixed('key_');
      const { key, event } = issueKey(id, asked, await secretOf(by));
      return {
        ...(await onProject(by, projectId, project.createKey(projectId, event))),
        result: { id, key },
      };
    },
    revokeKey: (by, projectId, keyId) => onProject(by, projectId, project.revokeKey(projectId, keyId)),
    async registerApplication(by, projectId, asked) {
      const id = by.ids.prefixed('app_');
      const ids = { application: id, project: projectId, client: by.ids.prefixed('client_') };
      const confidential = asked.kind === 'confidential';
      const { data, secret } = registration(ids, asked, confidential ? await secretOf(by) : undefined);
      return { ...(await onApplication(by, id, application.register(data))), result: { id, secret } };
    },
    brandApplication: (by, id, branding) => onApplication(by, id, application.brand(id, branding)),
    trustApplication: (by, id, trusted) => onApplication(by, id, application.trust(id, trusted)),
    deleteApplication: (by, id) => onApplication(by, id, application.remove(id)),
    quickstart: (by, founding) => foundFor({ organizations, projects }, by, founding),
  };
}

/** @throws Refusal conflict naming every domain that another organization holds, and never whose it is. */
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
