/**
 * Accesses members of the client library that aren't part of its public interface: protected methods, and functions in its
 * `dist` folder. They are used only here, and are valid only for one version, which is checked when this file is loaded
 * (docs/decisions/0010-own-append-call.md).
 */
// biome-ignore-all lint/complexity/useLiteralKeys: so TypeScript lets protected members of the library be called.
import { createRequire } from 'node:module';
import {
  convertToCommandError,
  DeadlineExceededError,
  EventStoreDBClient,
  UnavailableError,
} from '@eventstore/db-client';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js';
import grpcStreams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type {
  BatchAppendReq,
  BatchAppendResp,
  ReadReq,
  ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import {
  type Channel,
  type ClientDuplexStream,
  type ClientReadableStream,
  connectivityState,
  Metadata,
  status,
} from '@grpc/grpc-js';
import { z } from 'zod';
import { Unavailable } from '../store.ts';

/** The library version that this file was written for, which package.json pins. */
export const LIBRARY_VERSION = '6.2.1';

/**
 * Checks the version of the installed library.
 * @throws Error if it isn't the version that this file was written for
 */
export function assertLibraryVersion(found: string): void {
  if (found === LIBRARY_VERSION) return;
  throw new Error(
    `@eventstore/db-client ${found} is installed, expected ${LIBRARY_VERSION}: the adapter for EventStoreDB calls protected members of that version. Run \`npm ci\`, or review src/events/eventstoredb/library.ts against ${found} as docs/decisions/0010-own-append-call.md says`,
  );
}

assertLibraryVersion(
  z
    .object({ version: z.string() })
    .parse(createRequire(import.meta.url)('@eventstore/db-client/package.json')).version,
);

/** How long connecting to a node may take, in ms. */
const CONNECT_MS = 2_000;

/** Responses to a read, in order of arrival. */
export type Answers = ClientReadableStream<ReadResp>;
/** A call for appends: requests are sent and responses are received, matched by correlation id. */
export type AppendLine = ClientDuplexStream<BatchAppendReq, BatchAppendResp>;

/**
 * Connects when first used.
 * @throws the library's Error if the connection string is invalid, or names a file that doesn't exist
 */
export function connect(connectionString: string): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(connectionString);
  // The library calls this without waiting for it. If a call breaks while no node of the cluster can be found, it would fail
  // with an unhandled rejection, which would exit the process. Here, the next call looks for the cluster again. It also does
  // so after a missed deadline, which the library ignores, because the leader may have been replaced.
  const handleError = client['handleError'];
  client['handleError'] = (grpcClient, error) =>
    handleError(grpcClient, isMissed(error) ? lost(error) : error).catch(() => undefined);
  return client;
}

/** Returns whether a call got no response in time, because it missed either its own deadline or one of this adapter's. */
function isMissed(error: Error): boolean {
  return error instanceof Unavailable || convertToCommandError(error) instanceof DeadlineExceededError;
}

/** Returns the error for a lost connection. */
function lost({ message }: Error): UnavailableError {
  const [name, metadata] = ['UNAVAILABLE', new Metadata()];
  return new UnavailableError({ name, message, code: status.UNAVAILABLE, details: message, metadata });
}

/**
 * Waits until the connection is established or refused; if it is refused, the next call reports that. The library would wait
 * forever for a frozen node, which accepts connections but doesn't respond.
 * @throws Unavailable if that takes too long; the next call looks for the leader again
 */
async function requireConnection(client: EventStoreDBClient): Promise<void> {
  const service = await client['getGRPCClient'](grpcStreams.StreamsClient, 'connect');
  if (await stands(service.getChannel())) return;
  const late = new Unavailable(`EventStoreDB does not accept a connection within ${CONNECT_MS} ms`);
  await client['handleError'](service, late);
  throw late;
}

/** Returns whether a connection was established or refused in time. */
async function stands(channel: Channel): Promise<boolean> {
  const deadline = Date.now() + CONNECT_MS;
  for (;;) {
    const state = channel.getConnectivityState(true);
    if (state !== connectivityState.IDLE && state !== connectivityState.CONNECTING) return true;
    const changed = await new Promise<boolean>((resolve) => {
      channel.watchConnectivityState(state, deadline, (error) => resolve(error === undefined));
    });
    if (!changed) return false;
  }
}

/**
 * Sends a read to the leader.
 * @param deadline in ms, counted from when the read is sent
 */
export async function openRead(
  client: EventStoreDBClient,
  request: ReadReq,
  deadline: number,
): Promise<Answers> {
  await requireConnection(client);
  return client['GRPCStreamCreator'](grpcStreams.StreamsClient, 'read', (service) =>
    service.read(request, ...client['callArguments']({ requiresLeader: true, deadline })),
  )();
}

/**
 * Opens a call for appends to the leader.
 * @param deadline in ms
 */
export async function openAppendLine(client: EventStoreDBClient, deadline: number): Promise<AppendLine> {
  await requireConnection(client);
  return client['GRPCStreamCreator'](grpcStreams.StreamsClient, 'append', (service) =>
    service.batchAppend(...client['callArguments']({ requiresLeader: true, deadline })),
  )();
}

/** Returns the server's version, such as `24.2.0`; `unknown` if the server is too old to report it. */
export async function serverVersion(client: EventStoreDBClient): Promise<string> {
  return (await client['capabilities']).serverVersion;
}

/** Calls the server's HTTP interface and returns the parsed response. */
export function callHttp(client: EventStoreDBClient, method: 'GET' | 'POST', path: string): Promise<unknown> {
  return client['HTTPRequest'](method, path, { headers: { accept: 'application/json' } });
}

/** Returns the connection, opening it if necessary. */
export function openChannel(client: EventStoreDBClient): Promise<Channel> {
  return client['getChannel']();
}

/** Converts the refusal of an append to the error class that the library's own appends throw. */
export const refusalOf = unpackToCommandError;

/** Returns a UUID in a message as text. */
export const textOfUuid = parseUUID;
