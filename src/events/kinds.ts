/** The events that streams of each kind can hold, as a type and as a check; both come from the catalogue. */
import { CATALOG, type DomainEvent, type EventType } from './catalog.ts';

/** A kind of stream: its name up to the first hyphen. */
export type StreamKind = 'record' | 'directory' | 'project' | 'organization' | 'application' | 'webhook';

/** Names of the events that streams of some kinds hold. */
type TypeOf<K extends StreamKind> = {
  [T in EventType]: (typeof CATALOG)[T]['streams'] extends `${string}${K}-${string}` ? T : never;
}[EventType];

/** The events that streams of some kinds hold. */
export type EventOf<K extends StreamKind> = Extract<DomainEvent, { readonly type: TypeOf<K> }>;

/** Thrown for an event that its stream can't hold: a bug in the writing code, or a damaged log. */
export class ForeignEvent extends Error {
  override readonly name = 'ForeignEvent';
}

const HOLDERS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(CATALOG).map(([type, { streams }]) => [type, new Set(streams.split(', '))]),
);

/**
 * Checks that the catalogue allows an event of this type in a stream.
 * @throws ForeignEvent
 */
export function requireEventOf(stream: string, type: string): void {
  const kind = stream.slice(0, stream.indexOf('-') + 1);
  if (HOLDERS.get(type)?.has(kind)) return;
  throw new ForeignEvent(`${type} is not an event of the stream ${stream}`);
}
