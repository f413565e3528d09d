/** Whether a service traces at all. */

import type { TracingOptions } from './start.ts';
import type { Tracing } from './tracing.ts';

/** The traces of a service; undefined without a collector: then nothing of OpenTelemetry is loaded. */
export async function openTracing(
  options: Omit<TracingOptions, 'endpoint'> & { readonly endpoint: string | undefined },
): Promise<Tracing | undefined> {
  const { endpoint } = options;
  if (endpoint === undefined) return undefined;
  const { startTracing } = await import('./start.ts');
  return startTracing({ ...options, endpoint });
}
