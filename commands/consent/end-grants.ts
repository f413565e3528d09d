/**
 * Ends the grants of deleted applications and projects (docs/spec/decisions.md, section 9, "Grants"). Their tokens are refused
 * immediately; this process writes the events later, and a crash only delays the events. Every step can be repeated.
 */
import type { StoredEvent } from '#src/events/catalog.ts';
import type { Position } from '#src/events/store.ts';
import { IdSource } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { RequestContext } from '../command.ts';
import type { Consents, GrantRef } from './consents.ts';

/** The reason why the service ends a grant. */
export type EndReason = 'application_deleted' | 'platform';

/** Reads grants that no event has ended yet, in order of id, starting after a given id. */
type Open = (of: string, after: string) => Promise<readonly GrantRef[]>;

/** Dependencies. */
export interface EndGrantsDeps {
  readonly consents: Pick<Consents, 'revoke'>;
  readonly ofApplication: Open;
  /** The grants of a project's applications. */
  readonly ofProject: Open;
  /** The grants on a project's records. */
  readonly onRecordsOf: Open;
  /** Returns the reason why a grant must end: its application, the application's project or the record's owner was deleted. */
  readonly readEnd: (
    grantId: string,
  ) => Promise<{ readonly grant: GrantRef; readonly reason: EndReason } | undefined>;
  /**
   * Waits until read models reach a position.
   * @throws Refusal unavailable
   */
  readonly awaitModels: (position: Position, models: readonly string[]) => Promise<void>;
  readonly now: () => Micros;
}

/** The event types that this process handles. */
export const ENDING_TYPES = ['ApplicationDeleted', 'ProjectDeleted', 'ConsentGranted'] as const;

/**
 * Handles an event: ends all grants of the deleted application or project. A grant that is written just after the deletion is
 * ended when its own event is handled.
 * @throws Refusal unavailable while a read model lags
 */
export async function endGrants(deps: EndGrantsDeps, stored: StoredEvent): Promise<void> {
  const { event, position } = stored;
  switch (event.type) {
    case 'ApplicationDeleted':
      await deps.awaitModels(position, ['consents']);
      return endAll(deps, stored, deps.ofApplication, event.data.application_id, 'application_deleted');
    case 'ProjectDeleted':
      await deps.awaitModels(position, ['consents']);
      await endAll(deps, stored, deps.ofProject, event.data.project_id, 'application_deleted');
      return endAll(deps, stored, deps.onRecordsOf, event.data.project_id, 'platform');
    case 'ConsentGranted': {
      await deps.awaitModels(position, ['consents', 'projects']);
      const found = await deps.readEnd(event.data.grant_id);
      if (found !== undefined) await end(deps, stored, found.grant, found.reason);
      return;
    }
    default:
      throw new TypeError(`${event.type} ends no grants`);
  }
}

async function endAll(
  deps: EndGrantsDeps,
  stored: StoredEvent,
  open: Open,
  of: string,
  reason: EndReason,
): Promise<void> {
  for (let after = ''; ; ) {
    const page = await open(of, after);
    const last = page.at(-1);
    if (last === undefined) return;
    await Promise.all(page.map((grant) => end(deps, stored, grant, reason)));
    after = last.grantId;
  }
}

/** Ends a grant; grants on a purged record have already ended. */
async function end(
  { consents, now }: EndGrantsDeps,
  { id, metadata }: StoredEvent,
  grant: GrantRef,
  reason: EndReason,
): Promise<void> {
  const millis = Date.parse(metadata.recorded_at);
  // The seed is the same in a second run, so it issues the same command.
  const seed = new IdSource(id, millis).at(0, grant.grantId);
  const by: RequestContext = {
    credential: { kind: 'system' },
    requestId: metadata.request_id,
    ids: new IdSource(seed, millis),
    now,
  };
  try {
    await consents.revoke(by, grant, reason);
  } catch (error) {
    if (!(error instanceof Refusal && error.kind === 'not_found')) throw error;
  }
}
