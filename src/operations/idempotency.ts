/**
 * Handles `Idempotency-Key`: a repeated request is carried out once and gets the same answer (docs/spec/decisions.md, section
 * 3). A row is reserved before anything is decided. The row contains the request's hash, the seed for its ids, the owner's
 * lease and, before each append, the append's target. So a retry after a crash finds its own events instead of writing them
 * again. The answer is encrypted with a key derived from the Idempotency-Key and the credential, which only the caller has.
 * Tokens change, so for tokens, the key is derived from their holder and from an installation key.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { z } from 'zod';
import { recordPatient } from '#src/events/streams.ts';
import type { Attempt, Begun, IdempotentRequest, KeptAnswer, Reservation } from '#src/shared/idempotency.ts';
import { newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { installationKey } from './installation-key.ts';
import { makeSealing, type Sealing, seal, unseal, usedOtherwise } from './sealed-answer.ts';
import { WaitingRetries } from './waiting-retries.ts';

/** The table, in schema `operations`. */
export const IDEMPOTENCY_SQL = `
CREATE TABLE operations.idempotency (
  key_hash bytea PRIMARY KEY,          -- SHA-256 of scope and Idempotency-Key; the key itself is nowhere
  request_hash bytea NOT NULL,         -- method, path, body and author headers
  command_id uuid NOT NULL,            -- seeds the ids of everything the request writes
  millis int8 NOT NULL,                -- the time those ids bear
  owner uuid,                          -- the attempt that runs; null between attempts
  lease_until timestamptz NOT NULL,    -- past it the owner counts as dead
  attempts jsonb NOT NULL DEFAULT '{}',-- command id -> {stream, expectedRevision} of the last append tried
  records uuid[] NOT NULL DEFAULT '{}',-- patients whose records it concerns: a purge deletes the row
  answer bytea,                        -- salt, nonce, tag and ciphertext (AES-256-GCM); null while it runs
  expires_at timestamptz NOT NULL
);
CREATE INDEX idempotency_expiry ON operations.idempotency (expires_at);
CREATE INDEX idempotency_records ON operations.idempotency USING gin (records);
`;

/** Migration: `records` can't name all records that the answer to a read shows. */
export const READ_ANSWERS_SQL = `
ALTER TABLE operations.idempotency ADD COLUMN reads boolean NOT NULL DEFAULT false;
CREATE INDEX idempotency_reads ON operations.idempotency (key_hash) WHERE reads;
`;

/** Migration that keeps the secret that a request returns: if an attempt dies, the next attempt must return the same secret. */
export const RETRY_SECRETS_SQL = 'ALTER TABLE operations.idempotency ADD COLUMN secret bytea;';

/** How long an owner counts as alive after it last renewed its lease, in seconds. */
const LEASE_SECONDS = 10;
const RENEW_EVERY_MS = 3_000;
/** How long answers are kept, in hours. */
const KEPT_HOURS = 24;
/** How long a retry waits for the first request, in ms (docs/spec/decisions.md, section 3). */
const WAIT_MS = 10_000;
/**
 * The first and the longest pause between checks on a request that another instance is running, in ms; the pause doubles each
 * time.
 */
const [FIRST_LOOK_MS, LAST_LOOK_MS] = [100, 1_000];

/** A `KeptAnswer`, including everything that the HTTP layer stored with it. */
const keptAnswer = z.looseObject({
  status: z.number(),
  headers: z.record(z.string(), z.string()),
  body: z.string().exactOptional(),
  reads: z.boolean().exactOptional(),
});

interface Row {
  readonly request_hash: Buffer;
  readonly command_id: string;
  readonly millis: number;
  readonly owner: string | null;
  readonly attempts: Record<string, Attempt>;
  readonly answer: Buffer | null;
  readonly secret: Buffer | null;
}

/**
 * Takes the key if it is new, if it has expired, or if it belongs to an attempt at the same request that has died. The
 * attempts and the secret in the old row are dropped only if the key has expired.
 */
const RESERVE = `
insert into operations.idempotency as i (key_hash, request_hash, command_id, millis, owner, lease_until, expires_at)
values ($1, $2, $3, $4, $5, now() + $6 * interval '1 second', now() + $7 * interval '1 hour')
on conflict (key_hash) do update set
  request_hash = excluded.request_hash,
  command_id = case when i.expires_at < now() then excluded.command_id else i.command_id end,
  millis = case when i.expires_at < now() then excluded.millis else i.millis end,
  attempts = case when i.expires_at < now() then '{}' else i.attempts end,
  records = case when i.expires_at < now() then '{}' else i.records end,
  secret = case when i.expires_at < now() then null else i.secret end,
  answer = null,
  reads = false,
  owner = excluded.owner,
  lease_until = excluded.lease_until,
  expires_at = excluded.expires_at
where i.expires_at < now()
  or (i.answer is null and i.request_hash = excluded.request_hash and (i.owner is null or i.lease_until < now()))
returning request_hash, command_id, millis, owner, attempts, answer, secret`;

const FIND = `
select i.request_hash, i.command_id, i.millis, i.owner, i.attempts, i.answer, i.secret
from operations.idempotency i where i.key_hash = $1`;

/** Finds out whether a request has an answer or may be started again. */
const ENDED = `
select i.answer is not null or i.owner is null or i.lease_until < now() as ended
from operations.idempotency i where i.key_hash = $1`;

/** The idempotency keys of all instances, in PostgreSQL. */
export class IdempotencyStore {
  readonly #waiting = new WaitingRetries();
  #running = 0;
  #installationKey: Buffer | undefined;

  /**
   * @param pool connections with synchronous commit, because recorded data must survive a crash
   * @param waitMs how long a retry waits for the first request, in ms
   */
  constructor(
    readonly pool: Pool,
    readonly waitMs = WAIT_MS,
  ) {}

  /**
   * Reserves a request, or finds its answer. While another attempt is running, waits for that attempt without using a
   * connection.
   * @throws Refusal invalid (422) if the key was used for another request or credential; conflict (409) with `Retry-After` if
   *   the other attempt is still running after 10 s, or if too many requests are already waiting
   */
  async begin(request: IdempotentRequest): Promise<Begun> {
    const keyHash = createHash('sha256').update(`${request.scope}\n${request.key}`).digest();
    const begun = await this.#tryBegin(request, keyHash);
    return begun ?? this.#beginLater(request, keyHash);
  }

  /**
   * Waits for the first request, then begins.
   * @throws the same Refusal as `begin`
   */
  async #beginLater(request: IdempotentRequest, keyHash: Buffer): Promise<Begun> {
    const place = this.#waiting.enter(keyHash.toString('hex'), request.bytes);
    if (place === undefined) throw stillRunning();
    const until = performance.now() + this.waitMs;
    const gone = request.gone();
    try {
      for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 2, LAST_LOOK_MS)) {
        const left = until - performance.now();
        if (left <= 0 || gone.aborted) throw stillRunning();
        await place.wait(Math.min(pause, left), gone);
        const begun = (await this.#hasEnded(keyHash)) ? await this.#tryBegin(request, keyHash) : undefined;
        if (begun !== undefined) return begun;
      }
    } finally {
      place.leave();
    }
  }

  async #hasEnded(keyHash: Buffer): Promise<boolean> {
    const { rows } = await this.pool.query<{ ended: boolean }>({
      name: 'idempotency-ended',
      text: ENDED,
      values: [keyHash],
    });
    return rows[0]?.ended ?? true;
  }

  /**
   * Tries to reserve the key; undefined while another attempt is running.
   * @throws Refusal invalid (422)
   */
  async #tryBegin(request: IdempotentRequest, keyHash: Buffer): Promise<Begun | undefined> {
    const owner = newUuid();
    const reserved = await this.pool.query<Row>({
      name: 'idempotency-reserve',
      text: RESERVE,
      values: [keyHash, request.requestHash, newUuid(), Date.now(), owner, LEASE_SECONDS, KEPT_HOURS],
    });
    const mine = reserved.rows[0];
    if (mine !== undefined) return { reserved: await this.#resumed(mine, keyHash, owner, request) };
    const { rows } = await this.pool.query<Row>({ name: 'idempotency-find', text: FIND, values: [keyHash] });
    const other = rows[0];
    if (other !== undefined && !other.request_hash.equals(request.requestHash))
      throw usedOtherwise('request');
    if (other === undefined || other.answer === null) return undefined;
    return { kept: keptAnswer.parse(JSON.parse(unseal(other.answer, await this.#sealing(request)))) };
  }

  async #sealing(request: IdempotentRequest): Promise<Sealing> {
    this.#installationKey ??= await installationKey(this.pool, 'idempotency_key');
    return makeSealing(request, this.#installationKey);
  }

  /** Returns the number of reserved requests that are running in this process. */
  get running(): number {
    return this.#running;
  }

  /**
   * Deletes expired rows.
   * @returns the number of deleted rows
   */
  async sweep(): Promise<number> {
    const { rowCount } = await this.pool.query('delete from operations.idempotency where expires_at < now()');
    return rowCount ?? 0;
  }

  /**
   * Deletes every answer that concerns a record, as part of its purge. A search may show a record without naming its patient
   * (a Provenance, `_elements`), so all answers to reads are deleted too. A retry then reads again, and finds its own writes
   * as after a crash. Requests in progress may have read the record earlier, so `reads` prevents `KEEP` from storing their
   * answers.
   */
  async forget(patientId: string): Promise<void> {
    await this.pool.query(
      `with concerned as (delete from operations.idempotency where records @> array[$1::uuid])
       update operations.idempotency set answer = null, reads = true
       where (reads and answer is not null or answer is null and owner is not null)
         and not records @> array[$1::uuid]`,
      [patientId],
    );
  }

  /**
   * Resumes an earlier attempt.
   * @throws Refusal invalid if that attempt sealed a secret with a different credential; the secret remains valid for that
   *   credential
   */
  async #resumed(row: Row, keyHash: Buffer, owner: string, request: IdempotentRequest): Promise<Reservation> {
    const sealing = await this.#sealing(request);
    const reservation = this.#reservation(row, keyHash, owner, sealing);
    try {
      if (row.secret !== null) unseal(row.secret, sealing);
    } catch (error) {
      await reservation.release();
      throw error;
    }
    return reservation;
  }

  #reservation(row: Row, keyHash: Buffer, owner: string, sealing: Sealing): Reservation {
    const { pool } = this;
    this.#running += 1;
    const renewal = setInterval(() => {
      // A failed renewal is noticed where it matters: when the next note is made.
      pool.query(RENEW, [keyHash, owner, LEASE_SECONDS]).catch(() => undefined);
    }, RENEW_EVERY_MS);
    renewal.unref();
    const end = async (sql: string, values: readonly unknown[]) => {
      clearInterval(renewal);
      this.#running -= 1;
      await pool.query(sql, [keyHash, owner, ...values]);
      this.#waiting.ended(keyHash.toString('hex'));
    };
    return {
      commandId: row.command_id,
      millis: row.millis,
      earlier: new Map(Object.entries(row.attempts)),
      async note(commandId, attempt) {
        const record = recordPatient(attempt.stream);
        const { rowCount } = await pool.query({
          name: 'idempotency-note',
          text: NOTE,
          values: [keyHash, owner, LEASE_SECONDS, commandId, JSON.stringify(attempt), record ?? null],
        });
        if (rowCount !== 1) throw stillRunning();
      },
      async secret() {
        const drawn = seal(randomBytes(32).toString('base64'), sealing);
        const { rows } = await pool.query<{ secret: Buffer }>(SECRET, [keyHash, owner, drawn]);
        const [row] = rows;
        if (row === undefined) throw stillRunning();
        return Buffer.from(unseal(row.secret, sealing), 'base64');
      },
      keep: (answer) =>
        end(KEEP, [seal(JSON.stringify(answer), sealing), recordsIn(answer), answer.reads === true]),
      forget: () => end('delete from operations.idempotency where key_hash = $1 and owner = $2', []),
      release: () =>
        end('update operations.idempotency set owner = null where key_hash = $1 and owner = $2', []),
    };
  }
}

const RENEW = `
update operations.idempotency set lease_until = now() + $3 * interval '1 second'
where key_hash = $1 and owner = $2`;

const NOTE = `
update operations.idempotency set lease_until = now() + $3 * interval '1 second',
  attempts = attempts || jsonb_build_object($4::text, $5::jsonb),
  records = case when $6::uuid is null or $6::uuid = any(records) then records else records || $6::uuid end
where key_hash = $1 and owner = $2`;

const SECRET = `
update operations.idempotency set secret = coalesce(secret, $3)
where key_hash = $1 and owner = $2 returning secret`;

/**
 * Doesn't store an answer that may contain data from a record that has been purged in the meantime (`forget`). The effect is
 * the same as if the request had died.
 */
const KEEP = `
update operations.idempotency set answer = case when reads then null else $3::bytea end,
  secret = case when reads then secret end,
  owner = null, reads = $5, expires_at = now() + interval '${KEPT_HOURS} hours',
  records = case when reads then records else array(select distinct r from unnest(records || $4::uuid[]) r) end
where key_hash = $1 and owner = $2`;

const PATIENTS =
  /(?:"resourceType":"Patient","id":"|\bPatient\/)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/g;

/** Returns the patients that an answer names; purging any of them deletes the answer. */
function recordsIn(answer: KeptAnswer): string[] {
  const ids = new Set<string>();
  for (const text of [answer.body ?? '', answer.headers.Location ?? '']) {
    for (const [, id] of text.matchAll(PATIENTS)) if (id !== undefined) ids.add(id);
  }
  return [...ids];
}

function stillRunning(): Refusal {
  return new Refusal(
    'conflict',
    {
      code: 'conflict',
      diagnostics: 'the first request with this Idempotency-Key is still running; retry in a second',
    },
    { 'Retry-After': '1' },
  );
}

/** Creates the store on a pool whose connections use PostgreSQL's synchronous commit. */
export function openIdempotency(pool: Pool): IdempotencyStore {
  return new IdempotencyStore(pool);
}
