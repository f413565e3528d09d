/** Carries out decisions by an installation's operator, and writes them to its log. */
import type { RequestContext } from '#commands/command.ts';
import type { Decide } from '#commands/kernel/decision.ts';
import type { Fold } from '#commands/kernel/kernel.ts';
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { IdSource, newId, newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type Micros, nowMicros } from '#src/shared/time/time.ts';
import { requireDatabaseUrl, withEventStore } from '../database.ts';
import { Failure } from '../failure.ts';
import type { ServiceOptions } from '../service.ts';

/** The command-line options that all operator commands accept. */
export interface OperatorOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
}

/** A decision on one stream. */
export interface OperatorDecision<S> {
  readonly fold: Fold<S>;
  readonly stream: string;
  readonly decide: Decide<S>;
  /** The events get a time later than this, even if this machine's clock is behind. */
  readonly after?: Micros | undefined;
  /** A sentence about the state after the decision, without its full stop. */
  readonly sentence: string;
  /** The same state as data for programs. */
  readonly data: object;
}

/**
 * Carries out a decision, which takes effect immediately on every instance. Prints the result, and whether anything changed.
 * @throws Failure if the decision is refused or no database is found
 */
export async function decideAsOperator<S>(
  { fold, stream, decide, after = 0, sentence, data }: OperatorDecision<S>,
  { json = false, ...where }: OperatorOptions,
): Promise<void> {
  const operator: RequestContext = {
    credential: { kind: 'system' },
    requestId: newId('req_'),
    ids: new IdSource(newUuid(), Date.now()),
    now: () => Math.max(nowMicros(), after + 1),
  };
  const wrote = await withEventStore(await requireDatabaseUrl(where), (store) =>
    new Streams(new Kernel(store), fold).transact(stream, operator, decide).catch((error: unknown) => {
      throw error instanceof Refusal ? new Failure(error.message) : error;
    }),
  );
  const changed = wrote !== undefined;
  print({ ...data, changed }, `${sentence}${changed ? '' : ' (unchanged)'}.`, json);
}

/** Prints data as JSON for programs, or as the given text. */
export function print(data: object, text: string, json: boolean): void {
  process.stdout.write(`${json ? JSON.stringify(data, null, 2) : text}\n`);
}
