/** Assembles the authorization endpoint: clients, pending requests, people's records, grants and codes. */

import type { Pool } from 'pg';
import type { Consents } from '#commands/consent/consents.ts';
import type { ConsentQueries } from '#queries/consents/consents.ts';
import type { Freshness } from '../freshness/freshness.ts';
import type { AskingClient, AuthorizeServices, OfferedRecord } from '../http/ports/authorize.ts';
import { PendingRequests } from '../oauth/authorization/pending.ts';
import { openClients } from '../oauth/clients.ts';
import { openPairwise } from '../oauth/pairwise.ts';
import { issueCode } from '../oauth/tokens/codes.ts';
import { installationKey } from '../operations/installation-key.ts';
import { isUuid } from '../shared/ids.ts';
import { unavailable } from '../shared/refusal.ts';

/** The maximum number of a person's active grants to one application that `prompt=none` checks. */
const MOST_GRANTS = 200;

/** Opens the parts. */
export async function openAuthorize(parts: {
  readonly pool: Pool;
  readonly consents: Pick<Consents, 'grant' | 'startPersonalRecord'>;
  readonly queries: ConsentQueries;
  readonly freshness: Pick<Freshness, 'require' | 'settle'>;
  readonly guests: AuthorizeServices['guests'];
}): Promise<AuthorizeServices> {
  const { pool, consents, queries, freshness, guests } = parts;
  const findClient = openClients(pool);
  const pairwise = openPairwise(await installationKey(pool, 'pairwise_key'));
  const inSector = (client: AskingClient) => ({
    project: client.project,
    environment: client.environment,
    sector: client.sector,
  });
  /** Returns the record for which a sector's application uses the given id, even before the first grant. */
  const recordNamed = async (
    client: AskingClient,
    patient: string,
    records: readonly { readonly id: string }[],
  ): Promise<string | undefined> => {
    if (!isUuid(patient)) return undefined;
    const sector = inSector(client);
    const { project, environment } = sector;
    // Ids in earlier grants remain valid, even if the key would now result in a different id.
    const { rows } = await queries.listGrants({ patient, project, environment, limit: 1 });
    const [earlier] = rows.filter((row) => row.sector === sector.sector);
    return earlier?.record ?? records.find(({ id }) => pairwise.patient(sector, id) === patient)?.id;
  };
  return {
    guests,
    pending: new PendingRequests(pool),
    async findClient(clientId) {
      freshness.require(['projects']);
      return findClient(clientId);
    },
    async recordsFor(person, client, patient) {
      freshness.require(['consents', 'resources', 'projects']);
      const { environment } = client;
      // Guests have no sandbox of their own, so people choose among their records in all projects.
      const project = client.guest === undefined ? client.project : undefined;
      const records = await queries.listRecords(person, environment, { project });
      const meant =
        patient === undefined ? undefined : await recordNamed(client, patient.toLowerCase(), records);
      return records.map((record): OfferedRecord => ({ ...record, isMeant: record.id === meant }));
    },
    async grantsTo(client, { issuer, subject }) {
      freshness.require(['consents']);
      const { rows } = await queries.listGrants({
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
      // The code and its tokens will be checked against the read model.
      if (wrote !== undefined && !(await freshness.settle(wrote.position, ['consents'])))
        throw unavailable('the grant was saved but is not active yet; retry in a moment');
      return result;
    },
    issueCode: (asked) => issueCode(pool, asked),
  };
}
