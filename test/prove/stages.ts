/** The stages of `npm run prove`: the tests of `npm test` that support full size, at that size, and the bench. */

import { FAULT_STAGES } from './faults.ts';
import type { Stage } from './stage.ts';

/** Code that triggers every stage when it changes, because everything else depends on it. */
export const RUN_ALL: readonly string[] = [
  'commands/kernel',
  'package.json',
  'projections',
  'src/database',
  'src/events',
  'src/freshness',
  'src/migrations',
  'src/shared',
];

/** Settings for stages that run tests at the size of `npm test`, with each service running as two workers and a projector. */
const OF_WORKERS = { WORKERS: '2', PROJECTORS: '1' } as const;
/** Code that triggers such a stage when it changes, because it keeps state in its process, or starts and connects processes. */
const JOINED = [
  'src/app',
  'src/http/*',
  'src/http/answer',
  'src/http/server',
  'src/machine',
  'src/operations',
  'src/processes',
  'src/reactions',
  'src/*',
  'test/support/in-process.ts',
  'test/support/service.ts',
] as const;

/** The stages, in the order in which they run. */
export const STAGES: readonly Stage[] = [
  ...FAULT_STAGES,
  {
    name: 'contract',
    shows: 'the contract of the event store, with load tests ten times as long',
    touches: ['src/documents'],
    run: {
      tests: [
        'test/contract/eventstoredb*.test.ts',
        'test/contract/memory.test.ts',
        'test/contract/postgres*.test.ts',
      ],
    },
    env: { ANNAL_CONTRACT_LOAD: '10', ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'commands',
    shows: '10,000 random commands by 16 clients, compared with a plain model',
    touches: [
      'commands/resource',
      'commands/record',
      'commands/directory',
      'commands/*',
      'src/fhir',
      'src/http/fhir',
      'src/operations',
    ],
    run: { tests: ['test/properties/commands.test.ts'] },
  },
  {
    name: 'simulation',
    shows:
      '10,000 seeds with three instances, without PostgreSQL or sockets, under faults: each acknowledged write is stored once, and no read is stale',
    touches: [
      'commands/resource',
      'commands/directory',
      'src/machine',
      'src/http/idempotency.ts',
      'test/contract/event-store',
    ],
    run: { tests: ['test/simulation/*.test.ts'] },
  },
  {
    name: 'consent',
    shows: 'a grant on a record of 100,000 events takes at most twice as long as a grant on a record of ten',
    touches: ['commands/consent'],
    run: { tests: ['test/commands/consent-scale.test.ts'] },
  },
  {
    name: 'isolation',
    shows:
      '5,000 random requests for ids in another project or environment, 1,500 by people for other people’s records, 3,000 for receipts and take-backs, and 3,000 calls of assistants’ tools: each returns the same response as for an id that never existed',
    touches: [
      'queries',
      'src/http',
      'src/app',
      'src/mcp',
      'src/oauth',
      'src/identity',
      'src/sharing',
      'src/*',
    ],
    run: {
      tests: [
        'test/properties/isolation.test.ts',
        'test/properties/gateway-isolation.test.ts',
        'test/properties/receipts-isolation.test.ts',
        'test/properties/mcp-isolation.test.ts',
      ],
    },
  },
  {
    name: 'grants',
    shows:
      'random records, grants and requests on every route: responses match those for an owner who has only the data that the grant covers; random writes change only data that the grant covers; a revocation ends reads',
    touches: [
      'commands/consent',
      'queries',
      'src/http/fhir',
      'src/http/grant',
      'src/http/rest',
      'src/http/edge',
      'src/clinical',
      'src/context',
      'src/insight',
      'src/oauth',
      'src/sharing',
    ],
    run: {
      tests: [
        'test/properties/grants.test.ts',
        'test/properties/grants-both-ways.test.ts',
        'test/properties/grant-writes.test.ts',
        'test/http/grant-gate.test.ts',
        'test/http/grant-revocation.test.ts',
      ],
    },
  },
  {
    name: 'as-of',
    shows:
      'responses recorded in 40 random histories of records are the same when they are requested again as of their times, after later writes and under grants, 1,000 of them after a rebuild of all read models; the response times for a record of 2,000 resources',
    touches: ['queries', 'src/http/fhir', 'src/http/rest', 'src/clinical', 'src/context'],
    run: {
      tests: [
        'test/properties/as-of.test.ts',
        'test/http/as-of-cost.test.ts',
        'test/http/admin-record-cost.test.ts',
      ],
    },
  },
  {
    name: 'receipts',
    shows: '10,000 receipts from two versions of the program: all responses are reproduced byte for byte',
    touches: [
      'src/receipts',
      'src/app',
      'src/clinical',
      'src/context',
      'src/mcp',
      'src/shl',
      'src/operations',
      'src/http/edge',
      'src/http/mcp',
      'queries',
    ],
    run: { tests: ['test/receipts/two-versions.test.ts'] },
  },
  {
    name: 'dashboard',
    shows:
      'the dashboard’s log with 100,000 requests at a quarter of the processor’s speed: how fast the first page arrives and is painted, and no long task during scrolling; the same for a record of 2,000 resources and a timeline of 10,000 entries',
    touches: ['dashboard', 'src/http/app', 'queries/admin', 'clients/typescript'],
    run: { tests: ['test/browser/dashboard-large.test.ts', 'test/browser/dashboard-record.test.ts'] },
  },
  {
    name: 'access-requests',
    shows:
      '1,000 requests for access that don’t reveal who exists; 80 random histories of such requests on two instances; 10 kills during approvals: each approval creates one grant',
    touches: [
      'commands/consent',
      'queries/consents',
      'src/http/oauth',
      'src/http/me',
      'src/oauth',
      'src/sharing',
      'src/identity',
    ],
    run: {
      tests: [
        'test/http/ciba-oracle.test.ts',
        'test/properties/access-requests.test.ts',
        'test/faults/access-requests-killed.test.ts',
      ],
    },
  },
  {
    name: 'tokens',
    shows: '40 random histories of authorization codes and refresh tokens on two instances that are killed',
    touches: ['src/http/oauth', 'src/oauth', 'src/operations'],
    run: { tests: ['test/properties/oauth-tokens.test.ts'] },
  },
  {
    name: 'proposals',
    shows: '60 random histories of proposals on two instances; 24 kills around their appends',
    touches: ['commands/proposal', 'src/http/rest', 'src/http/me', 'src/reactions', 'src/sharing'],
    run: { tests: ['test/properties/proposals.test.ts', 'test/faults/proposals-killed.test.ts'] },
  },
  {
    name: 'shared-links',
    shows:
      '40 random histories of shared links on two instances; 15 kills while links are created and passcodes are entered',
    touches: ['src/shl', 'src/http/shl', 'src/operations', 'src/clinical', 'src/documents'],
    run: { tests: ['test/properties/shared-links.test.ts', 'test/faults/shared-links-killed.test.ts'] },
  },
  {
    name: 'mcp',
    shows:
      'under 100 random choices of scopes, each tool of /mcp shows what the interfaces show, and nothing else',
    touches: ['src/mcp', 'src/http/mcp', 'src/http/grant', 'src/http/rest', 'src/http/fhir'],
    run: { tests: ['test/properties/mcp-consent.test.ts', 'test/http/mcp.test.ts'] },
  },
  {
    name: 'machine',
    shows:
      'several processes on a machine that are killed, run out of memory, are replaced under requests, and end with the primary; 100,000 reads and writes while processes are killed and stopped: a single order explains all of them',
    touches: ['src/machine', 'src/*'],
    run: { tests: ['test/machine/*.test.ts'] },
  },
  {
    name: 'workers-a-g',
    shows: 'the HTTP suite, files a to g, and the isolation tests, with two workers and a projector',
    touches: JOINED,
    run: { tests: ['test/http/[a-g]*.test.ts', 'test/properties/*isolation.test.ts'] },
    env: OF_WORKERS,
  },
  {
    name: 'workers-h-z',
    shows: 'the HTTP suite, files h to z, with two workers and a projector',
    touches: JOINED,
    run: { tests: ['test/http/[h-z]*.test.ts'] },
    env: OF_WORKERS,
  },
  {
    name: 'client',
    shows: 'the TypeScript client runs the flows of the docs in Node 20, 22 and 24, Deno and Bun',
    touches: ['clients/typescript', 'tools/client', 'docs/examples'],
    run: { tests: ['test/client/*.test.ts'] },
  },
  {
    name: 'pages',
    shows: 'every page in a browser: both themes, three sizes, all languages, with and without scripts',
    touches: [
      'dashboard',
      'src/http/app',
      'src/http/pages',
      'src/http/patient',
      'src/http/signin',
      'src/http/oauth',
      'src/http/docs',
      'src/http/shl',
      'src/http/start',
      'src/http/dev-issuer',
      'src/dev-issuer',
      'src/signin',
      'src/clinical',
    ],
    run: { tests: ['test/browser/*.test.ts', 'test/http/patient-pages.test.ts'] },
  },
  {
    name: 'search',
    shows:
      '4,800 random searches, compared with a naive evaluation; paging through 5,000 results under 8 writers; tallies that match counts while runners move and read models are rebuilt',
    touches: [
      'queries/*',
      'queries/database',
      'queries/history',
      'queries/search',
      'queries/include',
      'queries/terminology',
      'src/fhir',
      'src/http/fhir',
      'src/terminology',
    ],
    run: {
      tests: [
        'test/properties/search.test.ts',
        'test/http/fhir-capability.test.ts',
        'test/http/search-paging.test.ts',
        'test/queries/sort.test.ts',
        'test/search/cases.test.ts',
        'test/unit/patch-effort.test.ts',
        'test/properties/tallies.test.ts',
      ],
    },
  },
  {
    name: 'sandbox',
    shows:
      'synthetic patients from 1,000 seeds, checked against forty rules; the cost of filling a sandbox; resets that are killed',
    touches: ['commands/sandbox', 'src/sandbox', 'queries/admin', 'src/processes'],
    alone: true,
    run: {
      tests: [
        'test/unit/sandbox.test.ts',
        'test/http/sandbox.test.ts',
        'test/http/sandbox-cost.test.ts',
        'test/faults/sandbox.test.ts',
      ],
    },
  },
  {
    name: 'insight',
    shows:
      'the share of trends, changes, gaps and associations that are found after they were planted in 2,800 of 4,000 new synthetic records, and the findings in the noise of the other records, with 95 % intervals',
    touches: ['queries/insight', 'src/insight', 'src/clinical/reading'],
    alone: true,
    run: { tests: ['test/insight/*.test.ts'] },
  },
  {
    name: 'reading',
    shows:
      'each view of 300 varied records and of Synthea’s records matches a second reading of the raw JSON; contexts stay within their bounds; searches find terms',
    touches: [
      'queries/context',
      'queries/summary',
      'queries/terminology',
      'src/clinical',
      'src/context',
      'src/terminology',
    ],
    run: {
      tests: [
        'test/reading/*.test.ts',
        'test/context/properties.test.ts',
        'test/context/recall.test.ts',
        'test/http/context-held.test.ts',
        'test/terminology/find.test.ts',
      ],
    },
  },
  {
    name: 'checkpoint',
    shows: 'a checkpoint of 500,000 streams, created and proved without memory that grows with their number',
    touches: ['src/audit', 'src/app/audit', 'src/http/admin/audit'],
    run: {
      tests: [
        'test/projections/checkpoint-scale.test.ts',
        'test/projections/verify-operations.test.ts',
        'test/http/audit-exports.test.ts',
        'test/unit/audit-export.test.ts',
      ],
    },
  },
  {
    name: 'limits',
    shows:
      'rate limits of 600 a minute on one instance and on two together; 300,000 addresses in bounded memory',
    touches: ['src/http/*', 'src/http/answer', 'src/http/server', 'src/operations', 'src/app'],
    alone: true,
    run: { tests: ['test/http/limits.test.ts', 'test/http/limits-shared.test.ts'] },
  },
  {
    name: 'loop',
    shows:
      'bodies as large as the service accepts, and reads of large records: none blocks the event loop for 250 ms',
    touches: [
      'queries',
      'src/http',
      'src/fhir',
      'src/clinical',
      'src/context',
      'src/labs',
      'src/terminology',
    ],
    alone: true,
    run: {
      tests: [
        'test/http/event-loop.test.ts',
        'test/http/shared-links-large.test.ts',
        'test/http/body-memory.test.ts',
      ],
    },
  },
  {
    name: 'interfaces',
    shows:
      'the service does what the documentation shows: pages for newcomers, examples and generated clients; slow readers of large responses',
    touches: [
      'README.md',
      'docs/connect.md',
      'docs/first-app.md',
      'docs/labs.md',
      'docs/quickstart.md',
      'docs/shared-links.md',
      'src/http',
      'src/cli',
    ],
    run: {
      tests: [
        'test/http/answer-sending.test.ts',
        'test/http/docs-examples.test.ts',
        'test/http/generators.test.ts',
        'test/http/readme.test.ts',
      ],
    },
  },
  {
    name: 'waits',
    shows:
      'tests that take long: time limits of databases, issuers, webhooks and grants; many proposals, take-backs and jobs; the files that a request uses',
    touches: [
      'queries/rest',
      'src/http',
      'src/http/*',
      'src/operations',
      'src/reactions',
      'src/sharing',
      'src/takeback',
      'src/cli',
    ],
    run: {
      tests: [
        'test/http/docs-page.test.ts',
        'test/http/fhir-references.test.ts',
        'test/http/fhir-search-limits.test.ts',
        'test/http/grants-end.test.ts',
        'test/http/guests.test.ts',
        'test/http/identity-issuer-faults.test.ts',
        'test/http/labs.test.ts',
        'test/http/operations.test.ts',
        'test/http/proposals.test.ts',
        'test/http/read-models-dropped.test.ts',
        'test/http/request-files.test.ts',
        'test/http/request-log.test.ts',
        'test/http/rest-documents.test.ts',
        'test/http/sign-in-issuers.test.ts',
        'test/http/takebacks.test.ts',
        'test/http/webhooks-delivery.test.ts',
        'test/unit/profiles-ips-faults.test.ts',
        'test/unit/search-hashes.test.ts',
      ],
    },
  },
  {
    name: 'runners',
    shows: 'runners that hang, rebuilds that are stopped, and tallies that are compared during writes',
    touches: ['projections', 'src/cli', 'src/audit'],
    run: {
      tests: [
        'test/projections/projector.test.ts',
        'test/projections/rebuild-command.test.ts',
        'test/projections/rebuild.test.ts',
        'test/projections/rebuild-interrupted.test.ts',
        'test/projections/verify-tallies.test.ts',
        'test/queries/sort.test.ts',
      ],
    },
  },
  {
    name: 'labs',
    shows: '100,000 damaged laboratory messages: each is refused with a reason or becomes valid resources',
    touches: ['src/labs'],
    run: { tests: ['test/properties/labs.test.ts'] },
  },
  {
    name: 'documents',
    shows:
      'four documents of 100 MB uploaded and downloaded at once, in less than 50 MB of additional memory; a service killed after the bytes are stored and before the event is',
    touches: ['commands/document', 'src/documents', 'src/http/rest'],
    alone: true,
    run: { tests: ['test/faults/documents-killed.test.ts', 'test/contract/document-store.test.ts'] },
  },
  {
    name: 'import',
    shows: 'the import of real patient bundles, with every count and reference checked',
    touches: ['src/cli/import'],
    run: { tests: ['test/http/cli-import.test.ts'] },
  },
  {
    name: 'rebuild',
    shows: 'a rebuild of 1,000,000 events while clients read from the service: no read fails, no row differs',
    touches: ['bench'],
    run: { bench: ['--only', 'beside', '--scale', '10', '--runs', '1'] },
  },
  {
    name: 'bench',
    shows: 'every row of the performance table at half its size, in one run',
    touches: ['bench'],
    run: { bench: ['--scale', '0.5', '--runs', '1'] },
  },
];
