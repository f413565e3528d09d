/**
 * Parses every setting from environment variables, once at startup. The table in docs/configuration.md is generated from this
 * file.
 */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { issuersSchema, type NamedIssuer, type TrustedIssuer } from './shared/access/issuers.ts';
import type { Limits } from './shared/limits.ts';
import { isSourceHost } from './shared/source-host.ts';

const MEGABYTE = 1_000_000;

const wholeNumber = (least: number, most: number, fallback: number) =>
  z.coerce
    .number(`must be a whole number from ${least} to ${most}`)
    .int(`must be a whole number from ${least} to ${most}`)
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`)
    .default(fallback);

const choice = <const T extends readonly [string, ...string[]]>(values: T, fallback: T[number]) =>
  z
    .enum(values, `must be one of ${values.join(', ')}`)
    .default(fallback as z.core.util.NoUndefined<T[number]>);

const url = (schemes: readonly string[], example: string) =>
  z.string().refine((text) => hasScheme(text, schemes), `must be a URL such as ${example}`);

const eventStore = url(
  ['esdb:', 'esdb+discover:', 'kurrentdb:', 'kurrentdb+discover:', 'postgres:', 'postgresql:'],
  'esdb://host:2113?tls=false',
).optional();

/** The environment's schema. Its descriptions are the documentation. */
const environment = z.object({
  PORT: wholeNumber(1, 65_535, 3000).describe('TCP port to listen on.'),
  HOST: z
    .string()
    .refine(isHost, 'must be an IP address of this machine, such as 127.0.0.1 or 0.0.0.0, or a host name')
    .default('127.0.0.1')
    .describe('Address to listen on: `127.0.0.1` for this machine only, `0.0.0.0` for all addresses.'),
  BASE_URL: url(['http:', 'https:'], 'https://records.example.org')
    .refine(
      (text) => !/[?#]|^\w+:\/\/[^/]*@/.test(text),
      'must have no user, no password, no query and no fragment',
    )
    .optional()
    .describe('URL at which clients reach the service, without `/fhir/R4`. Default: `http://HOST:PORT`.'),
  DATA_DIR: z
    .string()
    .default('.annal')
    .describe(
      'Folder for the embedded database and `quickstart.json`; created if missing. Only one service at a time can use it.',
    ),
  DATABASE_URL: url(
    ['postgres:', 'postgresql:'],
    'postgres://user:password@host:5432/annal, with characters such as # and / of the password percent-encoded',
  )
    .optional()
    .describe('PostgreSQL 16 or later to use instead of the embedded PostgreSQL.'),
  AUDIT_KEY_FILE: z
    .string()
    .optional()
    .describe(
      'PEM file with the Ed25519 private key that signs checkpoints and exports. Default: a key that is created in DATA_DIR on first use.',
    ),
  EVENTSTORE_URL: eventStore.describe(
    "EventStoreDB that stores the events, instead of the log in PostgreSQL; or `postgres://…` for a log in another database. Don't set it in the EventStoreDB server's own environment: the server would refuse to start.",
  ),
  ANNAL_EVENTSTORE_URL: eventStore.describe(
    'The same as EVENTSTORE_URL, under a name that an EventStoreDB server in the same environment ignores.',
  ),
  MODE: choice(['development', 'production'], 'development').describe(
    'With `production`, the service has no development issuer, sends webhooks only to public addresses, and creates a quickstart project and key only if the installation has no project yet.',
  ),
  OIDC_ISSUERS: issuersSchema
    .optional()
    .describe(
      'OpenID Connect issuers whose ID tokens `/admin` accepts, each with the audience that `aud` must contain: `https://login.example.org annal-dashboard, https://accounts.example.com 1234`. People sign in on these issuers’ pages, as the client that the issuer’s first audience names; an entry can end with the name of an environment variable that contains this client’s secret: `https://login.example.org annal-dashboard LOGIN_SECRET`. Default: the development issuer at `BASE_URL/dev`; with `MODE=production`, none.',
    ),
  DEV_ISSUER: choice(['local', 'allow'], 'local').describe(
    'Whether the development issuer runs, which accepts any e-mail address without a password. `local`: it runs only if `HOST` and the host in `BASE_URL` are loopback (`localhost`, `127.0.0.1`, `::1`), and refuses requests that a proxy forwarded. `allow`: it always runs. It never runs with `OIDC_ISSUERS` or `MODE=production`.',
  ),
  OPERATOR_ORGANIZATION: z
    .string()
    .regex(/^org_[\w-]{1,60}$/, 'must be the id of an organization, such as org_zyuML5Z1TXrVC4OvVyaVgA')
    .optional()
    .describe(
      'Id of the organization whose owners and admins operate the installation at `/admin/operations` and `/app/ops`. Default: the organization that is created at the first start; with `MODE=production`, none, so the installation can be operated only from the command line.',
    ),
  PRODUCTION_ACCESS: choice(['request', 'open'], 'request').describe(
    'Which projects can create production keys and applications. `request`: projects that an operator allowed with `annal production allow`, and projects that already had production keys or applications; `open`: all projects.',
  ),
  CLIENT_METADATA: z
    .string()
    .refine(
      (text) => ['off', 'allow'].includes(text) || splitNetworks(text).every((host) => isSourceHost(host)),
      'must be off, allow, or host names such as claude.ai, separated by commas',
    )
    .optional()
    .describe(
      'Which guests are allowed. Guests are OAuth clients that nobody registered, and whose `client_id` is the URL of their [metadata document](oauth.md#guests). `off`: none; `allow`: guests from every host; or a list of the hosts whose documents are accepted: `claude.ai, app.example.org`. Default: `allow`; with `MODE=production`, `off`.',
    ),
  ACCESS_LOG: choice(['grants', 'all'], 'grants').describe(
    'Which reads of records the access log includes. `grants`: reads by applications under a grant, and by members with a dashboard token; `all`: also reads with API keys and `client_credentials` tokens, with one entry for each record that a response shows.',
  ),
  LOG_LEVEL: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info').describe(
    'Lowest level of log lines that are written to standard error, as JSON.',
  ),
  MAX_BODY_BYTES: wholeNumber(1_000, 1_000 * MEGABYTE, 10 * MEGABYTE).describe(
    'Maximum size of a JSON body other than a Bundle, in bytes; larger bodies get 413.',
  ),
  MAX_BUNDLE_BYTES: wholeNumber(1_000, 1_000 * MEGABYTE, 25 * MEGABYTE).describe(
    'Maximum size of a FHIR Bundle, in bytes; larger Bundles get 413.',
  ),
  MAX_BUNDLE_ENTRIES: wholeNumber(1, 100_000, 5_000).describe(
    'Maximum number of entries in a FHIR Bundle; Bundles with more entries get 413.',
  ),
  MAX_ANSWER_BYTES: wholeNumber(1_000_000, 1_000 * MEGABYTE, 50 * MEGABYTE).describe(
    'Maximum size of the resources in a response, in bytes. A larger page ends early and links to the next page; a larger response without pages is refused with 413 `too-costly`. A resource larger than this can’t be read, so keep this setting above MAX_BODY_BYTES.',
  ),
  MAX_ANSWER_RESOURCES: wholeNumber(200, 1_000_000, 20_000).describe(
    'Maximum number of resources in one response; beyond that, requests get 413 `too-costly`.',
  ),
  MAX_ANSWER_SECONDS: wholeNumber(1, 3_600, 60).describe(
    'Maximum time to read the data for one response, in seconds; beyond that, requests get 413 `too-costly`.',
  ),
  ANSWER_MEMORY_BYTES: wholeNumber(1_000_000, 100_000 * MEGABYTE, 300 * MEGABYTE).describe(
    'Maximum number of bytes of long responses (the part of each beyond 1 MB) that one instance keeps in memory until they are sent; at most a third of this for any one project. Beyond that, requests with long responses get 503 with `Retry-After`.',
  ),
  MAX_CONNECTIONS_PER_ADDRESS: wholeNumber(0, 100_000, 256).describe(
    'Maximum number of connections that one client address can have open to one instance; further connections get 429 and are closed. `0`: no limit. Addresses in TRUSTED_PROXIES have no limit.',
  ),
  BODY_MEMORY_BYTES: wholeNumber(1_000_000, 100_000 * MEGABYTE, 300 * MEGABYTE).describe(
    'Maximum number of bytes of large request bodies (the part of each beyond 1 MB) that one instance keeps in memory at a time; at most a third of this for any one project. Beyond that, requests with a large body get 503 with `Retry-After`.',
  ),
  DOCUMENT_MAX_BYTES: wholeNumber(1, 5_000 * MEGABYTE, 100 * MEGABYTE).describe(
    'Maximum size of a document’s content, in bytes; larger content gets 413.',
  ),
  DOCUMENTS_S3_BUCKET: z
    .string()
    .optional()
    .describe(
      'Bucket in an S3-compatible store for documents, instead of the folder `documents` in DATA_DIR. Required if there are several instances.',
    ),
  DOCUMENTS_S3_ENDPOINT: url(['http:', 'https:'], 'https://s3.example.org')
    .optional()
    .describe('URL of the S3-compatible store, if it isn’t Amazon’s; clients must also be able to reach it.'),
  DOCUMENTS_S3_REGION: z.string().default('us-east-1').describe('The bucket’s region.'),
  DOCUMENTS_S3_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe(
      'Access key for the bucket. Default: the credentials that the AWS SDK finds in its environment.',
    ),
  DOCUMENTS_S3_SECRET_ACCESS_KEY: z.string().optional().describe('The secret that goes with the access key.'),
  RATE_LIMIT_PER_MINUTE: wholeNumber(0, 1_000_000_000, 600).describe(
    'Maximum number of requests per minute that one API key, or one client address, can make on all instances together; further requests get 429. `0`: no limit.',
  ),
  TRUSTED_PROXIES: z
    .string()
    .optional()
    .refine(
      (text) => splitNetworks(text).every(isNetwork),
      'must be addresses or networks such as 10.0.0.0/8, separated by commas',
    )
    .describe(
      'Addresses and networks (`10.0.0.0/8, fd00::/8`) of the proxies whose `X-Forwarded-For` the service trusts; without this setting, the client address is the connection’s address.',
    ),
  REFRESH_TOKEN_DAYS: wholeNumber(1, 400, 30).describe(
    'Number of days that a refresh token works if it isn’t used. Each use restarts the period; a token never outlasts its grant.',
  ),
  REQUEST_LOG_DAYS: wholeNumber(1, 3_650, 30).describe(
    "Number of days that entries in a project's request log are kept.",
  ),
  WEBHOOK_TIMEOUT_SECONDS: wholeNumber(1, 60, 10).describe(
    'Maximum duration of a webhook delivery, from connecting to the last byte of the response, in seconds.',
  ),
  WEBHOOK_RETRY_SECONDS: z
    .string()
    .default('5,30,120,600,1800,3600,10800,21600,36000')
    .refine(
      (text) => parseGaps(text).every((gap) => gap > 0 && gap <= 86_400),
      'must be seconds from 1 to 86400, or fractions of them, separated by commas',
    )
    .describe(
      'Pauses between attempts to send a webhook delivery, in seconds; after the last attempt the delivery is exhausted.',
    ),
  SANDBOX_PATIENTS: wholeNumber(0, 30, 30).describe(
    'Number of synthetic patients in a new or reset sandbox. `0`: none.',
  ),
  WORKERS: z
    .string()
    .regex(/^(?:auto|[1-9]|[1-5]\d|6[0-4])$/, 'must be auto, or a whole number from 1 to 64')
    .default('auto')
    .describe(
      'Number of processes that answer HTTP requests. `auto`: the number depends on the cores and the memory ([every core](scale.md#every-core)); on one or two cores, one process does everything.',
    ),
  PROJECTORS: z
    .enum(['auto', '0', '1', '2'], 'must be auto, 0, 1 or 2')
    .default('auto')
    .describe(
      'Number of processes that keep read models up to date and run all background work. `0`: the process that answers requests also does this work, which is possible only with `WORKERS=1`. `auto`: 0 with one worker, otherwise 1 or 2, depending on the number of cores.',
    ),
  SHUTDOWN_SECONDS: wholeNumber(1, 600, 20).describe(
    'Maximum time that requests in flight, and read models that are catching up, can take after SIGTERM, in seconds.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(['http:', 'https:'], 'http://localhost:4318')
    .optional()
    .describe(
      'URL of the OpenTelemetry collector that receives traces, by OTLP over HTTP with JSON; without this setting, no traces are sent.',
    ),
});

/** The typed settings. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash; the FHIR base is `${baseUrl}/fhir/R4`. */
  readonly baseUrl: string;
  /** Absolute. */
  readonly dataDir: string;
  /** If undefined, the embedded PostgreSQL is used. */
  readonly databaseUrl: string | undefined;
  /** If undefined, the key in DATA_DIR is used. */
  readonly auditKeyFile: string | undefined;
  /** If undefined, the log in PostgreSQL is used. */
  readonly eventStoreUrl: string | undefined;
  readonly mode: 'development' | 'production';
  /** If empty, the development issuer is used; in production mode, no issuer. */
  readonly oidcIssuers: readonly ConfiguredIssuer[];
  /** `allow` if the development issuer may be reached from other machines. */
  readonly devIssuer: 'local' | 'allow';
  readonly productionAccess: 'open' | 'request';
  /** If undefined, the organization that the first start created; in production mode, none. */
  readonly operatorOrganization: string | undefined;
  /** The hosts from which guests are accepted, in lower case. */
  readonly clientMetadata: 'off' | 'allow' | readonly string[];
  readonly accessLog: 'grants' | 'all';
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  readonly limits: Limits;
  /** If undefined, documents are kept in the folder `documents` in `dataDir`. */
  readonly documentsBucket: DocumentsBucket | undefined;
  /** Applies to each API key and each client address; 0 means no limit. */
  readonly rateLimitPerMinute: number;
  /** Addresses and networks in CIDR notation. */
  readonly trustedProxies: readonly string[];
  readonly refreshTokenDays: number;
  readonly requestLogDays: number;
  readonly webhooks: { readonly timeoutSeconds: number; readonly retrySeconds: readonly number[] };
  /** The number of synthetic patients in a sandbox, 0 to 30. */
  readonly sandboxPatients: number;
  readonly shutdownSeconds: number;
  /** If undefined, the number depends on the number of cores. */
  readonly workers: number | undefined;
  /** If undefined, the number depends on the number of cores. */
  readonly projectors: 0 | 1 | 2 | undefined;
  /** If undefined, no traces are sent. */
  readonly otlpEndpoint: string | undefined;
}

/** An issuer in `OIDC_ISSUERS`. */
export interface ConfiguredIssuer extends TrustedIssuer {
  /**
   * With a secret, people are signed in through the client that the first audience names; if undefined, through a public
   * client with PKCE.
   */
  readonly clientSecret?: string;
}

/** The S3 bucket for documents, if they aren't stored on disk. */
export interface DocumentsBucket {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint: string | undefined;
  /** If undefined, the AWS SDK's default credentials are used. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** Thrown when the environment is invalid. The message names every invalid variable, but never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the settings. An empty variable is treated as absent.
 * @throws ConfigError with one sentence that names every invalid variable.
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const given = leaveOutEmpty(env);
  const data = parse(environment, given);
  if (data.PROJECTORS === '0' && data.WORKERS !== '1')
    throw new ConfigError('PROJECTORS must not be 0 unless WORKERS is 1: several workers need a projector');
  const baseUrl = (data.BASE_URL ?? `http://${addressee(data.HOST)}:${data.PORT}`).replace(/\/+$/, '');
  if (!URL.canParse(baseUrl))
    throw new ConfigError('BASE_URL is missing; set it, because HOST has a zone, which a URL cannot contain');
  return {
    port: data.PORT,
    host: data.HOST,
    baseUrl,
    dataDir: resolve(data.DATA_DIR),
    databaseUrl: data.DATABASE_URL,
    auditKeyFile: data.AUDIT_KEY_FILE,
    eventStoreUrl: readEventStoreUrl(given),
    mode: data.MODE,
    oidcIssuers: makeIssuers(data.OIDC_ISSUERS ?? [], given),
    devIssuer: data.DEV_ISSUER,
    productionAccess: data.PRODUCTION_ACCESS,
    operatorOrganization: data.OPERATOR_ORGANIZATION,
    clientMetadata: readClientMetadata(data.CLIENT_METADATA, data.MODE),
    accessLog: data.ACCESS_LOG,
    logLevel: data.LOG_LEVEL,
    limits: {
      bodyBytes: data.MAX_BODY_BYTES,
      bundleBytes: data.MAX_BUNDLE_BYTES,
      bundleEntries: data.MAX_BUNDLE_ENTRIES,
      documentBytes: data.DOCUMENT_MAX_BYTES,
      answerBytes: data.MAX_ANSWER_BYTES,
      answerResources: data.MAX_ANSWER_RESOURCES,
      answerSeconds: data.MAX_ANSWER_SECONDS,
      answerMemoryBytes: data.ANSWER_MEMORY_BYTES,
      bodyMemoryBytes: data.BODY_MEMORY_BYTES,
      connectionsPerAddress: data.MAX_CONNECTIONS_PER_ADDRESS,
    },
    documentsBucket: makeBucket(data),
    rateLimitPerMinute: data.RATE_LIMIT_PER_MINUTE,
    trustedProxies: splitNetworks(data.TRUSTED_PROXIES),
    refreshTokenDays: data.REFRESH_TOKEN_DAYS,
    requestLogDays: data.REQUEST_LOG_DAYS,
    webhooks: {
      timeoutSeconds: data.WEBHOOK_TIMEOUT_SECONDS,
      retrySeconds: parseGaps(data.WEBHOOK_RETRY_SECONDS),
    },
    sandboxPatients: data.SANDBOX_PATIENTS,
    shutdownSeconds: data.SHUTDOWN_SECONDS,
    workers: data.WORKERS === 'auto' ? undefined : Number(data.WORKERS),
    projectors: data.PROJECTORS === 'auto' ? undefined : (Number(data.PROJECTORS) as 0 | 1 | 2),
    otlpEndpoint: data.OTEL_EXPORTER_OTLP_ENDPOINT,
  };
}

function leaveOutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim() !== ''));
}

function parse<Schema extends z.ZodType>(schema: Schema, given: NodeJS.ProcessEnv): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const faults = new Map(parsed.error.issues.map((issue) => [issue.path.join('.'), issue.message]));
  throw new ConfigError([...faults].map(([name, message]) => `${name} ${message}`).join('; '));
}

/**
 * Returns `DATABASE_URL`; undefined if it is absent or empty.
 * @throws ConfigError if it isn't a URL of PostgreSQL.
 */
export function readDatabaseUrl(env: NodeJS.ProcessEnv): string | undefined {
  return parse(environment.pick({ DATABASE_URL: true }), leaveOutEmpty(env)).DATABASE_URL;
}

/**
 * Returns the event log's location according to the settings. An empty text means the service's own database; undefined means
 * that no setting names a location.
 * @throws ConfigError if both variables are set and differ.
 */
export function readEventStoreUrl({
  EVENTSTORE_URL: plain,
  ANNAL_EVENTSTORE_URL: prefixed,
}: NodeJS.ProcessEnv): string | undefined {
  if (plain && prefixed && plain !== prefixed)
    throw new ConfigError('EVENTSTORE_URL and ANNAL_EVENTSTORE_URL name different logs; set one of them');
  return prefixed || plain || (plain ?? prefixed);
}

function readClientMetadata(text: string | undefined, mode: Config['mode']): Config['clientMetadata'] {
  const rule = text ?? (mode === 'production' ? 'off' : 'allow');
  return rule === 'off' || rule === 'allow' ? rule : splitNetworks(rule.toLowerCase());
}

function makeIssuers(named: readonly NamedIssuer[], env: NodeJS.ProcessEnv): ConfiguredIssuer[] {
  return named.map(({ issuer, audiences, secret }) => {
    if (secret === undefined) return { issuer, audiences };
    const clientSecret = env[secret.variable];
    if (clientSecret === undefined)
      throw new ConfigError(
        `OIDC_ISSUERS entry ${secret.entry} names an environment variable for the client secret that is not set`,
      );
    return { issuer, audiences, clientSecret };
  });
}

function makeBucket(data: z.output<typeof environment>): DocumentsBucket | undefined {
  const {
    DOCUMENTS_S3_BUCKET: bucket,
    DOCUMENTS_S3_ACCESS_KEY_ID: accessKeyId,
    DOCUMENTS_S3_SECRET_ACCESS_KEY: secretAccessKey,
  } = data;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw new ConfigError(
      'DOCUMENTS_S3_ACCESS_KEY_ID and DOCUMENTS_S3_SECRET_ACCESS_KEY must be set together',
    );
  if (bucket === undefined) {
    if ((data.DOCUMENTS_S3_ENDPOINT ?? accessKeyId) === undefined) return undefined;
    throw new ConfigError(
      'DOCUMENTS_S3_BUCKET is missing; set it, or leave out the other settings for S3: without a bucket, documents are stored in DATA_DIR',
    );
  }
  return {
    bucket,
    region: data.DOCUMENTS_S3_REGION,
    endpoint: data.DOCUMENTS_S3_ENDPOINT,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? undefined
        : { accessKeyId, secretAccessKey },
  };
}

/** A row in the documentation's table. */
export interface Variable {
  readonly name: string;
  /** In the same form as the variable's value; undefined if the variable has no default. */
  readonly default: string | undefined;
  readonly description: string;
}

/** Returns every variable, in the schema's order; docs/configuration.md is generated from this. */
export function configurationTable(): Variable[] {
  return Object.entries(environment.shape).map(([name, schema]) => {
    const fallback: unknown = schema.safeParse(undefined).data;
    return {
      name,
      default: fallback === undefined ? undefined : String(fallback),
      description: schema.description ?? '',
    };
  });
}

/** Returns the address at which a client on this machine can reach a server that listens on `host`. */
function addressee(host: string): string {
  if (['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * Accepts an IP address, or a name that doesn't look like an address: URL parsers read `300.1.1.1` and `127.1` as IPv4
 * addresses.
 */
function isHost(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const url = `http://${text}/`;
  return /^[\w.-]+$/.test(text) && URL.canParse(url) && new URL(url).hostname === text.toLowerCase();
}

/** Returns the numbers in a list; NaN for an item that isn't a number. */
function parseGaps(list: string): number[] {
  return list.split(',').map((text) => (text.trim() === '' ? Number.NaN : Number(text)));
}

/** Returns the items of a list in which commas or spaces separate the items. */
function splitNetworks(list = ''): string[] {
  return list.split(/[\s,]+/).filter((text) => text !== '');
}

/** Returns whether a text is an address, or a network in CIDR notation (RFC 4632). */
function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && (prefix === undefined || Number(prefix) <= (family === 4 ? 32 : 128));
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  try {
    // PostgreSQL URLs may leave out the host: `postgres://user@/db?host=/run/postgresql`.
    const withHost = text.replace(/@\//, '@localhost/');
    // EventStoreDB URLs may name several hosts: `esdb://one:2113,two:2113`.
    const withOne = withHost.replace(/^((?:esdb|kurrentdb):\/\/(?:[^/?#]*@)?[^@,/?#]+)(?:,[^@,/?#]+)+/, '$1');
    return schemes.includes(new URL(withOne).protocol);
  } catch {
    return false;
  }
}
