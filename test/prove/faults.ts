/** Stages that kill, stop and starve services and their stores. */
import type { Stage } from './stage.ts';

export const FAULT_STAGES: readonly Stage[] = [
  {
    name: 'kill',
    shows:
      'ten kills of the service under the load of random commands; purges, grants and carried entries stopped at each step',
    touches: [
      'commands/resource',
      'commands/record',
      'commands/*',
      'src/http/fhir',
      'src/operations',
      'src/processes',
      'src/sharing',
      'src/app',
      'src/*',
    ],
    run: {
      tests: [
        'test/faults/carried-match.test.ts',
        'test/faults/grants-killed.test.ts',
        'test/faults/kill.test.ts',
        'test/faults/purge-stopped.test.ts',
        'test/faults/purge.test.ts',
        'test/faults/retry.test.ts',
        'test/faults/revocation.test.ts',
      ],
    },
  },
  {
    name: 'takeback',
    shows:
      '50,000 of 1,000,000 events taken back and restored while others read and write, killed five times; nothing else changes',
    touches: ['commands/takeback', 'src/takeback', 'src/operations'],
    run: { tests: ['test/faults/takeback-killed.test.ts'] },
    alone: true,
  },
  {
    name: 'retry',
    shows:
      '53 kills between append and answer, of FHIR, v1 and admin requests, each retried with its Idempotency-Key: one write each',
    touches: [
      'commands/application',
      'commands/organization',
      'commands/project',
      'commands/*',
      'src/http/*',
      'src/http/answer',
      'src/http/server',
      'src/http/fhir',
      'src/http/rest',
      'src/http/admin',
      'src/operations',
      'src/processes',
    ],
    run: { tests: ['test/faults/retry-many.test.ts', 'test/faults/retry-admin.test.ts'] },
  },
  {
    name: 'access',
    shows:
      'the access log over 30 kills of two instances with 64 readers: every answer that was received is in it',
    touches: ['src/http/*', 'src/http/answer', 'src/http/server', 'src/operations', 'src/app'],
    run: { tests: ['test/faults/access-log-killed.test.ts'] },
  },
  {
    name: 'visible',
    shows: 'reads that follow a write, 1,000 times under load and across two instances',
    touches: [
      'queries',
      'src/http/*',
      'src/http/answer',
      'src/http/server',
      'src/http/fhir',
      'src/app',
      'src/operations',
    ],
    run: { tests: ['test/faults/visible.test.ts'] },
  },
  {
    name: 'webhooks',
    shows:
      '10,000 events to ten endpoints, three of which fail and two hang, through five kills: nothing lost, under 1 % twice',
    touches: ['commands/webhook', 'queries/webhooks', 'src/http/webhooks', 'src/reactions', 'src/processes'],
    run: { tests: ['test/faults/webhooks-killed.test.ts', 'test/faults/webhooks-instances.test.ts'] },
  },
  {
    name: 'soak',
    shows:
      'ten minutes of 64 clients at the edge of their rate limits, on two instances of which one is killed every minute',
    touches: [
      'src/http/*',
      'src/http/answer',
      'src/http/server',
      'src/http/fhir',
      'src/operations',
      'src/app',
    ],
    run: { tests: ['test/faults/soak.test.ts'] },
  },
  {
    name: 'failover',
    shows:
      'the primary of PostgreSQL killed six times under the load of two instances, its synchronous standby promoted: nothing acknowledged is lost or done twice, read models go on, and a standby answers nothing',
    touches: ['src/database', 'src/events/postgres', 'src/processes', 'projections', 'src/app'],
    run: { tests: ['test/faults/failover.test.ts'] },
  },
  {
    name: 'starts',
    shows:
      'starts and ends of the service, its command line and its database, also on the other supported versions of Node; a row of the bench',
    touches: ['bench', 'bin', 'src/*', 'src/app', 'src/cli'],
    run: {
      tests: [
        'test/faults/announced-store.test.ts',
        'test/faults/database-lost.test.ts',
        'test/faults/embedded.test.ts',
        'test/faults/lifecycle.test.ts',
        'test/faults/quickstart.test.ts',
        'test/http/cli-audit-access.test.ts',
        'test/http/cli-commands.test.ts',
        'test/http/cli-stopped.test.ts',
        'test/http/jobs.test.ts',
        'test/http/runtimes.test.ts',
        'test/http/tracing.test.ts',
        'test/unit/bench-smoke.test.ts',
        'test/http/bench-peers.test.ts',
      ],
    },
  },
  {
    name: 'logs',
    shows: 'logs that are moved, restored, replaced, scavenged and cut off from an instance',
    touches: ['src/app', 'src/audit', 'src/migrate-log', 'src/operations', 'src/processes'],
    run: {
      tests: [
        'test/faults/full-disk.test.ts',
        'test/faults/log-identity.test.ts',
        'test/faults/migrate-log.test.ts',
        'test/faults/restored-log.test.ts',
        'test/faults/scavenge.test.ts',
        'test/faults/store-cut-off.test.ts',
        'test/http/unreadable-events.test.ts',
        'test/unit/audit-export.test.ts',
      ],
    },
  },
];
