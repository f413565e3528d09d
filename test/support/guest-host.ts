/** A host for metadata documents: a real HTTP server whose documents describe clients of a service. */
import { type Receiver, startReceiver } from './receiver.ts';

/** A running host. */
export interface GuestHost extends Pick<Receiver, 'url' | 'received' | 'answer' | 'stop'> {
  /** The redirect URI in the host's documents. */
  readonly callback: string;
  /**
   * Publishes a document; can be called again for the same path.
   * @param members replace the document's members; undefined omits a member
   * @returns the document's URL, which is the client id
   */
  publish(
    path: string,
    members?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): string;
  /** Returns how often a path was fetched. */
  fetched(path: string): number;
}

/** Starts a host at `http://localhost:<port>`. */
export async function startGuestHost(): Promise<GuestHost> {
  const receiver = await startReceiver();
  const { url, received, answer } = receiver;
  const callback = `${url}/callback`;
  return {
    url,
    received,
    answer,
    callback,
    publish(path, members = {}, headers = {}) {
      const document = {
        client_id: url + path,
        client_name: 'Helper',
        redirect_uris: [callback],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
        ...members,
      };
      answer(path, (response) =>
        response
          .writeHead(200, { 'Content-Type': 'application/json', ...headers })
          .end(JSON.stringify(document)),
      );
      return url + path;
    },
    fetched: (path) => received.filter((one) => one.path === path).length,
    stop: () => receiver.stop(),
  };
}
