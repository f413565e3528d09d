/** `GET /admin/operations/health`: lists what needs attention, and what to do about it. */
import { z } from 'zod';
import type { InstanceRow } from '#queries/admin/operations.ts';
import type { NamedProductionRequest } from '#queries/admin/production.ts';
import type { Job } from '#src/shared/job.ts';
import { isObject } from '#src/shared/json/json.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { instant } from '../../api/schemas.ts';
import type { FollowerStates, IssuerState } from '../../ports/operations.ts';
import { toInstantOrNull } from '../answers.ts';
import { JOB } from './jobs.ts';
import { operatorRoute } from './route.ts';

const CODES = [
  'log_away',
  'requests_failing',
  'notice',
  'read_model_missing',
  'read_model_outdated',
  'read_model_failed',
  'read_model_behind',
  'process_behind',
  'parked_events',
  'rebuild_failed',
  'verification_faults',
  'issuer_away',
  'production_requests',
  'instance_lost',
  'versions_differ',
] as const;

const need = z
  .object({
    code: z.enum(CODES),
    urgent: z.boolean().describe('True if requests fail or data wait until someone acts.'),
    subject: z.string().nullable().describe('The name of the read model, process, issuer or instance.'),
    count: z.int().nullable(),
    since: instant.nullable(),
    message: z.string().describe('What is wrong.'),
    action: z.string().describe('What to do.'),
    where: z.string().describe('The list below `/admin/operations` that shows the problem.'),
  })
  .meta({ id: 'OperationsNeed' });

type Need = z.input<typeof need>;

const health = z
  .object({
    status: z.enum(['well', 'watch', 'act']).describe('`act`: something is urgent.'),
    data: z.array(need).describe('Urgent needs come first.'),
    log_head: z.string().nullable().describe('Position of the newest event; null if the log doesn’t answer.'),
    last_verification: z
      .object({
        id: z.string(),
        status: JOB.status,
        faults: z.int().nullable().describe('Null until the verification is done.'),
        finished_at: instant.nullable(),
      })
      .nullable()
      .describe('The newest verification of the whole installation that was started over HTTP.'),
  })
  .meta({ id: 'OperationsHealth' });

/** The lag, in seconds, above which a read model or process needs attention. */
const BEHIND_S = 60;

/** How long after it happens a failed request needs attention, in microseconds. */
const LATELY = 900_000_000;
/** The number of failed requests at which they become urgent. */
const MANY_FAILED = 10;

/** The state of the installation. */
export interface Known {
  readonly followers: FollowerStates;
  readonly failed: readonly Job[];
  /** The newest verification of everything that has a report. */
  readonly verified: Job | undefined;
  readonly requests: readonly NamedProductionRequest[];
  readonly instances: readonly InstanceRow[];
  readonly issuers: readonly IssuerState[];
  readonly notices: readonly string[];
  /** How many requests got a 5xx response within `LATELY`. */
  readonly failing: number;
  /** Microseconds. */
  readonly now: number;
}

/** Returns everything that needs attention, with urgent items first. */
export function findNeeds(known: Known): Need[] {
  const needs = [
    ...needsOfLog(known),
    ...needsOfRequests(known),
    ...known.followers.readModels.flatMap(needsOfModel),
    ...known.followers.processes.flatMap(needsOfProcess),
    ...needsOfJobs(known),
    ...needsOfVerification(known),
    ...needsOfIssuers(known),
    ...needsOfProjects(known),
    ...needsOfInstances(known),
  ];
  return needs.sort((a, b) => Number(b.urgent) - Number(a.urgent));
}

function make(needed: Pick<Need, 'code' | 'message' | 'action' | 'where'> & Partial<Need>): Need {
  return { urgent: false, subject: null, count: null, since: null, ...needed };
}

function needsOfLog({ followers, notices }: Known): Need[] {
  const away =
    followers.head === undefined
      ? [
          make({
            code: 'log_away',
            urgent: true,
            message: 'The event log doesn’t answer: writes fail.',
            action: 'Check the database or the EventStoreDB that EVENTSTORE_URL names.',
            where: 'instances',
          }),
        ]
      : [];
  return [
    ...away,
    ...notices.map((notice) =>
      make({
        code: 'notice',
        urgent: true,
        message: notice,
        action: 'Do what it says; other instances may need the same.',
        where: 'instances',
      }),
    ),
  ];
}

function needsOfModel(model: FollowerStates['readModels'][number]): Need[] {
  const { name, state, lag, stale, failure } = model;
  const about = { subject: name, urgent: true, where: 'read-models' };
  if (state === 'rebuilding')
    return stale
      ? [
          make({
            ...about,
            code: 'read_model_behind',
            // Nobody has to act.
            urgent: false,
            message: `Reads that need the read model ${name} fail until it is rebuilt.`,
            action: 'Wait for the rebuild; its progress is shown with the read models.',
          }),
        ]
      : [];
  if (state === 'missing')
    return [
      make({
        ...about,
        code: 'read_model_missing',
        message: `The read model ${name} has no tables: reads that need it fail.`,
        action: 'Rebuild it.',
      }),
    ];
  if (state === 'outdated')
    return [
      make({
        ...about,
        code: 'read_model_outdated',
        message: `A different version of Annal made the tables of the read model ${name}.`,
        action: 'Upgrade all instances to the same version; the first start of the new one rebuilds it.',
      }),
    ];
  if (state === 'failed')
    return [
      make({
        ...about,
        code: 'read_model_failed',
        message: `The read model ${name} stopped at an event that it can’t apply: ${failure ?? 'unknown reason'}.`,
        action: 'Run `annal verify`; if the event is intact, this is a fault in Annal: report it.',
      }),
    ];
  if (lag === undefined || (lag.seconds < BEHIND_S && !stale)) return [];
  return [
    make({
      ...about,
      code: 'read_model_behind',
      urgent: stale,
      count: lag.events,
      message: `The read model ${name} is ${Math.round(lag.seconds)} s behind the log${stale ? ', and reads that need it fail' : ''}.`,
      action: 'If it is catching up, wait; otherwise look at the log of the instance that runs it.',
    }),
  ];
}

function needsOfProcess({ name, lag, parked }: FollowerStates['processes'][number]): Need[] {
  const needs: Need[] = [];
  if (lag !== undefined && lag.seconds >= BEHIND_S)
    needs.push(
      make({
        code: 'process_behind',
        subject: name,
        count: lag.events,
        message: `The process ${name} is ${Math.round(lag.seconds)} s behind the log.`,
        action: 'If it is catching up, wait; otherwise look at the log of the instance that runs it.',
        where: 'processes',
      }),
    );
  if (parked > 0)
    needs.push(
      make({
        code: 'parked_events',
        subject: name,
        urgent: true,
        count: parked,
        message: `The process ${name} could not handle ${parked === 1 ? 'an event' : `${parked} events`}.`,
        action: 'Read the errors, remove the cause, and retry them.',
        where: 'parked',
      }),
    );
  return needs;
}

function needsOfJobs({ failed }: Known): Need[] {
  return failed.map(({ subject, error, finished_at }) =>
    make({
      code: 'rebuild_failed',
      subject,
      since: toInstantOrNull(finished_at),
      message: `A rebuild of ${subject} failed: ${error ?? 'unknown reason'}.`,
      action: 'Remove the cause, and start it again.',
      where: 'rebuilds',
    }),
  );
}

function needsOfVerification({ verified }: Known): Need[] {
  const faults = readFaults(verified) ?? 0;
  if (verified === undefined || faults === 0) return [];
  return [
    make({
      code: 'verification_faults',
      urgent: true,
      count: faults,
      since: toInstantOrNull(verified.finished_at),
      message: `The last verification of everything found ${faults === 1 ? 'a fault' : `${faults} faults`}.`,
      action: 'Read its report, which names each cause. docs/audit.md says what each cause means.',
      where: 'verifications',
    }),
  ];
}

function needsOfRequests({ failing }: Known): Need[] {
  if (failing === 0) return [];
  return [
    make({
      code: 'requests_failing',
      urgent: failing >= MANY_FAILED,
      count: failing,
      message: `${failing === 1 ? 'A request' : `${failing} requests`} failed (5xx) within the last quarter of an hour.`,
      action:
        'See which routes and projects they concern. The instance’s log has the error with the request’s id.',
      where: 'failed-requests',
    }),
  ];
}

/** Returns the number of faults that a verification found; null until it has a report. */
function readFaults(job: Job | undefined): number | null {
  return isObject(job?.result) && typeof job.result.faults === 'number' ? job.result.faults : null;
}

function needsOfIssuers({ issuers }: Known): Need[] {
  return issuers.flatMap(({ issuer, audiences, failure, keys }) => {
    if (failure === undefined || audiences === undefined) return [];
    const message =
      keys.length === 0
        ? `The keys of ${issuer} can’t be fetched: nobody can sign in there. ${failure.message}`
        : `The keys of ${issuer} can’t be fetched; known keys work for a day. ${failure.message}`;
    return [
      make({
        code: 'issuer_away',
        subject: issuer,
        urgent: keys.length === 0,
        since: toInstant(failure.at * 1_000),
        message,
        action: 'Check the issuer, and check that this instance can reach it.',
        where: 'issuers',
      }),
    ];
  });
}

function needsOfProjects({ requests }: Known): Need[] {
  const waiting = requests.filter(({ status }) => status === 'pending');
  const [oldest] = waiting;
  if (oldest === undefined) return [];
  return [
    make({
      code: 'production_requests',
      count: waiting.length,
      since: toInstant(oldest.created_at),
      message: `${waiting.length === 1 ? 'A project is waiting' : `${waiting.length} projects are waiting`} for production access.`,
      action: 'Allow or refuse the request.',
      where: 'production-requests',
    }),
  ];
}

const HOUR = 3_600_000_000;

function needsOfInstances({ instances, now }: Known): Need[] {
  const lost = instances.filter(({ alive, seen_at }) => !alive && now - seen_at < HOUR);
  const versions = [...new Set(instances.filter(({ alive }) => alive).map(({ version }) => version))].sort();
  return [
    ...lost.map(({ id, host, seen_at }) =>
      make({
        code: 'instance_lost',
        subject: host,
        since: toInstant(seen_at),
        message: `The instance ${id} on ${host} ended without shutting down cleanly.`,
        action: 'Look at its log. If another instance has replaced it, there is nothing to do.',
        where: 'instances',
      }),
    ),
    ...(versions.length > 1
      ? [
          make({
            code: 'versions_differ',
            subject: versions.join(', '),
            message: `Instances run the versions ${versions.join(' and ')}.`,
            action: 'Upgrade all of them to the newest version.',
            where: 'instances',
          }),
        ]
      : []),
  ];
}

/** Its route. */
export const HEALTH_ROUTES = [
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/health',
    operationId: 'getOperationsHealth',
    summary: 'What needs attention, and what to do',
    description: 'For people; `/health/ready` is for load balancers.',
    answers: { 200: { description: 'The needs, urgent ones first', schema: health } },
    async run({ services, now }) {
      const { operations, adminQueries } = services;
      const at = now();
      const lately = { from: at - LATELY, to: at };
      const [followers, failed, requests, instances, issuers, verification, hours] = await Promise.all([
        operations.followers(),
        adminQueries.failedJobs('rebuild'),
        adminQueries.allProductionRequests(),
        adminQueries.instances(),
        operations.issuers(),
        adminQueries.jobs('verification', { limit: 20 }, 'all'),
        adminQueries.failedHours(lately),
      ]);
      const notices = operations.notices();
      const [whole] = verification.rows;
      const verified = verification.rows.find((job) => readFaults(job) !== null);
      const failing = hours.reduce((sum, hour) => sum + hour.failed, 0);
      const known = { followers, failed, verified, requests, instances, issuers, notices, failing };
      const data = findNeeds({ now: at, ...known });
      const body: z.input<typeof health> = {
        status: data.length === 0 ? 'well' : data.some(({ urgent }) => urgent) ? 'act' : 'watch',
        data,
        log_head: followers.head ?? null,
        last_verification:
          whole === undefined
            ? null
            : {
                id: whole.id,
                status: whole.status,
                faults: readFaults(whole),
                finished_at: toInstantOrNull(whole.finished_at),
              },
      };
      return { status: 200, body };
    },
  }),
];
