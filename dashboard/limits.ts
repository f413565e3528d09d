/** How close a project is to its limits, as far as the interfaces report it. */
import { annal, type Of, withQuery } from './api.ts';
import { account } from './session.ts';

/** A limit and its current use. */
export interface Standing {
  readonly kind: 'you' | 'key' | 'webhooks';
  /** A key's id and name; empty for other kinds. */
  readonly id: string;
  readonly name: string;
  readonly used: number;
  readonly limit: number;
}

/** The known limits in a project's environment, and their use. */
export interface Standings {
  /** Requests per minute allowed for each caller; null if requests are unlimited. */
  readonly perMinute: number | null;
  /** Sorted by share used, largest first. */
  readonly all: readonly Standing[];
  /** Requests in the last 24 hours that were refused because a limit was reached. */
  readonly throttled: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The share of a limit from which the limit counts as nearly reached. */
const NEAR = 0.8;

/** Returns true if a limit is nearly reached or has been reached. */
export function isNear({ used, limit }: Standing): boolean {
  return used >= limit * NEAR;
}

/**
 * Reads the limits and their use.
 * @param mayUse whether the person may see the environment's webhook endpoints
 */
export async function readStandings(of: Of, mayUse: boolean, signal: AbortSignal): Promise<Standings> {
  const { project, environment } = of;
  const count = async (query: Readonly<Record<string, string>>, sinceMs: number) => {
    const from = new Date(Date.now() - sinceMs).toISOString();
    const asked = withQuery(`/admin/projects/${project}/logs`, { ...query, environment, from, limit: 1 });
    const { headers, text } = await annal.send('GET', asked, undefined, { signal });
    return { headers, total: (JSON.parse(text) as { readonly total: number }).total };
  };
  const [{ headers, total: throttled }, keys, endpoints] = await Promise.all([
    count({ status: '429' }, DAY_MS),
    annal.list('/admin/projects/{project_id}/keys', { project_id: project, limit: 100 }, { signal }).all(),
    mayUse ? countEndpoints(of, signal) : undefined,
  ]);
  const most = account.value?.installation.limits.webhook_endpoints;
  const webhooks: readonly Standing[] =
    endpoints === undefined || most === undefined
      ? []
      : [{ kind: 'webhooks', id: '', name: '', used: endpoints, limit: most }];
  const perMinute = readNumber(headers.get('RateLimit-Policy'), /;q=(\d+)/);
  if (perMinute === null) return { perMinute, all: webhooks, throttled };
  const left = readNumber(headers.get('RateLimit'), /;r=(\d+)/) ?? perMinute;
  const you: Standing = { kind: 'you', id: '', name: '', used: perMinute - left, limit: perMinute };
  // A key's use is recorded once a minute, so all other keys were unused in the last minute.
  const inUse = keys.filter(
    ({ environment: its, revoked_at, last_used_at: at }) =>
      its === environment &&
      revoked_at === null &&
      at !== null &&
      Date.now() - Date.parse(at) < 2 * MINUTE_MS,
  );
  const ofKeys = await Promise.all(
    inUse.map(async ({ id, name, last4 }): Promise<Standing> => {
      const { total: used } = await count({ key: id }, MINUTE_MS);
      return { kind: 'key', id, name: `${name} …${last4}`, used, limit: perMinute };
    }),
  );
  const all = [...ofKeys, you, ...webhooks].sort((a, b) => b.used / b.limit - a.used / a.limit);
  return { perMinute, all, throttled };
}

async function countEndpoints({ project, environment }: Of, signal: AbortSignal): Promise<number> {
  const asked = { project_id: project, environment, limit: 1 };
  return (await annal.get('/admin/projects/{project_id}/webhooks', asked, { signal })).total;
}

function readNumber(text: string | null, pattern: RegExp): number | null {
  const found = pattern.exec(text ?? '')?.[1];
  return found === undefined ? null : Number(found);
}
