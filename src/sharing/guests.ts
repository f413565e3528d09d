/**
 * Admits guests: reads a client's own metadata document when the client sends a signed-in person here, and registers what the
 * document states (draft-ietf-oauth-client-id-metadata-document; docs/spec/decisions.md, section 9, "Guests").
 */
import type { Pool } from 'pg';
import { type GuestCommands, guestApplicationId } from '#commands/application/guests.ts';
import type { RequestContext } from '#commands/command.ts';
import type { Freshness } from '../freshness/freshness.ts';
import type { AskingClient } from '../http/ports/authorize.ts';
import { fetchDocument, IssuerAway } from '../identity/fetch-json.ts';
import { PageFault } from '../oauth/authorization/faults.ts';
import { openClients } from '../oauth/clients.ts';
import { faultOfClientUrl, type GuestPolicy, isLocal } from '../oauth/guests/client-url.ts';
import { freshSeconds, GuestDocuments, MOST_OF_DOMAIN } from '../oauth/guests/documents.ts';
import { DocumentFault, readClientDocument } from '../oauth/guests/metadata-document.ts';
import type { Environment } from '../shared/access/caller.ts';
import { GUESTS } from '../shared/access/guests.ts';
import { customerHosts, type Resolve } from '../shared/customer-hosts.ts';
import { IdSource, newId, newUuid } from '../shared/ids.ts';
import { unavailable } from '../shared/refusal.ts';
import { nowMicros } from '../shared/time/time.ts';

/** The maximum size of a document, in bytes. */
const MOST_BYTES = 64 * 1024;

/** An installation's guests. */
export interface Guests {
  /**
   * Returns the client at a URL, as its document currently describes it.
   * @throws PageFault if the client can't be admitted
   */
  readonly admit: (clientId: string) => Promise<AskingClient>;
  /**
   * Checks a URL without fetching it.
   * @throws PageFault
   */
  readonly check: (clientId: string) => Promise<void>;
  /** Deletes guests that haven't been used for 90 days. */
  readonly sweep: () => Promise<void>;
}

/** Opens them. */
export function openGuests({
  pool,
  commands,
  policy,
  environment,
  freshness,
  resolve,
}: {
  readonly pool: Pool;
  readonly commands: GuestCommands;
  readonly policy: GuestPolicy;
  /** The environment whose records guests can reach. */
  readonly environment: Environment;
  readonly freshness: Pick<Freshness, 'require' | 'settle'>;
  /** Looks up hosts; by default, at the system's name servers. */
  readonly resolve?: Resolve;
}): Guests {
  const findClient = openClients(pool);
  const documents = new GuestDocuments(pool);
  const [open, guarded] = [customerHosts(false, resolve), customerHosts(true, resolve)];

  const check = async (clientId: string): Promise<void> => {
    const fault = faultOfClientUrl(clientId, policy);
    if (fault !== undefined) throw guestFault(`client_id ${fault}`);
    freshness.require(['projects']);
    if (await documents.isBlocked(new URL(clientId).hostname))
      throw guestFault('the operator of this service has blocked the host of client_id');
  };

  const fetchNow = async (clientId: string) => {
    try {
      const hosts = isLocal(new URL(clientId)) ? open : guarded;
      const { value, headers } = await fetchDocument(clientId, hosts, MOST_BYTES);
      // A host where anyone can store text or pictures doesn't serve these with a JSON content type.
      if (!/^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i.test(headers['content-type'] ?? ''))
        throw new DocumentFault('its Content-Type must be application/json');
      return { document: readClientDocument(value, clientId), seconds: freshSeconds(headers, Date.now()) };
    } catch (error) {
      if (error instanceof IssuerAway)
        throw guestFault(`the metadata document: ${error.message.replaceAll(clientId, 'it')}`);
      if (error instanceof DocumentFault) throw guestFault(`the metadata document: ${error.message}`);
      throw error;
    }
  };

  return {
    check,
    async admit(clientId) {
      await check(clientId);
      const known = await findClient(clientId);
      const isFresh = await documents.use(clientId);
      if (known !== undefined && known.environment === environment && isFresh === true) return known;
      // A returning guest must not regain the grants that its deletion is about to end.
      if (known === undefined && (await documents.hasOpenGrants(guestApplicationId(clientId))))
        throw unavailable('earlier grants of this client are being ended; retry in a moment');
      const { hostname: host } = new URL(clientId);
      if (isFresh === undefined && (await documents.count(host)) > MOST_OF_DOMAIN)
        throw guestFault('too many metadata documents from this domain were read today; try again tomorrow');
      const { document, seconds } = await fetchNow(clientId);
      const position = await commands.admit(bySystem(), {
        client_id: clientId,
        name: document.name,
        environment,
        redirect_uris: document.redirectUris,
        scopes: document.scopes,
        grant_types: document.grantTypes,
        privacy_url: document.privacyUrl,
        sector: host,
      });
      if (position !== undefined && !(await freshness.settle(position, ['projects'])))
        throw unavailable("the client was saved but isn't active on every instance yet; retry in a moment");
      await documents.keep(clientId, seconds);
      const client = await findClient(clientId);
      // If the client is unknown now, an operator has blocked its host in the meantime.
      if (client === undefined) throw guestFault('client_id is unknown');
      return client;
    },
    async sweep() {
      for (const { id, client_id } of await documents.unused(GUESTS.project)) {
        await commands.forget(bySystem(), id);
        await documents.forget(client_id);
      }
      await documents.sweep();
    },
  };
}

function guestFault(detail: string): PageFault {
  return new PageFault('guest', 400, detail, 'client_id');
}

function bySystem(): RequestContext {
  return {
    credential: { kind: 'system' },
    requestId: newId('req_'),
    ids: new IdSource(newUuid(), Date.now()),
    now: nowMicros,
  };
}
