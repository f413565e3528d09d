/**
 * Assembles access requests: applications make and poll them, and a person approves or denies them (docs/spec/decisions.md,
 * section 7). A decision is made under a lock on the request, and recorded in the request's row. If a crash interrupts an
 * approval, the next call completes it: a poll by the application, another answer by the person, or the sweep. The ids of its
 * events are derived from the request.
 */

import type { Pool } from 'pg';
import type { CriteriaLocks, RequestContext } from '#commands/command.ts';
import type { Consents } from '#commands/consent/consents.ts';
import type { ConsentQueries } from '#queries/consents/consents.ts';
import type { Freshness } from '../freshness/freshness.ts';
import type { AccessRequestServices, BackchannelEndpoints } from '../http/ports/access-requests.ts';
import type { AuthorizeServices } from '../http/ports/authorize.ts';
import { type Approval, type Decided, RequestDecisions } from '../oauth/backchannel/decisions.ts';
import { BackchannelRequests } from '../oauth/backchannel/requests.ts';
import { openClients } from '../oauth/clients.ts';
import { readIdTokenHint } from '../oauth/id-token-hint.ts';
import { SigningKeys } from '../oauth/signing-keys.ts';
import { issueGrantTokens } from '../oauth/tokens/issue-tokens.ts';
import type { Identity } from '../shared/access/identity.ts';
import { IdSource, newRequestId } from '../shared/ids.ts';
import { notFound, Refusal } from '../shared/refusal.ts';
import { nowMicros } from '../shared/time/time.ts';

/** How long an approval is left to the HTTP request that is making it, in seconds. */
const UNDER_WAY_S = 10;

/** Opens both sides. */
export function openAccessRequests(parts: {
  readonly pool: Pool;
  /** BASE_URL. */
  readonly issuer: string;
  /** Lifetime of a refresh token, in days. */
  readonly refreshDays: number;
  readonly consents: Pick<Consents, 'grant'>;
  readonly queries: ConsentQueries;
  readonly authorize: Pick<AuthorizeServices, 'recordsFor'>;
  readonly locks: CriteriaLocks;
  /**
   * Waits until the given read models show everything that is in the log now.
   * @throws Refusal unavailable
   */
  readonly freshness: Pick<Freshness, 'catchUp'>;
}): {
  readonly endpoints: BackchannelEndpoints;
  readonly services: AccessRequestServices;
} {
  const { pool, issuer, refreshDays, queries, authorize, locks } = parts;
  const requests = new BackchannelRequests(pool);
  const decisions = new RequestDecisions(pool);
  const keys = new SigningKeys(pool);
  const findClient = openClients(pool);
  const alone = <T>(id: string, work: () => Promise<T>): Promise<T> =>
    locks.hold([`access-request/${id}`], work);
  const carryOut = (decided: Decided, requestId: string) => carriedOut(parts, decisions, decided, requestId);
  /** Completes an approval that was interrupted. Must be called while holding the lock. */
  const settled = async (id: string, requestId: string): Promise<Decided | undefined> => {
    const decided = await decisions.decided(id);
    if (decided?.outcome !== 'approved' || decided.grantId !== null) return decided;
    try {
      return { ...decided, grantId: await carryOut(decided, requestId) };
    } catch (error) {
      if (isRefusedGrant(error)) return undefined;
      throw error;
    }
  };
  const readRecords: AccessRequestServices['recordsOf'] = async (person, environment) => {
    const records = await queries.listRecords(person, environment, { deleted: true });
    const own = records.every(({ relationship }) => relationship === 'self');
    return { ids: records.map(({ id }) => id), own };
  };
  const endpoints: BackchannelEndpoints = {
    ask: (client, asked) => requests.create(client, asked),
    async readSubject(clientId, token) {
      const hint = await readIdTokenHint(keys, issuer, token);
      return hint?.clientId === clientId ? hint.subject : undefined;
    },
    async poll(authReqId, applicationId, requestId) {
      const polled = await requests.poll(authReqId, applicationId);
      if (polled?.status !== 'approved' || polled.grant_id !== null || polled.decidedFor < UNDER_WAY_S)
        return polled;
      const decided = await alone(polled.id, () => settled(polled.id, requestId));
      return decided === undefined
        ? { ...polled, status: 'pending' }
        : { ...polled, grant_id: decided.grantId };
    },
    async redeem(id, client, resources) {
      const redeemed = await requests.redeem(id, async (database, approved) => {
        const granted = approved.resources;
        if (granted.length > 0 && !resources.every((one) => granted.includes(one)))
          return { fault: 'resource' as const };
        const { grant_id: grantId, record, scope } = approved;
        const asked = {
          client,
          grantId,
          record,
          scope,
          resources: resources.length === 0 ? granted : resources,
        };
        return (await issueGrantTokens(database, asked, refreshDays)) ?? { fault: 'ended' as const };
      });
      return redeemed ?? { fault: 'used' };
    },
  };
  const services: AccessRequestServices = {
    recordsOf: readRecords,
    async find(person, id) {
      const environment = await queries.environmentOfRequest(id);
      if (environment === undefined) return undefined;
      const { ids } = await readRecords(person, environment);
      return queries.accessRequest({ person, email: verified(person), records: ids, environment }, id);
    },
    async offer(person, request) {
      const client = await findClient(request.client_id);
      if (client === undefined) return undefined;
      if (client.environment === 'production' && client.organization.domain === undefined) return undefined;
      return { client, records: await authorize.recordsFor(person, client, undefined) };
    },
    approve: (asked) =>
      alone(asked.id, async () => {
        const { id, person, record, grantedBy, days, lang, sentences, requestId } = asked;
        const scope = asked.scopes.join(' ');
        const approval: Approval = { person, record, grantedBy, days, scope, lang, sentences };
        const earlier = await settled(id, requestId);
        if (earlier !== undefined) {
          const isSame =
            asked.repeats && earlier.approval !== null && sameApproval(earlier.approval, approval);
          if (isSame && earlier.grantId !== null) return earlier.grantId;
          throw answered();
        }
        if (!(await decisions.claim(id, approval))) throw answered();
        const claimed = await decisions.decided(id);
        if (claimed === undefined) throw answered();
        return carryOut(claimed, requestId);
      }),
    deny: (id, person, requestId) =>
      alone(id, async () => {
        await settled(id, requestId);
        if (!(await decisions.deny(id, person))) throw answered();
      }),
    async mute(person, applicationId) {
      const { rows } = await pool.query({
        name: 'application-exists',
        text: 'select from projects.application a where a.id = $1 and a.deleted_at is null',
        values: [applicationId],
      });
      if (rows.length === 0) throw notFound('application', applicationId.slice(0, 64));
      await decisions.mute(person, applicationId);
    },
    unmute: (person, applicationId) => decisions.unmute(person, applicationId),
    async resume() {
      for (const id of await decisions.interrupted(UNDER_WAY_S))
        await alone(id, () => settled(id, newRequestId()));
    },
  };
  return { endpoints, services };
}

/** Returns the address, if the issuer has verified it. */
function verified({ email, emailVerified }: Identity): string | undefined {
  return emailVerified ? email : undefined;
}

/**
 * Writes the grant for a claimed request, and records it. Must be called while holding the lock. If the grant is refused, the
 * request becomes pending again.
 * @returns the grant's id
 */
async function carriedOut(
  { consents, freshness }: Pick<Parameters<typeof openAccessRequests>[0], 'consents' | 'freshness'>,
  decisions: RequestDecisions,
  { id, application, approval, createdMs }: Decided,
  requestId: string,
): Promise<string> {
  if (approval === null) throw new TypeError('a denied request has no grant');
  const { person, record, grantedBy, days, scope, lang, sentences } = approval;
  const by: RequestContext = {
    credential: { kind: 'id_token', ...person },
    requestId,
    // The ids are also derived from the record, because a refused approval may be followed by an approval for another record.
    ids: new IdSource(`access-request/${id}/${record}`, createdMs),
    now: nowMicros,
  };
  const asked = { record, person, application, scopes: scope.split(' '), purpose: null, days };
  try {
    const { result, wrote } = await consents.grant(by, { ...asked, grantedBy, lang, sentences });
    // If nothing was written now, the grant was written before a crash. Tokens are checked against the read model, so it must
    // show the grant.
    if (wrote === undefined) await freshness.catchUp(['consents']);
    await decisions.granted(id, result.grantId);
    return result.grantId;
  } catch (error) {
    if (isRefusedGrant(error)) await decisions.release(id);
    throw error;
  }
}

/**
 * Returns whether an error means that this grant can never be given, because the record has been deleted or doesn't belong to
 * the person any more.
 */
function isRefusedGrant(error: unknown): boolean {
  return error instanceof Refusal && ['not_found', 'conflict', 'invalid'].includes(error.kind);
}

function sameApproval(a: Approval, b: Approval): boolean {
  const key = ({ person, record, days, scope }: Approval): string =>
    JSON.stringify([person.issuer, person.subject, record, days, scope]);
  return key(a) === key(b);
}

function answered(): Refusal {
  return new Refusal('conflict', {
    code: 'conflict',
    diagnostics: 'the request was already answered, has expired, or was replaced by a newer one',
  });
}
