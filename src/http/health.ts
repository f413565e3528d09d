/** Serves `/health/live`, `/health/ready` and `/metrics` for orchestrators and Prometheus, without a credential. */
import { z } from 'zod';
import { Refusal } from '#src/shared/refusal.ts';
import { answerJson, openRoute } from './api/open-route.ts';
import type { Metrics, ReadinessChecks } from './ports/metrics.ts';

/** Time limit for one check, in ms. */
const PATIENCE = 2_000;

const TAG = 'Service';
const checks = z.record(z.string(), z.enum(['ok', 'unavailable']));

/** The routes. */
export const HEALTH_ROUTES = [
  openRoute({
    method: 'GET',
    path: '/health/live',
    operationId: 'getLive',
    summary: 'Check that the process answers',
    description: 'For liveness probes. It checks nothing else, not even the database.',
    tag: TAG,
    unlimited: true,
    answers: { 200: { description: 'It does', schema: z.object({ status: z.literal('live') }) } },
    run: () => answerJson({ status: 'live' }),
  }),
  openRoute({
    method: 'GET',
    path: '/health/ready',
    operationId: 'getReady',
    summary: 'Check that requests can be served',
    description: 'For readiness probes: 503 names the parts that are missing.',
    tag: TAG,
    unlimited: true,
    answers: {
      200: {
        description: 'They can',
        schema: z.object({
          status: z.literal('ready'),
          checks,
          message: z
            .string()
            .optional()
            .describe(
              'What an operator should know: this instance is too old for events that newer instances wrote.',
            ),
        }),
      },
      503: {
        description: 'Some parts are not ready',
        schema: z.object({ status: z.literal('unavailable'), checks, message: z.string() }),
      },
    },
    async run({ service }) {
      const results = await lookAtAll(service.checks);
      const missing = results.flatMap(([name, { ok, says }]) =>
        ok ? [] : [says === undefined ? name : `${name} (${says})`],
      );
      const checks = Object.fromEntries(results.map(([name, { ok }]) => [name, ok ? 'ok' : 'unavailable']));
      if (missing.length > 0)
        return answerJson(
          { status: 'unavailable', checks, message: `not ready: ${missing.join(', ')}` },
          { status: 503, headers: { 'Retry-After': '1' } },
        );
      const told = results.flatMap(([name, { says }]) => (says === undefined ? [] : [`${name} (${says})`]));
      return answerJson({
        status: 'ready',
        checks,
        ...(told.length === 0 ? {} : { message: told.join(', ') }),
      });
    },
  }),
  openRoute({
    method: 'GET',
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Measures, for Prometheus',
    description: 'docs/observability.md explains each measure.',
    tag: TAG,
    unlimited: true,
    answers: { 200: { description: 'Prometheus’ text format', content: { 'text/plain': z.string() } } },
    async run({ service }) {
      const { type, text } = await service.metrics.exposition();
      return { status: 200, headers: { 'Content-Type': type }, body: text };
    },
  }),
];

/** Also exports the results of `/health/ready` as metrics. */
export function measureReadiness(metrics: Pick<Metrics, 'observeChecks'>, checks: ReadinessChecks): void {
  metrics.observeChecks(async () => (await lookAtAll(checks)).map(([name, { ok }]) => [name, ok] as const));
}

/** The result of a check, and its public message. */
interface Checked {
  readonly ok: boolean;
  readonly says?: string;
}

function lookAtAll(checks: ReadinessChecks): Promise<(readonly [name: string, result: Checked])[]> {
  return Promise.all(
    Object.entries(checks).map(async ([name, holds]) => [name, await lookAt(holds)] as const),
  );
}

async function lookAt(check: () => Promise<string | undefined>): Promise<Checked> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, PATIENCE, new Error('late'));
  });
  try {
    const says = await Promise.race([check(), late]);
    return { ok: true, ...(says === undefined ? {} : { says }) };
  } catch (error) {
    return { ok: false, ...(error instanceof Refusal ? { says: error.message } : {}) };
  } finally {
    clearTimeout(timer);
  }
}
