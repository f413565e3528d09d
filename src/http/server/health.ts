/** `/health/live`, `/health/ready` and `/metrics`: for orchestrators and Prometheus, without a credential. */
import Router from '@koa/router';
import { Refusal } from '#src/shared/refusal.ts';
import type { Metrics } from '../ports/metrics.ts';

/**
 * Named conditions of readiness; a check that rejects, or takes too long, fails. Everybody may read a Refusal's message.
 * A check that passes may resolve to a sentence that operators should read.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<string | undefined>>>;

/** The time limit of one check, in ms. */
const PATIENCE = 2_000;

/**
 * Returns the routes. Live: 200 as long as the process responds. Ready: 200 `{status: "ready", checks}` when
 * every check passes, with a `message` if a check has one; otherwise 503 `{status: "unavailable", checks,
 * message}`, which names the failed checks, and what to do if a check says so.
 */
export function healthRouter(options: {
  checks: ReadinessChecks;
  metrics: Pick<Metrics, 'observeChecks' | 'exposition'>;
}): Router {
  const router = new Router();
  const check = () =>
    Promise.all(
      Object.entries(options.checks).map(async ([name, holds]) => [name, await lookAt(holds)] as const),
    );
  options.metrics.observeChecks(async () => (await check()).map(([name, { ok }]) => [name, ok] as const));
  router.get('/health/live', (ctx) => {
    ctx.body = { status: 'live' };
  });
  router.get('/health/ready', async (ctx) => {
    const results = await check();
    const missing = results.flatMap(([name, { ok, says }]) =>
      ok ? [] : [says === undefined ? name : `${name} (${says})`],
    );
    const checks = Object.fromEntries(results.map(([name, { ok }]) => [name, ok ? 'ok' : 'unavailable']));
    ctx.set('Cache-Control', 'no-store');
    if (missing.length === 0) {
      const told = results.flatMap(([name, { says }]) => (says === undefined ? [] : [`${name} (${says})`]));
      ctx.body = { status: 'ready', checks, ...(told.length === 0 ? {} : { message: told.join(', ') }) };
      return;
    }
    ctx.status = 503;
    ctx.set('Retry-After', '1');
    ctx.body = { status: 'unavailable', checks, message: `not ready: ${missing.join(', ')}` };
  });
  router.get('/metrics', async (ctx) => {
    const { type, text } = await options.metrics.exposition();
    ctx.type = type;
    ctx.body = text;
  });
  return router;
}

/** The result of a check, and its public message. */
interface Checked {
  readonly ok: boolean;
  readonly says?: string;
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
