/** Which events the streams of a kind hold: as a type and as a check, both from the catalogue. */
import { CATALOG, type DomainEvent, type EventType } from './catalog.ts';

/** A kind of stream: its name up to the first hyphen. */
export type StreamKind = 'record' | 'directory' | 'project' | 'organization' | 'application' | 'webhook';

/** Names of the events that streams of some kinds hold. */
type TypeOf<K extends StreamKind> = {
  [T in EventType]: (typeof CATALOG)[T]['streams'] extends `${string}${K}-${string}` ? T : never;
}[EventType];

/** The events that streams of some kinds hold. */
export type EventOf<K extends StreamKind> = Extract<DomainEvent, { readonly type: TypeOf<K> }>;

/** An event in a stream that holds no such events: the code that wrote it, or the log, is wrong. */
export class ForeignEvent extends Error {
  override readonly name = 'ForeignEvent';
}

const HOLDERS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(CATALOG).map(([type, { streams }]) => [type, new Set(streams.split(', '))]),
);

/** @throws ForeignEvent when, by the catalogue, the stream cannot hold an event of this type. */
export function requireEventOf(stream: string, type: string): void {
  const kind = stream.slice(0, stream.indexOf('-') + 1);
  if (HOLDERS.get(type)?.has(kind)) return;
  throw new ForeignEvent(`${type} is not an event of the stream ${stream}`);
}
