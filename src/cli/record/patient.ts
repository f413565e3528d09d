/** Reads a record's events for commands: finds them by the id on the command line, and explains errors. */
import { readTraces } from '#projections/erasure.ts';
import { type EventStore, type RecordedEvent, StreamDeleted } from '#src/events/store.ts';
import { isStreamName, recordPatient, recordStream } from '#src/events/streams.ts';
import { isUuid } from '#src/shared/ids.ts';
import { FAULTS_FOUND, Failure, MISUNDERSTOOD } from '../failure.ts';

/**
 * Returns the id in `<id>` or `Patient/<id>`.
 * @throws Failure for anything else.
 */
function patientId(text: string): string {
  const id = text.replace(/^Patient\//, '');
  if (!isUuid(id))
    throw new Failure(`${text} is not a valid patient id: expected Patient/018f…`, MISUNDERSTOOD);
  return id;
}

/** A stream named on the command line, and its name in messages. */
export interface NamedStream {
  readonly stream: string;
  readonly called: string;
}

/**
 * Returns the stream of the patient with this id, or the stream with this name: `directory-…`.
 * @throws Failure for anything else.
 */
export function namedStream(text: string): NamedStream {
  if (isStreamName(text) && recordPatient(text) === undefined) return { stream: text, called: text };
  const id = patientId(recordPatient(text) ?? text);
  return { stream: recordStream(id), called: `Patient/${id}` };
}

/**
 * Runs `work` on a stream's events.
 * @throws Failure for a purged record, with the time and the person who requested the purge; UnreadableEvent and NewerEvent,
 *   which the command line reports.
 */
export async function withStream<T>(
  store: EventStore,
  stream: string,
  work: (events: AsyncIterable<RecordedEvent>) => Promise<T>,
): Promise<T> {
  try {
    return await work(store.read(stream));
  } catch (error) {
    const patient = recordPatient(stream);
    if (error instanceof StreamDeleted && patient !== undefined) {
      throw new Failure(await writeSentence(store, patient));
    }
    throw error;
  }
}

/**
 * Reports on standard error that a stream's hash chain is broken.
 * @returns the exit code.
 */
export function reportBroken(stream: string, brokenAt: number | undefined): number {
  if (brokenAt === undefined) return 0;
  process.stderr.write(
    `annal: hash mismatch in ${stream} at revision ${brokenAt}: this event or the one before it was altered; run annal verify for details\n`,
  );
  return FAULTS_FOUND;
}

async function writeSentence(store: EventStore, patient: string): Promise<string> {
  const trace = (await readTraces(store, new Set([patient]))).get(patient);
  if (trace === undefined) {
    return `the events of Patient/${patient} were removed, but the log has no request to purge them`;
  }
  const { recorded_at: asked, request_id: request, credential } = trace.requested.metadata;
  const done = trace.erased?.metadata.recorded_at;
  return (
    `the record of Patient/${patient} was purged: requested at ${asked} with ${credential.key_id ?? credential.application ?? credential.kind} ` +
    `in request ${request}, ${done === undefined ? 'not completed yet' : `completed at ${done}`}. None of it is kept`
  );
}
