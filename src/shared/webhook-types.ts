/** The types of webhook events (docs/spec/interface.md, section 6). */

/** All of them; an endpoint may ask for each, or for `*`. */
export const WEBHOOK_EVENT_TYPES = [
  'resource.created',
  'resource.updated',
  'resource.deleted',
  'consent.granted',
  'consent.revoked',
  'document.finalized',
  'ping',
] as const;

/** One of them. */
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** Whether an endpoint has asked for a type. */
export function wants(events: readonly string[], type: WebhookEventType): boolean {
  return events.includes('*') || events.includes(type);
}
