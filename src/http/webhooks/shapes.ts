/**
 * Defines the JSON forms of endpoints and deliveries (docs/spec/interface.md, section 2.6; docs/spec/decisions.md, section 6).
 */
import { z } from 'zod';
import type { Endpoint } from '#queries/webhooks/endpoints.ts';
import { DELIVERY_STATUSES, type LoggedDelivery, type ReplayProgress } from '#queries/webhooks/ledger.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { WEBHOOK_EVENT_TYPES } from '#src/shared/webhook-types.ts';
import { faultOfUrl, MOST_URL, type Mode } from '#src/shared/webhook-url.ts';
import { environment, instant } from '../api/schemas.ts';

const events = z
  .array(z.enum([...WEBHOOK_EVENT_TYPES, '*']))
  .min(1)
  .max(WEBHOOK_EVENT_TYPES.length)
  .refine((types) => new Set(types).size === types.length, 'must not name a type twice')
  .refine(
    (types) => types.length === 1 || !types.includes('*'),
    'must be ["*"] or a list of event types, not both',
  )
  .describe('Event types, or `["*"]` for all.');
const url = z
  .string()
  .max(MOST_URL)
  .describe(
    '`https://…`; in the sandbox of a development installation, also `http://localhost…`. Stored and shown in normalized form (WHATWG URL): `HTTPS://Hooks.Example.org:443` becomes `https://hooks.example.org/`.',
  );
const description = z.string().max(500).nullable();

export const newEndpoint = z
  .strictObject({
    url,
    events,
    description: description.optional(),
    active: z.boolean().default(true).describe('If false, the endpoint is paused from the start.'),
  })
  .meta({ examples: [{ url: 'https://hooks.example.org/annal', events: ['*'] }] });

/** The endpoint settings to change. */
export const endpointChange = z
  .strictObject({
    url: url.optional(),
    events: events.optional(),
    description: description.optional(),
    active: z.boolean().optional().describe('False pauses the endpoint: its deliveries wait.'),
  })
  .meta({ examples: [{ active: false }] });

export const endpoint = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  description: z.string().nullable(),
  active: z.boolean(),
  environment,
  created_at: instant,
  updated_at: instant,
  last_success_at: instant.nullable(),
  last_failure_at: instant.nullable(),
  failure_streak: z.int().describe('Failed attempts since the last successful one.'),
});

/** An endpoint with its secret, which is shown only once. */
export const issuedEndpoint = endpoint.extend({
  secret: z
    .string()
    .describe('`whsec_` and 32 random bytes in base64, which are the signature key. Shown only now.'),
});

export const delivery = z.object({
  id: z.string(),
  endpoint_id: z.string(),
  event_id: z.string(),
  event_type: z.enum(WEBHOOK_EVENT_TYPES),
  status: z.enum(DELIVERY_STATUSES).describe('`failed`: between attempts; `exhausted`: given up.'),
  attempts: z.int(),
  next_attempt_at: instant.nullable(),
  last_status_code: z.int().nullable(),
  last_error: z
    .string()
    .nullable()
    .describe('Why the last attempt failed, with the first 4 KB of the answer.'),
  created_at: instant,
  delivered_at: instant.nullable(),
  payload: z.record(z.string(), z.unknown()).describe('The body that is sent.'),
});

const moment = z.iso.datetime({ offset: true, error: 'must be a date and time with offset' });

/** The events to send again. */
export const newReplay = z
  .strictObject({
    from: moment.describe('Events from this time on, inclusive.'),
    to: moment.optional().describe('Events up to this time, inclusive; default: now.'),
    types: events.optional().describe('Default: the endpoint’s event types.'),
  })
  .meta({ examples: [{ from: '2026-03-01T00:00:00Z' }] });

export const replay = z.object({
  status: z.enum(['running', 'done', 'cancelled']),
  from: instant,
  to: instant,
  types: z.array(z.string()),
  queued: z.int().describe('Deliveries so far.'),
  delivered: z.int(),
  exhausted: z.int(),
  started_at: instant,
  ended_at: instant.nullable(),
});

/** Formats a replay as JSON for a response. */
export function shownReplay({ status, from, to, types, begunAt, endedAt, ...counts }: ReplayProgress) {
  return {
    status,
    from: toInstant(from),
    to: toInstant(to),
    types: [...types],
    ...counts,
    started_at: new Date(begunAt).toISOString(),
    ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
  } satisfies z.input<typeof replay>;
}

/** Formats an endpoint as JSON for a response. */
export function shownEndpoint(known: Endpoint): z.input<typeof endpoint> {
  const { id, url: at, events: types, active, createdAt, updatedAt, lastSuccessAt, lastFailureAt } = known;
  const when = (micros: number | null): string | null => (micros === null ? null : toInstant(micros));
  return {
    id,
    url: at,
    events: [...types],
    description: known.description,
    active,
    environment: known.environment,
    created_at: toInstant(createdAt),
    updated_at: toInstant(updatedAt),
    last_success_at: when(lastSuccessAt),
    last_failure_at: when(lastFailureAt),
    failure_streak: known.failureStreak,
  };
}

/** Formats a delivery as JSON for a response. */
export function shownDelivery(logged: LoggedDelivery) {
  const when = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
  return {
    id: logged.id,
    endpoint_id: logged.endpointId,
    event_id: logged.eventId,
    event_type: logged.eventType,
    status: logged.status,
    attempts: logged.attempts,
    next_attempt_at: when(logged.nextAttemptAt),
    last_status_code: logged.lastStatusCode,
    last_error: logged.lastError,
    created_at: when(logged.createdAt),
    delivered_at: when(logged.deliveredAt),
    payload: JSON.parse(logged.payload) as unknown,
  };
}

/**
 * Returns an endpoint's URL in normalized form, in which it is checked, stored and called.
 * @throws Refusal invalid (422), which says what is wrong with the URL
 */
export function requireUrl(text: string, of: Environment, mode: Mode): string {
  const fault = faultOfUrl(text, of, mode);
  if (fault === undefined) return new URL(text).href;
  throw new Refusal('invalid', { code: 'value', diagnostics: `url ${fault}`, expression: 'url' });
}
