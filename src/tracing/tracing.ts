/**
 * OpenTelemetry traces for a request: HTTP → command and queries → append → each projection that shows it. This module is
 * loaded only if a collector is configured, and wraps other parts, which are unaware of it. Spans contain methods, route
 * patterns, kinds, counts, positions and request ids, but never a path, query, header, body, resource id, stream name or error
 * message.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import type { Middleware } from 'koa';
import { Refusal } from '#src/shared/refusal.ts';
import type { CallWrapper } from '#src/shared/wrap-calls.ts';

/** Timeout for sending the remaining spans at shutdown, in ms. */
const FLUSH_MS = 2_000;

/** The operation that a span describes. https://opentelemetry.io/docs/specs/semconv/database/database-spans/ */
export interface Spanned {
  /** The database: `postgresql` or `eventstoredb`. */
  readonly system?: string;
  readonly attributes?: Attributes;
}

/** The traces for one service. */
export class Tracing {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #propagator = new W3CTraceContextPropagator();
  /** The current context. Each service has its own, so that several services in one process stay separate. */
  readonly #current = new AsyncLocalStorage<Context>();

  constructor(provider: BasicTracerProvider) {
    this.#provider = provider;
    this.#tracer = provider.getTracer('annal');
  }

  /** Creates a span for each request, continuing the caller's trace (`traceparent`). https://www.w3.org/TR/trace-context/ */
  readonly requests: Middleware = async (ctx, next) => {
    const caller = this.#propagator.extract(ROOT_CONTEXT, ctx.headers, defaultTextMapGetter);
    const { method } = ctx;
    const span = this.#tracer.startSpan(
      method,
      { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'url.scheme': ctx.protocol } },
      caller,
    );
    try {
      await this.#current.run(trace.setSpan(caller, span), next);
    } finally {
      const route: string = ctx.state.route ?? ctx._matchedRoute ?? 'unmatched';
      const status = ctx.res.statusCode;
      span.updateName(`${method} ${route}`).setAttributes({
        'http.route': route,
        'http.response.status_code': status,
        'annal.request_id': String(ctx.state.requestId ?? ''),
      });
      if (status >= 500) {
        span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    }
  };

  /**
   * Returns a wrapper that creates a span for each call, named `<kind> <name>`. For a query, this is a PostgreSQL client span.
   */
  around(kind: 'command' | 'query'): CallWrapper {
    const options = kind === 'query' ? { system: 'postgresql' } : {};
    return (name, call) => this.span(`${kind} ${name}`, options, call);
  }

  /** Runs `call` within a span. */
  span<R>(name: string, { system, attributes = {} }: Spanned, call: (span: Span) => Promise<R>): Promise<R> {
    const parent = this.#current.getStore() ?? ROOT_CONTEXT;
    const client = { kind: SpanKind.CLIENT, attributes: { ...attributes, 'db.system.name': system } };
    const span = this.#tracer.startSpan(name, system === undefined ? { attributes } : client, parent);
    return this.#current.run(trace.setSpan(parent, span), () => ended(span, () => call(span)));
  }

  /** Starts a child span that ends when `done` resolves. If `done` resolves to false, the span is marked as failed. */
  follow(parent: Span, name: string, done: Promise<boolean>): void {
    const span = this.#tracer.startSpan(name, {}, trace.setSpan(ROOT_CONTEXT, parent));
    void done.then((passed) => {
      if (!passed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
  }

  /** Sends the remaining spans, unless that takes too long. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_MS);
    });
    await Promise.race([this.#provider.shutdown().catch(() => undefined), late]);
    clearTimeout(timer);
  }
}

async function ended<R>(span: Span, call: () => Promise<R>): Promise<R> {
  try {
    return await call();
  } catch (error) {
    const refusal = error instanceof Refusal ? error : undefined;
    span.setAttribute('error.type', refusal?.kind ?? (error instanceof Error ? error.name : 'unknown'));
    if (refusal === undefined || refusal.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
