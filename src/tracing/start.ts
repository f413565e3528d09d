/** Exports traces to a collector, with OTLP over HTTP and JSON. https://opentelemetry.io/docs/specs/otlp/#otlphttp */
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Tracing } from './tracing.ts';

/** The collector, and the service's name. */
export interface TracingOptions {
  /** The collector's base URL; spans are sent to `<endpoint>/v1/traces`. */
  readonly endpoint: string;
  readonly version: string;
  readonly log: { warn(details: object, message: string): void };
}

/** Minimum pause between two warnings about lost spans, in ms. */
const TELL_EVERY_MS = 60_000;

/**
 * Starts tracing. Sampling, batching, headers for the collector and additional attributes of the service are configured with
 * OpenTelemetry's standard variables (`OTEL_TRACES_SAMPLER`, `OTEL_BSP_…`, `OTEL_EXPORTER_OTLP_HEADERS`,
 * `OTEL_RESOURCE_ATTRIBUTES`).
 */
export function startTracing({ endpoint, version, log }: TracingOptions): Tracing {
  let told = Number.NEGATIVE_INFINITY;
  setGlobalErrorHandler((error) => {
    const now = performance.now();
    if (now - told < TELL_EVERY_MS) return;
    told = now;
    const { code } = error as { code?: unknown };
    log.warn({ code: String(code ?? 'unknown') }, 'traces could not be sent to the collector');
  });
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const service = resourceFromAttributes({ 'service.name': 'annal', 'service.version': version });
  const provider = new BasicTracerProvider({
    resource: service.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  return new Tracing(provider);
}
