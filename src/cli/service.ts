/** Finds the service that a command uses, and its key. */
import { resolve } from 'node:path';
import { loadConfig } from '#src/config.ts';
import { readQuickstart } from '#src/data-dir.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { Failure } from './failure.ts';

/** A running service. */
export interface Service {
  /** Base URL without a trailing slash and without `/fhir/R4`. */
  readonly url: string;
  /** An API key. */
  readonly key: string;
}

/** The command-line options that name the service, in addition to environment variables. */
export interface ServiceOptions {
  readonly url?: string;
  readonly key?: string;
  /** Default: `DATA_DIR`, otherwise `.annal`. */
  readonly dataDir?: string;
}

/** Returns the folder in which this machine's service keeps its data. */
export function findDataDir(options: Pick<ServiceOptions, 'dataDir'> = {}): string {
  return resolve(options.dataDir ?? process.env.DATA_DIR ?? '.annal');
}

/** Returns the URL of the service that uses the data folder, otherwise the URL from this process's environment. */
export async function findBaseUrl(options: Pick<ServiceOptions, 'dataDir'> = {}): Promise<string> {
  const quickstart = await readQuickstart(findDataDir(options));
  return quickstart?.base_url ?? loadConfig(process.env).baseUrl;
}

/**
 * Finds the service that the options name, otherwise the service that wrote `quickstart.json` to DATA_DIR. A service's key is
 * sent only to that service's URL.
 * @throws Failure if no service is found, if the key is missing, or if the URL doesn't respond.
 */
export async function findService(options: ServiceOptions): Promise<Service> {
  const dataDir = findDataDir(options);
  const quickstart = await readQuickstart(dataDir);
  const url = (options.url ?? quickstart?.base_url)?.replace(/\/fhir\/R4\/?$/, '').replace(/\/+$/, '');
  if (url === undefined) {
    throw new Failure(
      `no service has run on ${dataDir}; start one with \`npm start\`, pass --url and --key, or set DATA_DIR`,
    );
  }
  if (!/^https?:\/\//.test(url)) throw new Failure(`--url must be an http or https URL, not ${url}`);
  const own = quickstart !== undefined && quickstart.base_url.replace(/\/+$/, '') === url;
  const key = options.key ?? process.env.ANNAL_KEY ?? (own ? quickstart.sandbox_key : undefined);
  if (key === undefined) throw new Failure(`no key for ${url}; pass --key or set ANNAL_KEY`);
  await expectAnswer(url);
  return { url, key };
}

async function expectAnswer(url: string): Promise<void> {
  try {
    await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(10_000) });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    throw new Failure(
      `no service answers at ${url}${cause}. Start it with \`npm start\`, or pass another --url`,
    );
  }
}

/**
 * Reads from the FHIR interface.
 * @param path below `/fhir/R4/`, or an absolute URL on the same service, such as a paging link.
 * @returns the exact text and the parsed JSON.
 * @throws Failure with the service's own message if the service refuses the request.
 */
export async function readFhir(
  { url, key }: Service,
  path: string,
): Promise<{ text: string; value: JsonObject; exact: boolean }> {
  const target = new URL(path, `${url}/fhir/R4/`);
  if (target.origin !== new URL(url).origin)
    throw new Failure(`the service returned a link to another host, ${target.origin}; check BASE_URL`);
  const response = await fetch(target, {
    headers: { Accept: 'application/fhir+json', Authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(120_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Failure(explain(text) ?? `${target.pathname}: HTTP ${response.status}`);
  const { value, exact } = parseJson(text);
  if (!isObject(value)) throw new Failure(`${target.pathname}: not a FHIR resource`);
  return { text, value, exact };
}

function explain(text: string): string | undefined {
  try {
    const { value } = parseJson(text);
    const [issue] = isObject(value) && Array.isArray(value.issue) ? value.issue : [];
    return isObject(issue) && typeof issue.diagnostics === 'string' ? issue.diagnostics : undefined;
  } catch {
    return undefined;
  }
}
