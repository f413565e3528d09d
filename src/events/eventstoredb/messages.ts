/** Builds requests to the server, and reads events from its responses, as raw messages in which bodies stay bytes. */

import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { RecordedEvent } from '../store.ts';
import { toPosition, type WirePosition } from './position.ts';

const { Options } = streams.ReadReq;

/** The direction of a read. */
export type Direction = 'forwards' | 'backwards';

const DIRECTIONS = {
  forwards: Options.ReadDirection.FORWARDS,
  backwards: Options.ReadDirection.BACKWARDS,
} as const;

/**
 * Builds a read of up to `count` events in a stream, from a revision onwards, inclusive. If the revision is undefined, the
 * read starts at the first or last event.
 */
export function readStream(
  stream: string,
  direction: Direction,
  from: number | undefined,
  count: number,
): ReadReq {
  const part = new Options.StreamOptions().setStreamIdentifier(identifier(stream));
  if (from !== undefined) part.setRevision(String(from));
  else if (direction === 'forwards') part.setStart(new shared.Empty());
  else part.setEnd(new shared.Empty());
  return request(options(direction).setStream(part).setCount(String(count)));
}

/**
 * Builds a read of up to `count` events in all streams, from a position onwards, inclusive. If the position is undefined, the
 * read starts at the first or last event.
 */
export function readAll(direction: Direction, from: WirePosition | undefined, count: number): ReadReq {
  return request(options(direction).setAll(place(direction, from)).setCount(String(count)));
}

/** Builds a subscription to all events after a position; if the position is undefined, to all events from the beginning. */
export function subscribeToAll(after: WirePosition | undefined): ReadReq {
  const live = new Options.SubscriptionOptions();
  return request(options('forwards').setAll(place('forwards', after)).setSubscription(live));
}

/** Encodes a stream's name for the server. */
export function identifier(stream: string): InstanceType<typeof shared.StreamIdentifier> {
  return new shared.StreamIdentifier().setStreamName(bytes(stream));
}

/** Encodes a text as UTF-8, in the array type that the messages accept. */
export function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text));
}

/** Returns the event in a response; undefined for responses without an event (confirmations, ends of reads). */
export function eventIn(answer: ReadResp): RecordedEvent | undefined {
  const event = answer.getEvent()?.getEvent();
  if (event === undefined) return undefined;
  return {
    id: event.getId()?.getString() ?? '',
    type: event.getMetadataMap().get('type') ?? '',
    stream: text(event.getStreamIdentifier()?.getStreamName_asU8()),
    revision: Number(event.getStreamRevision()),
    position: toPosition(event.getCommitPosition(), event.getPreparePosition()),
    data: text(event.getData_asU8()),
    metadata: text(event.getCustomMetadata_asU8()),
  };
}

/** The type of a tombstone, which is the last event of a deleted stream. */
export const TOMBSTONE = '$streamDeleted';
/** The stream that contains the names of erased streams. */
export const ERASED_STREAM = 'annal-erased';
/** The stream whose newest event records whether the log is closed. */
export const CLOSED_STREAM = 'annal-closed';

/**
 * Returns true if an event was written by the server itself (statistics, stream metadata, tombstones) or by this adapter for
 * its own use.
 */
export function isInternal({ stream, type }: Pick<RecordedEvent, 'stream' | 'type'>): boolean {
  return (
    stream.startsWith('$') || type.startsWith('$') || stream === ERASED_STREAM || stream === CLOSED_STREAM
  );
}

function place(
  direction: Direction,
  position: WirePosition | undefined,
): InstanceType<typeof Options.AllOptions> {
  const all = new Options.AllOptions();
  if (position !== undefined) {
    const { commit, prepare } = position;
    return all.setPosition(new Options.Position().setCommitPosition(commit).setPreparePosition(prepare));
  }
  return direction === 'forwards' ? all.setStart(new shared.Empty()) : all.setEnd(new shared.Empty());
}

function options(direction: Direction): InstanceType<typeof Options> {
  return new Options()
    .setReadDirection(DIRECTIONS[direction])
    .setResolveLinks(false)
    .setNoFilter(new shared.Empty())
    .setUuidOption(new Options.UUIDOption().setString(new shared.Empty()));
}

function request(options: InstanceType<typeof Options>): ReadReq {
  return new streams.ReadReq().setOptions(options);
}

function text(encoded: Uint8Array | undefined): string {
  return encoded === undefined
    ? ''
    : Buffer.from(encoded.buffer, encoded.byteOffset, encoded.length).toString();
}
