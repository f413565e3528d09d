/** Opens additional projects, each with its own key, in the same way as a developer does. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DEV_TOKEN_S } from '#src/dev-issuer/dev-issuer.ts';
import type { MeasuredService } from './bench.ts';

const ANNAL = fileURLToPath(new URL('../bin/annal.js', import.meta.url));

/** A project and its sandbox's key. */
export interface OpenedProject {
  readonly id: string;
  readonly key: string;
}

/**
 * Returns a function that returns ID tokens from the development issuer. It requests a new token before the last one expires.
 */
export function openTokens({ databaseUrl, dataDir, service }: MeasuredService): () => Promise<string> {
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    PORT: String(service.target.port),
  };
  const args = [ANNAL, 'dev-token', '--email', 'bench@example.org'];
  let token: Promise<string> | undefined;
  let since = 0;
  return () => {
    if (token === undefined || performance.now() - since > (DEV_TOKEN_S / 2) * 1_000) {
      since = performance.now();
      token = promisify(execFile)(process.execPath, args, { env }).then(({ stdout }) => stdout.trim());
    }
    return token;
  };
}

/**
 * Sends a request to the admin interface and returns the response.
 * @throws Error with the response's status and text
 */
export async function askAdmin<T>(
  { service }: MeasuredService,
  token: () => Promise<string>,
  path: string,
  method = 'GET',
): Promise<T> {
  const { host, port } = service.target;
  const headers = { authorization: `Bearer ${await token()}` };
  const answer = await fetch(`http://${host}:${port}/admin${path}`, { method, headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
  return JSON.parse(text) as T;
}

/** Opens a project with a sandbox whose patients are added later. */
export async function openProject(
  measured: MeasuredService,
  token: () => Promise<string>,
): Promise<OpenedProject> {
  const opened = await askAdmin<{ key: string; project: { id: string } }>(
    measured,
    token,
    '/sandbox/quickstart',
    'POST',
  );
  return { id: opened.project.id, key: opened.key };
}
