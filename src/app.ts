/** The composition root: creates every part with its dependencies. It has no side effects before `startApp`. */
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { openGuestCommands } from '#commands/application/guests.ts';
import { readOwner } from '#commands/consent/on-record.ts';
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { openCommands } from '#commands/open.ts';
import { PROJECT } from '#commands/project/state.ts';
import { RESOURCES, SnapshotLoader } from '#commands/resource/state.ts';
import { PROJECTIONS } from '#projections/all.ts';
import { Progress } from '#projections/progress.ts';
import type { Projection } from '#projections/projection.ts';
import { Projector } from '#projections/projector.ts';
import { loadPast, loadUnwritten } from '#projections/unwritten.ts';
import { openAccessLogPages } from '#queries/access-log.ts';
import { openGrantUse } from '#queries/access-use.ts';
import { openSandboxQueries } from '#queries/admin/sandbox.ts';
import { openConsentQueries } from '#queries/consents/consents.ts';
import { openPatientsOfProject } from '#queries/consents/patients-of-project.ts';
import { refuseCostly } from '#queries/database/gather.ts';
import { openLookup } from '#queries/lookup.ts';
import { openQueries } from '#queries/queries.ts';
import { openOwningRecords } from '#queries/records-of.ts';
import { answering, endableAppends } from '#src/events/wrapped-store.ts';
import { openConcepts } from '#src/terminology/concepts/concepts.ts';
import { openAccessLog } from './app/access-log.ts';
import { openAdministration } from './app/admin.ts';
import { openAudit } from './app/audit/open.ts';
import { openDocuments } from './app/documents.ts';
import { openOAuth } from './app/oauth.ts';
import { openOperations } from './app/operations.ts';
import { openPatientPages } from './app/patient-pages.ts';
import { bundledPlausibility } from './app/plausibility.ts';
import { ERASURE_MS, openProcesses } from './app/processes.ts';
import { quickstart } from './app/quickstart.ts';
import { startArchiving } from './app/receipts/archiving.ts';
import { openReceipts } from './app/receipts/open.ts';
import { openRecordReads } from './app/record-reads.ts';
import { toRefusal } from './app/refusal-of.ts';
import { openSandboxes } from './app/sandbox.ts';
import { startSweeping } from './app/sweeping.ts';
import { openTakebacks } from './app/takebacks.ts';
import { openTokens } from './app/tokens.ts';
import type { Config } from './config.ts';
import type { Quickstart } from './data-dir.ts';
import { openPool } from './database/pool.ts';
import type { LogClosed } from './events/closed.ts';
import { NewerEvents } from './events/newer.ts';
import { logKind, openEventStore } from './events/open.ts';
import type { EventStore, Position, WrittenBatch } from './events/store.ts';
import { type ResourceType, typeEntry } from './fhir/types.ts';
import { drainProjections } from './freshness/drain.ts';
import { observeFollowing } from './freshness/following.ts';
import { Freshness, RECORD_MODELS } from './freshness/freshness.ts';
import { Pacing, paced } from './freshness/pacing.ts';
import { bringReadModelsUpToDate, sweepShadows } from './freshness/read-models.ts';
import { readinessChecks } from './freshness/readiness.ts';
import { edgeKeys } from './http/edge/edge.ts';
import { drain } from './http/server/drain.ts';
import { createServer } from './http/server/server.ts';
import { answerWhileStarting } from './http/server/starting.ts';
import { VERSION } from './http/version.ts';
import { openIdentities, ownIssuer } from './identity/open.ts';
import { POOLS, shareConnections, shareLimits } from './machine/budgets.ts';
import type { Link } from './machine/link.ts';
import { ALONE, type Part } from './machine/messages.ts';
import { observeIdempotency, observeLocks, observePools } from './metrics/database.ts';
import { observeQueries } from './metrics/queries.ts';
import { createMetrics, observeBuild } from './metrics/registry.ts';
import { observeBatches, observeStore } from './metrics/store.ts';
import { Subscriptions } from './metrics/subscriptions.ts';
import { assertNotMoved } from './migrate-log/positions.ts';
import { ApplicationLogos } from './operations/application-logos.ts';
import { ContextManifests } from './operations/context-manifests.ts';
import { openIdempotency } from './operations/idempotency.ts';
import { installationKey } from './operations/installation-key.ts';
import { Invitations } from './operations/invitations.ts';
import { readLateWrites } from './operations/late-writes.ts';
import { PostgresCriteriaLocks } from './operations/locks.ts';
import { assertOwnLog, noteLog } from './operations/log-identity.ts';
import { LogWatch } from './operations/log-watch.ts';
import { RecordVisits } from './operations/record-visits.ts';
import { SharedLinks } from './operations/shared-links.ts';
import { PostgresSnapshots } from './operations/snapshots.ts';
import { Takebacks } from './operations/takebacks/takebacks.ts';
import { openTraffic } from './operations/traffic.ts';
import { metered } from './operations/usage.ts';
import { openWebhooks } from './reactions/webhooks/webhooks.ts';
import { newUuid } from './shared/ids.ts';
import { FullDisks } from './shared/load/full-disks.ts';
import { unavailable } from './shared/refusal.ts';
import { nowMicros } from './shared/time/time.ts';
import { nestWrappers, wrapCalls } from './shared/wrap-calls.ts';
import { openAccessRequests } from './sharing/access-requests.ts';
import { openAuthorize } from './sharing/authorize.ts';
import { openConsent } from './sharing/consents.ts';
import { openGuests } from './sharing/guests.ts';
import { openIdentityGrant } from './sharing/identity-grant.ts';
import { openConsentProcesses } from './sharing/processes.ts';
import { openProposals } from './sharing/proposals.ts';
import { openTrustEnding } from './sharing/trust.ts';
import { openOpening } from './shl/opening.ts';
import { openSharedLinkServices } from './shl/shared-links.ts';
import { openSignIn } from './signin/open.ts';
import { terminologyReady } from './terminology/read-models.ts';
import { rememberDisplays } from './terminology/remembered.ts';
import { openTerminology } from './terminology/terminology.ts';
import { openTracing } from './tracing/open.ts';
import { traceStore } from './tracing/store.ts';

/** A running service. */
export interface App {
  /** Opens the port. */
  listen(): Promise<{ url: string }>;
  /**
   * Returns the project and key for first use. If the key from an earlier start still works, it is returned; otherwise a new
   * key is created for the installation's quickstart project, which the first start creates together with its organization. In
   * production, a key is created only if the installation has no project; otherwise undefined.
   */
  quickstart(): Promise<Quickstart | undefined>;
  /** Begins to fill sandboxes and run jobs. This is called after the quickstart, so that these tasks don't delay first use. */
  startBackground(): void;
  /** Finishes the requests in progress, then stops every part. */
  close(): Promise<void>;
}

/**
 * After this time, in ms, a large append is treated as visible in the read models, so that a stuck read model doesn't block
 * writes forever.
 */
const SHOWN_MS = 60_000;
/**
 * Statement time limits. The server's limit ends first, so that a statement that takes too long (413) can be told apart from a
 * database that doesn't respond (503).
 */
const STATEMENTS = { statementMs: 10_000, answerMs: 11_000 } as const;
/** How long a search for directory entries waits until the entries of crashed transactions are written, in ms. */
const CARRIED_MS = 10_000;
/** How long startup waits for the read models to catch up, in ms. */
const CATCH_UP_MS = 3_000;

/**
 * How long requests and read models have to finish at shutdown, in ms per second of SHUTDOWN_SECONDS; the rest is for closing
 * connections.
 */
const DRAINING = 800;

/**
 * Starts every part on a migrated database; the port opens with `listen`.
 * @throws if the database can't be used.
 */
export async function startApp(deps: {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly log: Logger;
  /** The read models to maintain. Default: all of them. A subset is used to measure the cost of the other read models. */
  readonly projections?: readonly Projection[];
  /** Opens the event store. Default: EventStoreDB if the settings name one, otherwise the log in PostgreSQL. */
  readonly openStore?: (options: {
    url: string;
    eventStoreUrl: string | undefined;
    log: Logger;
    onBatch: (appends: number) => void;
    onFollowing: (follows: boolean) => void;
    onWritten: ((batch: WrittenBatch) => void) | undefined;
    onHeard: ((batch: WrittenBatch) => void) | undefined;
    hasPeers: boolean;
    onClosed: (error: LogClosed) => void;
  }) => Promise<EventStore>;
  /** Called once if the log is moved while this instance is running; the instance then has to stop. */
  readonly onLogClosed?: (error: LogClosed) => void;
  /** This process's part of the instance's work. Default: all of it. */
  readonly part?: Part;
  /** The other processes on this machine. Default: none. */
  readonly link?: Link;
}): Promise<App> {
  const {
    databaseUrl,
    log,
    projections = PROJECTIONS,
    openStore = openEventStore,
    part = ALONE,
    link,
  } = deps;
  const config = { ...deps.config, limits: shareLimits(deps.config.limits, part.sharers) };
  const share = (most: number): number => shareConnections(most, part.sharers);
  const pool = openPool(databaseUrl, { max: share(POOLS.requests), name: 'annal', ...STATEMENTS });
  const lockPool = openPool(databaseUrl, { max: share(POOLS.locks), name: 'annal criteria locks' });
  const metrics = createMetrics(link && { name: part.name, measure: () => link.measureOthers() });
  const { registry } = metrics;
  observeBuild(registry, VERSION);
  const subscriptions = new Subscriptions(registry);
  const tracing = await openTracing({ endpoint: config.otlpEndpoint, version: VERSION, log });
  const opened = await openStore({
    url: databaseUrl,
    eventStoreUrl: config.eventStoreUrl,
    log,
    onBatch: observeBatches(registry),
    onFollowing: subscriptions.following,
    onWritten: link && ((batch) => link.written(batch)),
    onHeard: link && ((batch) => link.heard(batch)),
    hasPeers: link !== undefined,
    onClosed(error) {
      log.fatal({ reason: error.message }, 'the event log was moved; this instance stops');
      deps.onLogClosed?.(error);
    },
  });
  const kind = logKind({ url: databaseUrl, eventStoreUrl: config.eventStoreUrl });
  const told = link === undefined ? opened : link.tellErasures(opened);
  const watch = new LogWatch({ store: observeStore(registry, told, { kind, subscriptions }), pool, log });
  const traffic = openTraffic({ databaseUrl, config, log });
  const waiting = metered(watch.guarded(), traffic.usage);
  let logAnswers = (): boolean => true;
  const store = answering(waiting, () => logAnswers());
  const ownLog = { client: pool, store, kind };
  try {
    await assertNotMoved(pool, kind === 'postgresql');
    await assertOwnLog(ownLog);
    if (part.prepares)
      await bringReadModelsUpToDate(pool, {
        ...{ store, databaseUrl, log, watch },
        answerMeanwhile: (say) => answerWhileStarting(config, say),
      });
    await noteLog(ownLog);
  } catch (error) {
    await Promise.all([store.close(), traffic.close(), pool.end()]);
    throw error;
  }

  if (part.leads) await sweepShadows(pool, log);

  const names = projections.map(({ name }) => name);
  const progress = new Progress({
    ...{ store: waiting, databaseUrl, projections, lateWrites: readLateWrites },
    ...{ others: link, listens: part.leads },
  });
  logAnswers = () => progress.logAnswers;
  const newer = new NewerEvents();
  const disks = new FullDisks();
  const { projects = names } = part;
  const runs = projections.filter(({ name }) => projects.includes(name));
  const runners = new Projector({ store, databaseUrl, projections: runs, progress, newer, log });
  const projector = { status: () => [...runners.status(), ...(link?.states() ?? [])] };
  const freshness = new Freshness({ pool, store, progress, projector, newer });
  await link?.start({
    states: () => runners.status(),
    newer,
    disks,
    measure: () => registry.getMetricsAsJSON(),
    progress,
  });
  runners.start();
  await progress.start();
  watch.start(() => progress.positions());
  // The instance should be ready only when reads work. Catching up after a crash may take longer; until then, reads return
  // 503.
  await progress.waitFor(await store.head(), names, CATCH_UP_MS);
  const base = `${config.baseUrl}/fhir/R4`;
  const snapshots = new PostgresSnapshots(pool);
  const pacing = new Pacing({
    passed: (position) => progress.waitFor(position, names, SHOWN_MS),
    stopped: () => freshness.stopped(names),
  });
  const appends = endableAppends(store);
  const written = paced(appends.store, pacing);
  const kernel = new Kernel(
    tracing === undefined
      ? written
      : traceStore(tracing, written, {
          system: kind,
          projections,
          passed: (position, name) => freshness.waitFor(position, [name]),
        }),
  );
  link?.takeBatches(
    (batch) => {
      kernel.hear(batch.events);
      if (!part.answers) opened.receive?.(batch);
    },
    () => kernel.forgetHeard(),
  );
  const resources = new Streams(kernel, RESOURCES, new SnapshotLoader(store, snapshots));
  const idempotency = openIdempotency(pool);
  const invitations = new Invitations(pool);
  const linkRows = new SharedLinks(pool);
  const visits = new RecordVisits(pool);
  const oauth = openOAuth({
    pool,
    issuer: config.baseUrl,
    refreshDays: config.refreshTokenDays,
    publicOnly: config.mode === 'production',
    log,
  });
  const ofProcesses = { store, pool, databaseUrl, logAnswers: () => logAnswers(), newer, log };
  const hooks = openWebhooks({ ...ofProcesses, config, registry: part.leads ? registry : undefined });
  const sandboxQueries = wrapCalls(openSandboxQueries(pool), refuseCostly);
  const consentQueries = openConsentQueries(pool, ownIssuer(config));
  const locks = observeLocks(registry, new PostgresCriteriaLocks(lockPool));
  const documents = await openDocuments({ config, pool, databaseUrl, log, events: store, locks });
  if (part.leads) documents.start();
  const accessLog = openAccessLog(databaseUrl, log, registry);
  const { carried, erasures, sandboxes } = openProcesses({
    ...ofProcesses,
    resources,
    snapshots,
    idempotency,
    requestLog: traffic.requestLog,
    documents,
    webhooks: hooks.process,
    deliveries: hooks.deliveries,
    manifests: new ContextManifests(pool),
    invitations,
    sharedLinks: linkRows,
    visits,
    takebacks: new Takebacks(pool),
    recordsBefore: sandboxQueries.recordsBefore,
    // A purge is finished when no search or list finds any of the purged data.
    waitFor: (position) => freshness.waitFor(position, [...RECORD_MODELS, 'search', 'timeline', 'consents']),
  });
  if (part.leads) {
    carried.start();
    erasures.start();
    await hooks.start();
  }
  const atHead = async (type: ResourceType): Promise<void> => {
    // Directory entries from a crashed transaction must be written before they can be matched.
    const { home } = typeEntry(type);
    const complete = home === 'record' || (await carried.hasPassed(await store.head(), CARRIED_MS));
    if (!complete) throw unavailable('the read model lags behind the log');
    await freshness.reachHead(['resources', 'search']);
  };

  const measured = observeQueries(registry);
  const asking = tracing === undefined ? measured : nestWrappers(tracing.around('query'), measured);
  const ready = terminologyReady(pool);
  const terminology = openTerminology(pool, ready);
  const writing = {
    resources,
    projects: new Streams(kernel, PROJECT),
    lookup: wrapCalls(
      openLookup(
        pool,
        `${base}/`,
        atHead,
        terminology,
        () => freshness.require(['resources']),
        loadUnwritten,
      ),
      asking,
    ),
    locks,
    settle: freshness.settle,
    contents: documents.contents,
    bases: [`${base}/`],
    erasure: { finished: (position: Position) => erasures.hasDone(position, ERASURE_MS) },
  };
  const plainCommands = openCommands(writing);
  const commands =
    tracing === undefined ? plainCommands : wrapCalls(plainCommands, tracing.around('command'));
  const {
    close: closeQueries,
    searches,
    ...questions
  } = openQueries(pool, terminology, ready, loadPast, part.sharers);
  const costing = nestWrappers(asking, refuseCostly);
  const queries = { ...wrapCalls(questions, costing), searches, close: closeQueries };
  const tokens = openTokens(pool);
  const checks = readinessChecks({ store, pool, watch, progress, newer, disks, models: names, link });
  observePools(registry, { requests: pool, searches, criteria_locks: lockPool, traffic: traffic.pool });
  traffic.observe(registry);
  observeIdempotency(registry, () => idempotency.running);
  const consents = await openConsent({
    pool,
    kernel,
    resources,
    locks,
    invitations,
    sharedLinks: linkRows,
    idsOfSector: consentQueries.idsOfSector,
    freshness,
  });
  const { endings, expiry } = openConsentProcesses({
    ...ofProcesses,
    consents,
    toEnd: consentQueries.toEnd,
    freshness,
  });
  const proposing = openProposals({ writing, queries: consentQueries, freshness, log });
  const trustEnding = openTrustEnding({ pool, kernel, freshness, log });
  if (part.leads) for (const each of [endings, expiry, proposing.endings, trustEnding]) each.start();
  const processes = [carried, erasures, sandboxes, hooks.process, endings];
  const followers = { pool, store, projector, progress, parked: carried.parked, processes };
  if (part.leads) observeFollowing(registry, followers);
  const { queue, ...administration } = openAdministration({
    pool,
    store,
    kernel,
    base,
    locks,
    freshness,
    sandboxPatients: config.sandboxPatients,
    config,
    waiting: sandboxQueries.sandboxesWaiting,
  });
  const { ssoClients: ssoClientsOf } = administration.adminQueries;
  const identities = await openIdentities({ config, pool, log, ssoClientsOf, warns: part.leads });
  const { verifier, devIssuer } = identities;
  const guests = openGuests({
    pool,
    commands: openGuestCommands(kernel),
    policy: { rule: config.clientMetadata, takesLocal: config.mode === 'development' },
    environment: config.mode === 'production' ? 'production' : 'sandbox',
    freshness,
  });
  const authorize = await openAuthorize({ pool, consents, queries: consentQueries, freshness, guests });
  const accessRequests = openAccessRequests({
    pool,
    issuer: config.baseUrl,
    refreshDays: config.refreshTokenDays,
    consents,
    queries: consentQueries,
    authorize,
    locks,
    freshness,
  });
  const linkParts = {
    pool,
    rows: linkRows,
    consents,
    consentQueries,
    queries,
    displays: terminology.displays,
    documents: documents.store,
    base: `${base}/`,
    ...{ newId: newUuid, now: nowMicros, accessLog },
    baseUrl: config.baseUrl,
    mostBytes: config.limits.answerBytes,
    ownerOf: (record: string) => readOwner(resources, record, []),
    freshness,
    log,
  };
  const sharedLinks = await openSharedLinkServices(linkParts);
  const swept = { idempotency, invitations, tokens: oauth, accessRequests: accessRequests.services };
  const sweeping = part.leads
    ? startSweeping({ ...{ pool, log, sharedLinks, guests }, ...swept })
    : undefined;
  const archiving = startArchiving({ pool, log });
  const signIn = openSignIn({ config, pool, identities, ssoOf: administration.adminQueries.readSso });
  const operations = openOperations({
    databaseUrl,
    config,
    mark: part.instance,
    version: VERSION,
    log,
    followers,
    documents: documents.store,
    issuers: () => verifier.issuers(),
    notices: () => [disks.notice, newer.notice].flatMap((notice) => notice ?? []),
  });
  const server = createServer({
    config,
    log,
    commands,
    queries,
    terminology,
    idempotency,
    traffic,
    freshness,
    accessLog,
    recordsOf: openOwningRecords(pool),
    edgeKeys: edgeKeys(await installationKey(pool, 'pairwise_key')),
    services: {
      ...administration,
      issueMemberToken: oauth.issueMemberToken,
      operations: operations.services,
      takebacks: openTakebacks(pool, operations.services.jobs),
      consentQueries,
      accessLog,
      ...wrapCalls({ accessLogOf: openAccessLogPages(pool), grantUseOf: openGrantUse(pool) }, refuseCostly),
      audit: openAudit({ pool, store, config }),
      consents,
      accessRequests: accessRequests.services,
      sharedLinks,
      receipts: openReceipts({ pool, store, documents: documents.store }),
      recordReads: openRecordReads(pool),
      proposals: proposing.proposals,
      config,
      commands,
      queries,
      logos: new ApplicationLogos(pool),
      describeCode: terminology.describe,
      concepts: openConcepts(pool, ready),
      displays: rememberDisplays(terminology.displays),
      findImplausible: bundledPlausibility(),
      freshness,
      documents,
      sessions: signIn.sessions,
      webhooks: await hooks.services({ kernel, locks, freshness }),
      sandboxes: openSandboxes({
        kernel,
        queries: sandboxQueries,
        usage: administration.adminQueries.usage,
        patients: config.sandboxPatients,
        queue,
      }),
    },
    identify: (credential) => verifier.verify(credential),
    findToken: tokens.findToken,
    devIssuer,
    signIn,
    authorize,
    linkOpening: await openOpening({ ...linkParts, sweep: sharedLinks.sweep }),
    patientPages: openPatientPages({ pool, store, config, visits }),
    oauth: {
      tokens: oauth.endpoints,
      authenticate: oauth.authenticate,
      identityGrant: openIdentityGrant({
        verify: (token) => verifier.verify(token),
        authorize,
        link: consents.link,
        patientsOfProject: openPatientsOfProject(pool),
        issueGrantTokens: oauth.issueGrantTokens,
        freshness,
      }),
      backchannel: accessRequests.endpoints,
      findClient: oauth.findClient,
      logoutHints: oauth.logoutHints,
      takesGuests: config.clientMetadata !== 'off',
    },
    checks,
    metrics,
    refusalOf: (error) => {
      disks.note(error);
      return toRefusal(error);
    },
    tracing: tracing?.requests,
  });

  return {
    async listen() {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(config.port, config.host, resolve);
      });
      if (part.leads) operations.start();
      const { port } = server.address() as AddressInfo;
      return { url: config.baseUrl.replace(/:0$/, `:${port}`) };
    },

    async quickstart() {
      const head = (): Promise<Position> => store.head();
      const projectsAt = () => progress.passed('projects');
      const begun = await quickstart({
        ...{ config, pool, kernel, queries, locks, head, projectsAt },
        waitFor: (position, models) => freshness.waitFor(position, models),
      });
      await noteLog(ownLog);
      if (part.leads) sandboxes.start();
      return begun;
    },

    startBackground() {
      if (!part.leads) return;
      sandboxes.start();
      operations.start();
    },

    async close() {
      const until = performance.now() + config.shutdownSeconds * DRAINING;
      const jobsStopped = operations.stop();
      await drain(server);
      carried.stop();
      erasures.stop();
      endings.stop();
      await expiry.stop();
      await proposing.endings.stop();
      await trustEnding.stop();
      await hooks.stop();
      sandboxes.stop();
      await appends.end();
      const left = Math.max(0, until - performance.now());
      const behind = await drainProjections({ store, projector: runners, progress }, left);
      if (behind.length > 0)
        log.warn({ projections: behind }, 'stopped before these read models reached the end of the log');
      await runners.stop();
      progress.stop();
      await watch.stop();
      await store.close();
      archiving.stop();
      sweeping?.stop();
      documents.close();
      await Promise.all([queries.close(), tokens.close(), jobsStopped]);
      await Promise.all([pool.end(), lockPool.end(), traffic.close(), accessLog.close(), tracing?.close()]);
    },
  };
}
