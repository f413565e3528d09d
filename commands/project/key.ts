/** API keys, made from 256 random bits; the log contains only their SHA-256 (docs/spec/interface.md, section 5). */
import { createHash } from 'node:crypto';
import type { PlainEvent } from '#src/events/catalog.ts';
import type { Environment } from '#src/shared/access/caller.ts';

/** A scope of a key. */
export type Scope = 'read' | 'write';

/** The validated input for a new key. */
export interface NewKey {
  readonly name: string;
  readonly environment: Environment;
  readonly scopes: readonly Scope[];
  /** The time at which the key expires; absent if it never expires. */
  readonly expiresAt?: string | undefined;
}

/** A key, which is shown once, and the event that activates it. */
export interface IssuedKey {
  readonly key: string;
  readonly event: Extract<PlainEvent, { type: 'ApiKeyCreated' }>;
}

/**
 * Creates a key.
 * @param secret 256 bits from a CSPRNG
 */
export function issueKey(
  id: string,
  { name, environment, scopes, expiresAt }: NewKey,
  secret: Buffer,
): IssuedKey {
  const key = `${environment === 'sandbox' ? 'sk_test_' : 'sk_live_'}${secret.toString('base64url')}`;
  const sha256 = createHash('sha256').update(key).digest('hex');
  const data = {
    key_id: id,
    name,
    environment,
    scopes: [...scopes],
    sha256,
    last4: key.slice(-4),
    expires_at: expiresAt ?? null,
  };
  return { key, event: { type: 'ApiKeyCreated', data } };
}
