/** Opens tracing if it is configured. */

import type { TracingOptions } from './start.ts';
import type { Tracing } from './tracing.ts';

/** Returns a service's tracing; undefined if no collector is configured, in which case OpenTelemetry isn't loaded. */
export async function openTracing(
  options: Omit<TracingOptions, 'endpoint'> & { readonly endpoint: string | undefined },
): Promise<Tracing | undefined> {
  const { endpoint } = options;
  if (endpoint === undefined) return undefined;
  const { startTracing } = await import('./start.ts');
  return startTracing({ ...options, endpoint });
}
