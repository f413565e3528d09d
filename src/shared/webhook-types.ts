/** The types of webhook events (docs/spec/interface.md, section 6). */

/** All types; an endpoint may subscribe to individual types, or to `*`. */
export const WEBHOOK_EVENT_TYPES = [
  'resource.created',
  'resource.updated',
  'resource.deleted',
  'consent.granted',
  'consent.revoked',
  'document.finalized',
  'proposal.accepted',
  'proposal.rejected',
  'ping',
] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** The maximum number of endpoints that a project may have in each environment (docs/spec/interface.md, section 8). */
export const MAX_ENDPOINTS = 10;

/** Returns whether an endpoint has subscribed to a type. */
export function wants(events: readonly string[], type: WebhookEventType): boolean {
  return events.includes('*') || events.includes(type);
}
