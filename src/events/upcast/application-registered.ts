/** Upcasters for ApplicationRegistered. */
import type { EventData } from './upcaster.ts';

/**
 * Upcasts `ApplicationRegistered` to version 2, which added `environment`. Earlier applications belong to the sandbox
 * (docs/spec/decisions.md, section 9), because only later ones can belong to production.
 */
export function applicationRegisteredTo2(data: EventData): EventData {
  return { ...data, environment: 'sandbox' };
}

/**
 * Upcasts `ApplicationRegistered` to version 3, which added `jwks`, `jwks_uri` and `sector`. Earlier applications have a
 * secret or no credential, and their own sector.
 */
export function applicationRegisteredTo3(data: EventData): EventData {
  return data;
}

/**
 * Upcasts `ApplicationRegistered` to version 4, which added `post_logout_redirect_uris`. Earlier applications have no such
 * URIs.
 */
export function applicationRegisteredTo4(data: EventData): EventData {
  return data;
}
