/**
 * Encodes an append as messages to the server. There are several messages, so that none is too large; the server treats them
 * as one append.
 */
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { NewEvent } from '../store.ts';
import { bytes, identifier } from './messages.ts';

/** The approximate maximum number of body bytes per message. */
const MESSAGE_BYTES = 2_000_000;

/** The events of one append, and the stream to which they belong. */
export interface Proposal {
  readonly stream: string;
  /** The stream's expected revision; -1 if the stream must not exist yet; undefined for any revision. */
  readonly revision: number | undefined;
  readonly events: readonly NewEvent[];
}

/** Returns the messages of one append, in order. The response has the same `id`. */
export function appendMessages(id: string, { stream, revision, events }: Proposal): BatchAppendReq[] {
  const options = new streams.BatchAppendReq.Options().setStreamIdentifier(identifier(stream));
  if (revision === undefined) options.setAny(new empty.Empty());
  else if (revision === -1) options.setNoStream(new empty.Empty());
  else options.setStreamPosition(String(revision));

  const next = (): BatchAppendReq => new streams.BatchAppendReq().setCorrelationId(uuid(id));
  let message = next().setOptions(options);
  const messages = [message];
  let size = 0;
  for (const event of events) {
    const proposed = propose(event);
    const added = proposed.getData_asU8().length + proposed.getCustomMetadata_asU8().length;
    if (size > 0 && size + added > MESSAGE_BYTES) {
      message = next();
      messages.push(message);
      size = 0;
    }
    message.addProposedMessages(proposed);
    size += added;
  }
  message.setIsFinal(true);
  return messages;
}

/** Bodies are sent as raw bytes. */
function propose({ id, type, data, metadata }: NewEvent): BatchAppendReq.ProposedMessage {
  const proposed = new streams.BatchAppendReq.ProposedMessage()
    .setId(uuid(id))
    .setData(bytes(data))
    .setCustomMetadata(bytes(metadata));
  proposed.getMetadataMap().set('type', type).set('content-type', 'application/json');
  return proposed;
}

function uuid(text: string): InstanceType<typeof shared.UUID> {
  return new shared.UUID().setString(text);
}
