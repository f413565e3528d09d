/** Verifies webhook deliveries: docs/webhooks.md. */
import { WebhookError } from './errors.ts';

interface Envelope<T extends string, D> {
  /** `evt_…`, the same in every retry: ignore events that you have already received. */
  readonly id: string;
  readonly type: T;
  readonly created_at: string;
  readonly environment: 'sandbox' | 'production';
  readonly project: string;
  readonly data: D;
}

interface ResourceData {
  readonly resource_type: string;
  readonly id: string;
  /** Null for directory entries. */
  readonly patient: string | null;
  readonly version: number;
  readonly last_updated: string;
  readonly external?: boolean;
  readonly source?: {
    readonly author_type: string;
    readonly organization?: string;
    readonly practitioner?: string;
    readonly source_system?: string;
  };
}

interface ConsentData {
  readonly grant_id: string;
  readonly patient: string;
  readonly application_id: string;
  readonly scopes: readonly string[];
  readonly purpose: string | null;
  readonly expires_at: string | null;
}

interface ProposalData {
  readonly proposal_id: string;
  readonly patient: string;
  readonly application_id: string;
  readonly resource_type: string;
  readonly id?: string;
  readonly version?: number;
}

/** A webhook event, by its type. */
export type WebhookEvent =
  | Envelope<'resource.created' | 'resource.updated' | 'resource.deleted', ResourceData>
  | Envelope<
      'document.finalized',
      {
        readonly id: string;
        readonly patient: string;
        readonly content_type: string;
        readonly size: number;
        readonly sha256: string;
      }
    >
  | Envelope<'consent.granted', ConsentData>
  | Envelope<'consent.revoked', ConsentData & { readonly revoked_at: string; readonly reason: string }>
  | Envelope<'proposal.accepted' | 'proposal.rejected', ProposalData>
  | Envelope<'ping', { readonly endpoint: string }>;

/** A webhook delivery as it arrived. */
export interface Delivery {
  /** The endpoint's `whsec_…`. */
  readonly secret: string;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The unparsed body. */
  readonly body: string | Uint8Array<ArrayBuffer> | ArrayBuffer;
  /** The maximum age of a delivery, in seconds. Default: 300. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since 1970. Default: now. */
  readonly now?: number;
}

/**
 * Verifies a delivery's signature, in constant time, and its age.
 * @returns the event
 * @throws WebhookError if the delivery isn't genuine or is too old: return 400
 */
export async function verifyWebhook({
  secret,
  headers,
  body,
  toleranceSeconds = 300,
  now = Date.now(),
}: Delivery): Promise<WebhookEvent> {
  const match = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(headerIn(headers, 'service-signature') ?? '');
  if (match === null) throw new WebhookError('Service-Signature is missing or malformed');
  const [, time = '', signature = ''] = match;
  if (Math.abs(now / 1000 - Number(time)) > toleranceSeconds)
    throw new WebhookError('the delivery is too old, or the clocks differ');
  const encoder = new TextEncoder();
  const bytes = typeof body === 'string' ? encoder.encode(body) : new Uint8Array(body);
  const signed = new Blob([`${time}.`, bytes]);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['verify']);
  const sent = Uint8Array.from(signature.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  if (!(await crypto.subtle.verify('HMAC', key, sent, await signed.arrayBuffer())))
    throw new WebhookError('the signature does not match: another secret, or the body was changed');
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
}

function headerIn(headers: Delivery['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : found?.[0];
}
