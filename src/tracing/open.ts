/** Opens tracing if it is configured. */

import type { TracingOptions } from './start.ts';
import type { Tracing } from './tracing.ts';

/** Returns the tracing of a service; undefined without a collector, and OpenTelemetry is then not loaded. */
export async function openTracing(
  options: Omit<TracingOptions, 'endpoint'> & { readonly endpoint: string | undefined },
): Promise<Tracing | undefined> {
  const { endpoint } = options;
  if (endpoint === undefined) return undefined;
  const { startTracing } = await import('./start.ts');
  return startTracing({ ...options, endpoint });
}
