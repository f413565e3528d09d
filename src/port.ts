/** Checks that the port is free before anything slow begins; if it isn't, finds out which program uses it. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { z } from 'zod';
import type { Config } from './config.ts';

/** How long to wait for the other program's response, in ms. */
const PATIENCE_MS = 1_000;

/** An Annal service's response to `GET /`. */
const indexSchema = z.object({ name: z.literal('Annal'), version: z.string(), base_url: z.string() });

/**
 * Listens briefly on the address.
 * @throws NodeJS.ErrnoException if listening fails
 */
export async function tryPort({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const server = createServer();
  server.listen(port, host);
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

/**
 * Explains why it is impossible to listen on an address, and what to do about it.
 * @param error the error from listening
 * @returns undefined for a different kind of error
 */
export async function refusedAddress(
  error: unknown,
  { host, port }: Pick<Config, 'host' | 'port'>,
): Promise<string | undefined> {
  const { code, syscall } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return `PORT ${port} on ${host} is in use by ${await holder(host, port)}; stop it, or set another PORT`;
    case 'EACCES':
      return `this user may not listen on PORT ${port}; set a PORT above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `HOST ${host} is not an address of this machine; set 127.0.0.1 to listen on this machine only, or 0.0.0.0 to listen on all its addresses`;
    default:
      // For example EAI_AGAIN, if no name server answers.
      return syscall === 'listen' || syscall === 'getaddrinfo'
        ? `cannot listen on HOST ${host}, PORT ${port} (${code})`
        : undefined;
  }
}

/** Describes the program that listens on the address; if it is Annal too, it identifies itself at `GET /`. */
async function holder(host: string, port: number): Promise<string> {
  const everywhere = host === '0.0.0.0' || host === '::';
  const at = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${at}:${port}/`, {
      headers: { Accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const { version, base_url } = indexSchema.parse(await answer.json());
    return `another Annal service (version ${version}, ${base_url})`;
  } catch {
    return 'another program';
  }
}
