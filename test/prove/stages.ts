/** What `npm run prove` runs: the tests of `npm test` that have a full size, at it, and the bench. */

/** A part of the proof: a program, with what makes it full size. */
export interface Stage {
  /** For the command line. */
  readonly name: string;
  /** What it shows. */
  readonly shows: string;
  /** Test files for mocha, or the bench's arguments. */
  readonly run: { readonly tests: readonly string[] } | { readonly bench: readonly string[] };
  readonly env?: Readonly<Record<string, string>>;
}

/** In the order in which they run. */
export const STAGES: readonly Stage[] = [
  {
    name: 'contract',
    shows: 'the contract of the event store, load tests twenty times as long',
    run: { tests: ['test/contract/*.test.ts'] },
    env: { ANNAL_CONTRACT_LOAD: '20' },
  },
  {
    name: 'commands',
    shows: '10,000 random commands by 16 clients against a plain model',
    run: { tests: ['test/properties/commands.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'kill',
    shows: 'ten kills of the service under that load',
    run: { tests: ['test/faults/kill.test.ts', 'test/faults/retry.test.ts', 'test/faults/purge.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'retry',
    shows:
      '98 kills between append and answer, of FHIR, v1 and admin requests, each retried with its Idempotency-Key: one write each',
    run: { tests: ['test/faults/retry-many.test.ts', 'test/faults/retry-admin.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'access',
    shows:
      'the access log over 30 kills of two instances with 64 readers: every answer that was received is in it',
    run: { tests: ['test/faults/access-log-killed.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'consent',
    shows: 'a grant on a record of 100,000 events takes at most twice the time of one on a record of ten',
    run: { tests: ['test/commands/consent-scale.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'isolation',
    shows:
      '10,000 random requests about ids of another project or environment, and 3,000 of people about records that aren’t theirs, answered as for ids that never were',
    run: { tests: ['test/properties/isolation.test.ts', 'test/properties/gateway-isolation.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'grants',
    shows:
      'random records, grants and requests at every route: answers equal those of an owner who has only what the grant covers; random writes change what the grant covers and nothing else; reads end with a revocation',
    run: {
      tests: [
        'test/properties/grants.test.ts',
        'test/properties/grant-writes.test.ts',
        'test/http/grant-revocation.test.ts',
      ],
    },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'access-requests',
    shows:
      '1,000 requests for access that tell nothing of who exists; 200 random lives of such requests on two instances; 20 kills of approvals: one grant for each',
    run: {
      tests: [
        'test/http/ciba-oracle.test.ts',
        'test/properties/access-requests.test.ts',
        'test/faults/access-requests-killed.test.ts',
      ],
    },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'tokens',
    shows: '40 random lives of authorization codes and refresh tokens on two instances that are killed',
    run: { tests: ['test/properties/oauth-tokens.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'proposals',
    shows: '200 random lives of proposals on two instances; 60 kills around their appends',
    run: { tests: ['test/properties/proposals.test.ts', 'test/faults/proposals-killed.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'shared-links',
    shows: '40 random lives of shared links on two instances; 30 kills at their creation and at passcodes',
    run: { tests: ['test/properties/shared-links.test.ts', 'test/faults/shared-links-killed.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'pages',
    shows: 'every page in a browser: both themes, three sizes, all languages, with scripts and without',
    run: { tests: ['test/browser/*.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'webhooks',
    shows:
      '10,000 events to ten endpoints, three of which fail and two hang, through five kills: nothing lost, under 1 % twice',
    run: { tests: ['test/faults/webhooks-killed.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'visible',
    shows: 'reads that follow a write, 2,000 times under load and across two instances',
    run: { tests: ['test/faults/visible.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'search',
    shows: '9,000 random searches against a naive evaluation; pages through 5,000 results under 8 writers',
    run: { tests: ['test/properties/search.test.ts', 'test/http/search-paging.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'sandbox',
    shows:
      'synthetic patients of 1,000 seeds, held to forty rules; what filling a sandbox costs; resets that are killed',
    run: {
      tests: [
        'test/unit/sandbox.test.ts',
        'test/http/sandbox.test.ts',
        'test/http/sandbox-cost.test.ts',
        'test/faults/sandbox.test.ts',
      ],
    },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'insight',
    shows:
      'trends, changes, gaps and associations that were planted in 2,800 of 4,000 fresh synthetic records, and what is found in the noise of the others, with 95 % intervals',
    run: { tests: ['test/insight/exam.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'checkpoint',
    shows: 'a checkpoint of 1,000,000 streams, made and proved in memory that does not grow with them',
    run: { tests: ['test/projections/checkpoint-scale.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'limits',
    shows:
      'rate limits of 600 a minute on one instance and on two together; a million addresses in bounded memory',
    run: { tests: ['test/http/limits.test.ts', 'test/http/limits-shared.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'loop',
    shows:
      'bodies as large as the service takes, and reads of large records: none holds the event loop for 250 ms',
    run: { tests: ['test/http/event-loop.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'soak',
    shows:
      'ten minutes of 64 clients at the edge of their rate limits, on two instances of which one is killed every minute',
    run: { tests: ['test/faults/soak.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'labs',
    shows: '100,000 damaged messages of laboratories: each refused with a reason, or valid resources',
    run: { tests: ['test/properties/labs.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'documents',
    shows:
      'four documents of 100 MB at once, up and down, without 50 MB more memory; a service killed between bytes and event',
    run: { tests: ['test/faults/documents-killed.test.ts', 'test/contract/document-store.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'import',
    shows: 'the import of real patient bundles, every count and reference checked',
    run: { tests: ['test/http/cli-import.test.ts'] },
    env: { ANNAL_TEST_SCALE: '1' },
  },
  {
    name: 'rebuild',
    shows: 'a rebuild of 1,000,000 events beside a service that is read: no read fails, no row differs',
    run: { bench: ['--only', 'beside', '--scale', '10', '--runs', '1'] },
  },
  {
    name: 'bench',
    shows: 'every row of the performance table, growth to 500,000 creates',
    run: { bench: ['--full'] },
  },
];
