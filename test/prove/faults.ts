/** Stages that kill, stop and starve services and their stores. */
import type { Stage } from './stage.ts';

export const FAULT_STAGES: readonly Stage[] = [
  {
    name: 'kill',
    shows:
      'ten kills of the service under a load of random commands; purges, grants and carried entries that are stopped at each step',
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
      '50,000 of 1,000,000 events are taken back and restored while other clients read and write, with five kills; nothing else changes',
    touches: ['commands/takeback', 'src/takeback', 'src/operations'],
    run: { tests: ['test/faults/takeback-killed.test.ts'] },
    alone: true,
  },
  {
    name: 'retry',
    shows:
      '53 kills between append and response, during FHIR, v1 and admin requests, each of which is retried with its Idempotency-Key: one write each',
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
      'the access log after 30 kills of two instances with 64 readers: it contains every response that was received',
    touches: ['src/http/*', 'src/http/answer', 'src/http/server', 'src/operations', 'src/app'],
    run: { tests: ['test/faults/access-log-killed.test.ts'] },
  },
  {
    name: 'visible',
    shows: 'reads that follow a write and see it, 1,000 times under load and across two instances',
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
      '10,000 events sent to ten endpoints, three of which fail and two of which hang, through five kills: none is lost, and less than 1 % arrive twice',
    touches: ['commands/webhook', 'queries/webhooks', 'src/http/webhooks', 'src/reactions', 'src/processes'],
    run: { tests: ['test/faults/webhooks-killed.test.ts', 'test/faults/webhooks-instances.test.ts'] },
  },
  {
    name: 'soak',
    shows:
      'ten minutes with 64 clients at the edge of their rate limits, on two instances, one of which is killed every minute',
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
      'PostgreSQL’s primary is killed six times under the load of two instances, and its synchronous standby is promoted: no acknowledged write is lost or done twice, read models continue, and the service uses no standby',
    touches: ['src/database', 'src/events/postgres', 'src/processes', 'projections', 'src/app'],
    run: { tests: ['test/faults/failover.test.ts'] },
  },
  {
    name: 'starts',
    shows:
      'how the service, its command line and its database start and stop, including on the other supported versions of Node; a row of the bench',
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
