/** The URLs of the gateway: those of the interfaces, below `/app/api`. */
import type { Context } from 'koa';
import { FHIR_PATH } from '../fhir/interface.ts';

/** Base path of the gateway. */
export const GATEWAY_PATH = '/app/api';

const BELOW = /^\/app\/api(?:\/|$)/i;

/** The paths that can be reached through it. */
const INNER = new RegExp(`^(?:/me|/admin|/v1|${FHIR_PATH})(?:/|$)`);

/** Tells whether a path is of the gateway, also in another letter case, which leads nowhere. */
export function isGateway(path: string): boolean {
  return BELOW.test(path);
}

/**
 * Returns the path of the interface that a request of the gateway is for; undefined if it is for none: the pages,
 * the authorization server and the gateway itself can't be reached through it.
 */
export function innerPath({ path }: Pick<Context, 'path'>): string | undefined {
  if (!path.startsWith(`${GATEWAY_PATH}/`)) return undefined;
  const inner = path.slice(GATEWAY_PATH.length);
  return INNER.test(inner) ? inner : undefined;
}
