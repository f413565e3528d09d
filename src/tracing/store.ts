/**
 * Traces calls to the event store. Each append has a span, which contains a span for each projection that lasts until the
 * projection shows the append.
 */
import type { EventStore, Position } from '#src/events/store.ts';
import { wrappedStore } from '#src/events/wrapped-store.ts';
import type { Tracing } from './tracing.ts';

/** The kind of store, its projections, and how to wait for a projection. */
export interface Traced {
  /** `postgresql` or `eventstoredb`. */
  readonly system: string;
  readonly projections: readonly {
    readonly name: string;
    readonly prefixes: readonly string[];
    /** Types of events that the projection processes; default: all types. */
    readonly types?: ReadonlySet<string>;
  }[];
  /** Resolves when a projection, on any instance, has passed a position; resolves to false if that takes too long. */
  readonly passed: (position: Position, name: string) => Promise<boolean>;
}

/** Returns a store that behaves like the given store, but traces appends. */
export function traceStore(
  tracing: Tracing,
  store: EventStore,
  { system, projections, passed }: Traced,
): EventStore {
  return wrappedStore(store, {
    append(stream, expected, events) {
      const attributes = {
        // A stream's name contains the patient's id, but its kind doesn't.
        'annal.stream.kind': stream.slice(0, Math.max(0, stream.indexOf('-'))),
        'annal.events': events.length,
        'annal.event.types': [...new Set(events.map(({ type }) => type))],
      };
      return tracing.span('append', { system, attributes }, async (span) => {
        const result = await store.append(stream, expected, events);
        span.setAttribute('annal.position', result.position);
        if (!span.isRecording()) return result;
        for (const { name, prefixes, types } of projections) {
          if (!prefixes.some((prefix) => stream.startsWith(prefix))) continue;
          if (types !== undefined && !events.some(({ type }) => types.has(type))) continue;
          tracing.follow(span, `projection ${name}`, passed(result.position, name));
        }
        return result;
      });
    },
  });
}
