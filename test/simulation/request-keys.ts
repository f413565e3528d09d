/** Idempotency-Keys, as one instance reserves them in the simulated database (`src/operations/idempotency.ts`). */
import type { Attempt, Begun, IdempotentRequest, Reservation } from '#src/shared/idempotency.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Database, KeyRow } from './database.ts';
import type { VirtualTime } from './virtual-time.ts';
import type { Wire } from './wire.ts';

const WAIT_MS = 10_000;
const RENEW_MS = 3_000;
const LEASE_MS = 10_000;

/** The dependencies for reserving keys. */
export interface RequestKeysDeps {
  readonly database: Database;
  readonly wire: Wire;
  readonly time: VirtualTime;
  readonly newUuid: () => string;
}

/** The keys as one instance sees them. */
export class RequestKeys {
  constructor(private readonly deps: RequestKeysDeps) {}

  /**
   * Begins a request.
   * @throws Refusal invalid (422), conflict (409)
   */
  async begin({ key, requestHash }: IdempotentRequest): Promise<Begun> {
    const { time } = this.deps;
    const until = time.now + WAIT_MS;
    for (let pause = 100; ; pause = Math.min(pause * 2, 1_000)) {
      const begun = await this.#tryBegin(key, requestHash.toString('hex'));
      if (begun !== undefined) return begun;
      if (time.now + pause > until) throw stillRunning();
      await time.sleep(pause);
    }
  }

  async #tryBegin(key: string, requestHash: string): Promise<Begun | undefined> {
    const { database, wire, time, newUuid } = this.deps;
    const owner = newUuid();
    const fresh = { requestHash, commandId: newUuid(), millis: Math.floor(time.micros / 1_000), owner };
    const row = await wire.ask(() => database.reserve(key, time.now, fresh));
    if (row !== undefined) return { reserved: this.#reservation(key, owner, row) };
    const other = await wire.ask(() => database.keys.get(key));
    if (other !== undefined && other.requestHash !== requestHash)
      throw new Refusal('invalid', { code: 'value', diagnostics: 'the key was used for another request' });
    return other?.answer === undefined ? undefined : { kept: other.answer };
  }

  #reservation(key: string, owner: string, { commandId, millis, attempts }: KeyRow): Reservation {
    const { database, wire, time } = this.deps;
    const change = (next: Partial<KeyRow> | 'delete') => wire.ask(() => database.change(key, owner, next));
    const renewal = setInterval(() => {
      change({ leaseUntil: time.now + LEASE_MS }).catch(() => undefined);
    }, RENEW_MS);
    const end = async (next: Partial<KeyRow> | 'delete'): Promise<void> => {
      clearInterval(renewal);
      await change(next);
    };
    return {
      commandId,
      millis,
      earlier: attempts,
      async note(command: string, attempt: Attempt) {
        const noted = await wire.ask(() => database.noteAttempt(key, owner, time.now, command, attempt));
        if (!noted) throw stillRunning();
      },
      secret: async () => Buffer.alloc(32),
      keep: (answer) => end({ answer, owner: undefined }),
      forget: () => end('delete'),
      release: () => end({ owner: undefined }),
    };
  }
}

function stillRunning(): Refusal {
  const diagnostics = 'the first request with this Idempotency-Key is still running; retry in a second';
  return new Refusal('conflict', { code: 'conflict', diagnostics }, { 'Retry-After': '1' });
}
