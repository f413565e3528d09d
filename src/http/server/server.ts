/** Creates the HTTP server: the chain from the socket to the interfaces, and the headers of every response. */
import { createServer as createHttpServer, type Server } from 'node:http';
import Koa, { type Context, type Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Commands } from '#commands/commands.ts';
import type { Queries } from '#queries/queries.ts';
import type { RecordsOf } from '#queries/records-of.ts';
import type { DevIssuer } from '#src/dev-issuer/dev-issuer.ts';
import { capabilityStatement } from '#src/fhir/capability.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import { AnswerMemory } from '#src/shared/load/answer-budget.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import type { Terminology } from '#src/terminology/terminology.ts';
import type { OpenService } from '../api/open-route.ts';
import { RouteTable } from '../api/table.ts';
import { dashboardRouter } from '../app/router.ts';
import type { Identify } from '../credential-kinds.ts';
import { Authenticator } from '../credentials.ts';
import { devIssuerRouter } from '../dev-issuer/router.ts';
import { type EdgeKeys, Edges } from '../edge/edge.ts';
import { HistoryPages } from '../fhir/history-pages.ts';
import type { FhirInterface } from '../fhir/interface.ts';
import { OPERATIONS } from '../fhir/operations.ts';
import { bundleValues } from '../fhir/resource-body.ts';
import type { GrantService } from '../grant/pass.ts';
import { measureReadiness } from '../health.ts';
import type { KeyReadService } from '../key-reads.ts';
import { LargeBodies } from '../large-bodies.ts';
import { clientAddress, RequestLimits } from '../limits.ts';
import { openInnerRequests } from '../mcp/inner-requests.ts';
import { authorizeRouter } from '../oauth/authorize/router.ts';
import { listInsertedRoutes } from '../oauth/discovery.ts';
import { logoutRouter } from '../oauth/logout.ts';
import { openApiDocument } from '../openapi/document.ts';
import { FHIR_PATH } from '../path.ts';
import { patientOperations } from '../patient/operation.ts';
import { patientRouter } from '../patient/router.ts';
import type { AccessLog } from '../ports/access-log.ts';
import type { AuthorizeServices } from '../ports/authorize.ts';
import type { Freshness } from '../ports/freshness.ts';
import type { IdempotencyKeys } from '../ports/idempotency.ts';
import type { InnerRequests } from '../ports/inner-requests.ts';
import type { Metrics, ReadinessChecks } from '../ports/metrics.ts';
import type { OAuthServices } from '../ports/oauth.ts';
import type { PatientPageServices } from '../ports/patient-pages.ts';
import type { Services } from '../ports/services.ts';
import type { Settings } from '../ports/settings.ts';
import type { SharedLinkOpening } from '../ports/shared-links.ts';
import type { SignIn } from '../ports/signin.ts';
import type { FindToken } from '../ports/tokens.ts';
import type { Notebook, RateLimits } from '../ports/traffic.ts';
import { ALL_ROUTES, OPEN_ROUTES, ROUTES } from '../routes.ts';
import { invitationRouter } from '../signin/invitation-router.ts';
import { signInRouter } from '../signin/router.ts';
import { Visitors } from '../signin/visitors.ts';
import { VERSION } from '../version.ts';
import { limitConnections } from './connections.ts';
import { trackConnections } from './drain.ts';
import { envelope } from './envelope.ts';
import { answerForNode, SERVER_OPTIONS } from './node-answers.ts';

/** Dependencies of the server. */
export interface ServerDeps {
  readonly config: Settings;
  readonly log: Logger;
  readonly commands: Commands;
  readonly queries: Queries;
  readonly terminology: Terminology;
  readonly idempotency: IdempotencyKeys;
  /** Records reads of records. */
  readonly accessLog: AccessLog;
  readonly recordsOf: RecordsOf;
  /** Keys for exchanging ids in responses under a grant. */
  readonly edgeKeys: EdgeKeys;
  readonly traffic: Notebook & { readonly limits: RateLimits | undefined };
  readonly freshness: Freshness;
  /** The services for the JSON interfaces' routes. */
  readonly services: Services;
  readonly identify: Identify;
  readonly findToken: FindToken;
  /** The services for `/oauth/token`, `/oauth/revoke`, `/oauth/introspect` and `/oauth/jwks`. */
  readonly oauth: OAuthServices;
  /** Undefined if the installation has no development issuer. */
  readonly devIssuer: DevIssuer | undefined;
  /** Signs people in on the pages. */
  readonly signIn: SignIn;
  /** Lets applications ask people for access. */
  readonly authorize: AuthorizeServices;
  readonly linkOpening: SharedLinkOpening;
  /** The services that patients' pages need in addition to the JSON interfaces. */
  readonly patientPages: PatientPageServices;
  /** Conditions of `/health/ready`. */
  readonly checks: ReadinessChecks;
  readonly metrics: Metrics;
  /** Returns the refusal that a client gets for an error; undefined if the error is the service's fault. */
  readonly refusalOf: (error: unknown) => Refusal | undefined;
  /** Middleware that wraps every request. */
  readonly tracing?: Middleware | undefined;
}

/** Creates the server, without listening yet. */
export function createServer(deps: ServerDeps): Server {
  const { metrics } = deps;
  measureReadiness(metrics, deps.checks);
  const limits = new RequestLimits(
    deps.traffic.limits,
    clientAddress(deps.config.trustedProxies),
    metrics.observeThrottled,
    new Set(OPEN_ROUTES.flatMap(({ path, unlimited }) => (unlimited === true ? [path] : []))),
  );
  const authenticator = new Authenticator(
    { apiKey: deps.queries.apiKey, token: deps.findToken, identify: deps.identify },
    deps.config.baseUrl,
    (ctx, caller) => limits.byCaller(ctx, caller),
  );
  const largeBodies = new LargeBodies(limits, deps.config.limits, () =>
    deps.freshness.catchUp(['search', 'timeline']),
  );
  const grants = {
    accessLog: deps.accessLog,
    refusalOf: deps.refusalOf,
    edges: new Edges(deps.edgeKeys, {
      base: `${deps.config.baseUrl}${FHIR_PATH}/`,
      within: deps.queries.withinRecord,
    }),
  };
  const keyReads = {
    accessLog: deps.accessLog,
    recordsOf: deps.recordsOf,
    logged: new Set(
      deps.config.accessLog === 'all' ? (['member', 'api_key', 'client'] as const) : (['member'] as const),
    ),
    base: `${deps.config.baseUrl}${FHIR_PATH}/`,
  };
  const answers = new AnswerMemory({
    answer: {
      bytes: deps.config.limits.answerBytes,
      resources: deps.config.limits.answerResources,
      ms: deps.config.limits.answerSeconds * 1_000,
    },
    bytes: deps.config.limits.answerMemoryBytes,
  });
  const fhir = fhirInterface(deps, authenticator, limits, { largeBodies, answers }, { grants, keyReads });
  const api = { ...deps, grants, keyReads, largeBodies, authenticator, table: new RouteTable(ROUTES) };
  const open = {
    table: new RouteTable([...OPEN_ROUTES, ...listInsertedRoutes(deps.config.baseUrl)], 'any'),
    service: openService(deps, limits, answers, authenticator, openInnerRequests(fhir, api)),
    largeBodies,
  };
  const app = new Koa();
  if (deps.tracing !== undefined) app.use(deps.tracing);
  const visitors = new Visitors(deps.signIn, deps.config.baseUrl);
  const gateway = {
    visitors,
    projects: deps.services.adminQueries,
    requireEnvironment: deps.services.admin.requireEnvironment,
    count: (ctx: Context, person: PersonId) => limits.byPerson(ctx, person),
    worksElsewhere: (credential: string) => authenticator.works(credential),
  };
  app.use(envelope(fhir, api, open, { metrics, limits, notebook: deps.traffic, gateway }));
  const signIn = signInRouter({ signIn: deps.signIn, visitors, log: deps.log, refusalOf: deps.refusalOf });
  app.use(signIn.routes());
  app.use(signIn.allowedMethods());
  const dashboard = dashboardRouter(visitors);
  app.use(dashboard.routes());
  app.use(dashboard.allowedMethods());
  const invitations = invitationRouter({
    visitors,
    consents: deps.services.consents,
    refusalOf: deps.refusalOf,
  });
  app.use(invitations.routes());
  app.use(invitations.allowedMethods());
  const patient = patientRouter({
    services: deps.services,
    accessLog: deps.accessLog,
    pages: deps.patientPages,
    operation: patientOperations(fhir),
    visitors,
    refusalOf: deps.refusalOf,
    log: deps.log,
  });
  app.use(patient.routes());
  app.use(patient.allowedMethods());
  const authorize = authorizeRouter({
    services: deps.authorize,
    visitors,
    baseUrl: deps.config.baseUrl,
    newSecret: () => deps.signIn.newSecret(),
    refusalOf: deps.refusalOf,
    log: deps.log,
  });
  app.use(authorize.routes());
  app.use(authorize.allowedMethods());
  const logout = logoutRouter({
    visitors,
    hints: deps.oauth.logoutHints,
    findClient: deps.oauth.findClient,
    freshness: deps.freshness,
    refusalOf: deps.refusalOf,
  });
  app.use(logout.routes());
  app.use(logout.allowedMethods());
  if (deps.devIssuer !== undefined) {
    const issuer = devIssuerRouter(deps.devIssuer, deps.config.baseUrl, deps.config.devIssuer === 'allow');
    app.use(issuer.routes());
    app.use(issuer.allowedMethods());
  }
  const server = createHttpServer(SERVER_OPTIONS, app.callback());
  // Longer than load balancers keep idle connections, so that they never use a connection that is closing.
  server.keepAliveTimeout = 65_000;
  answerForNode(server);
  trackConnections(server);
  limitConnections(server, deps.config.limits.connectionsPerAddress, deps.config.trustedProxies);
  return server;
}

function openService(
  deps: ServerDeps,
  limits: RequestLimits,
  answers: AnswerMemory,
  authenticator: Authenticator,
  inner: InnerRequests,
): OpenService {
  const { config, services, oauth, linkOpening, accessLog, recordsOf, log, checks, metrics } = deps;
  const { baseUrl } = config;
  let document: ReturnType<OpenService['describe']> | undefined;
  const devIssuer = deps.devIssuer !== undefined;
  return {
    ...{
      baseUrl,
      services,
      oauth,
      links: linkOpening,
      limits,
      answers,
      accessLog,
      recordsOf,
      log,
      checks,
      metrics,
      inner,
    },
    worksElsewhere: (credential) => authenticator.works(credential),
    describe: () => (document ??= openApiDocument(ALL_ROUTES, baseUrl)),
    devIssuer,
    // A path on this machine is of no use to people on other machines.
    dataDir: devIssuer && config.devIssuer === 'local' ? config.dataDir : undefined,
  };
}

function fhirInterface(
  deps: ServerDeps,
  authenticator: Authenticator,
  requestLimits: RequestLimits,
  memory: { readonly largeBodies: LargeBodies; readonly answers: AnswerMemory },
  logged: { readonly grants: GrantService; readonly keyReads: KeyReadService },
): FhirInterface {
  const { config, commands, queries, terminology, idempotency, freshness, log, refusalOf } = deps;
  const baseUrl = config.baseUrl + FHIR_PATH;
  const date = new Date().toISOString();
  return {
    base: `${baseUrl}/`,
    commands,
    queries,
    terminology,
    findImplausible: deps.services.findImplausible,
    freshness,
    log,
    refusalOf,
    idempotency,
    authenticator,
    ...logged,
    limits: config.limits,
    ...memory,
    spend: (ctx, caller, requests) => requestLimits.further(ctx, caller, requests),
    bundleEntries: config.limits.bundleEntries,
    bundleValues: bundleValues(config.limits),
    historyPages: new HistoryPages(),
    capability: JSON.stringify(
      capabilityStatement({
        baseUrl,
        serviceUrl: config.baseUrl,
        version: VERSION,
        date,
        operations: OPERATIONS,
      }),
    ),
  };
}
