/** Puts the authorization endpoint together: clients, waiting requests, people's records, grants and codes. */
import type { Pool } from 'pg';
import type { Consents } from '#commands/consent/consents.ts';
import type { ConsentQueries } from '#queries/consents/consents.ts';
import type { Position } from '../events/store.ts';
import type { AskingClient, AuthorizeServices, OfferedRecord } from '../http/ports/authorize.ts';
import { PendingRequests } from '../oauth/authorization/pending.ts';
import { openClients } from '../oauth/clients.ts';
import { issueCode } from '../oauth/codes.ts';
import { openPairwise } from '../oauth/pairwise.ts';
import { installationKey } from '../operations/installation-key.ts';

/** Dependencies of the authorization endpoint. */
export interface AuthorizeParts {
  readonly pool: Pool;
  readonly consents: Pick<Consents, 'grant' | 'startPersonalRecord'>;
  readonly queries: ConsentQueries;
  /** Checks that these read models don't lag. @throws Refusal unavailable */
  readonly fresh: (models: readonly string[]) => void;
  /** Waits until every read of these read models shows a position. @throws Refusal unavailable */
  readonly settled: (position: Position, models: readonly string[]) => Promise<boolean>;
}

/** Most active grants of a person to one application that `prompt=none` looks at. */
const MOST_GRANTS = 200;

/** Opens the parts. */
export async function openAuthorize(parts: AuthorizeParts): Promise<AuthorizeServices> {
  const { pool, consents, queries, fresh, settled } = parts;
  const findClient = openClients(pool);
  const pairwise = openPairwise(await installationKey(pool, 'pairwise_key'));
  const inSector = (client: AskingClient) => ({
    project: client.project,
    environment: client.environment,
    sector: client.sector,
  });
  return {
    pending: new PendingRequests(pool),
    async findClient(clientId) {
      fresh(['projects']);
      return findClient(clientId);
    },
    async recordsFor(person, client) {
      fresh(['consents', 'resources', 'projects']);
      const { environment, project } = client;
      const records = await queries.recordsOf(person, environment, { project });
      const sector = inSector(client);
      const offered: OfferedRecord[] = [];
      for (const record of records) {
        const earlier = await queries.idsOfSector(sector, record.id, person);
        offered.push({ ...record, pairwise: earlier.patient ?? pairwise.patient(sector, record.id) });
      }
      const rank = ({ relationship }: OfferedRecord): number => (relationship === 'self' ? 0 : 1);
      return offered.sort((a, b) => rank(a) - rank(b));
    },
    async grantsTo(client, { issuer, subject }) {
      fresh(['consents']);
      const { rows } = await queries.grantsOf({
        application: client.applicationId,
        person: { issuer, subject },
        limit: MOST_GRANTS,
      });
      return rows
        .filter(({ status }) => status === 'active')
        .map(({ id, record, scopes }) => ({ grantId: id, record, scopes }));
    },
    async startRecord(by, person, environment, details) {
      const { result } = await consents.startPersonalRecord(by, person, environment, details);
      return result.patient;
    },
    async grant(by, asked) {
      const { result, wrote } = await consents.grant(by, asked);
      // The token that the code gives is checked against the read model.
      if (wrote !== undefined) await settled(wrote.position, ['consents']);
      return result;
    },
    issueCode: (asked) => issueCode(pool, asked),
  };
}
