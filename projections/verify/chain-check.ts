/**
 * Checks the hash chains of all streams while the log is read, and compares them with the heads in a checkpoint. Each stream's
 * last event is kept in temporary tables, so memory use doesn't grow with the log.
 */
import type { ClientBase } from 'pg';
import { GENESIS, readHash, verifyLink } from '#src/events/chain.ts';
import type { RecordedEvent, StreamHead } from '#src/events/store.ts';

/** A stream's head: its last revision, and that event's hash. */
export interface NamedHead extends StreamHead {
  readonly stream: string;
}

/** A broken link in a chain. */
export interface BrokenLink {
  /**
   * `hash`: an event was altered or moved; `revision`: a stream's events are missing or duplicated; `checkpoint`: the history
   * up to here differs from the checkpoint's.
   */
  readonly what: 'hash' | 'revision' | 'checkpoint';
  readonly event: RecordedEvent;
  readonly message: string;
}

/** A stream that the checkpoint names but that no longer reaches its head in the checkpoint. */
export interface LostHead extends NamedHead {
  /** The last revision that exists now; null if the stream has no events at all. */
  readonly seen: number | null;
}

interface Seen {
  readonly revision: number;
  /** Undefined if the last event has no hash, in which case the next event can't be checked. */
  readonly hash: string | undefined;
}

const AT_A_TIME = 5_000;

/** Checks the chain of every stream. */
export class ChainCheck {
  #expecting = false;

  /** @param session contains the temporary tables; must not be used by anything else in the meantime */
  constructor(private readonly session: ClientBase) {}

  /** Creates the temporary tables. */
  async begin(): Promise<void> {
    await this.session.query(`
      create temp table seen_stream (stream text collate "C" primary key, revision int not null, hash text);
      create temp table expected_head (stream text collate "C" primary key, revision int not null, hash text not null)`);
  }

  /** Stores the heads that streams once had; call it before the first `check`. */
  async expect(heads: AsyncIterable<NamedHead>): Promise<void> {
    this.#expecting = true;
    let some: NamedHead[] = [];
    const add = async (): Promise<void> => {
      await this.session.query(
        'insert into expected_head select * from unnest($1::text[], $2::int[], $3::text[])',
        [some.map(({ stream }) => stream), some.map((head) => head.revision), some.map(({ hash }) => hash)],
      );
      some = [];
    };
    for await (const head of heads) {
      some.push(head);
      if (some.length === AT_A_TIME) await add();
    }
    await add();
  }

  /** Checks the next events, in log order. */
  async check(events: readonly RecordedEvent[]): Promise<BrokenLink[]> {
    const streams = [...new Set(events.map(({ stream }) => stream))];
    const expected = await this.#expected(streams);
    const { rows } = await this.session.query<Seen & { stream: string }>(
      'select stream, revision, hash from seen_stream where stream = any($1)',
      [streams],
    );
    const seen = new Map<string, Seen>(rows.map((row) => [row.stream, row]));
    const broken: BrokenLink[] = [];
    for (const event of events) {
      const { revision, hash } = seen.get(event.stream) ?? { revision: -1, hash: GENESIS };
      if (event.revision !== revision + 1) {
        broken.push({ what: 'revision', event, message: `revision ${event.revision} follows ${revision}` });
      } else if (hash !== undefined && verifyLink(hash, event) === undefined) {
        const message = 'hash mismatch: this event or the one before it was altered';
        broken.push({ what: 'hash', event, message });
      }
      const own = readHash(event);
      const head = expected.get(event.stream);
      if (head?.revision === event.revision && head.hash !== own) {
        const message = `the history up to revision ${head.revision} differs from the one signed in the checkpoint`;
        broken.push({ what: 'checkpoint', event, message });
      }
      seen.set(event.stream, { revision: event.revision, hash: own });
    }
    await this.session.query(
      `insert into seen_stream select * from unnest($1::text[], $2::int[], $3::text[])
       on conflict (stream) do update set revision = excluded.revision, hash = excluded.hash`,
      [
        streams,
        streams.map((stream) => seen.get(stream)?.revision),
        streams.map((stream) => seen.get(stream)?.hash ?? null),
      ],
    );
    return broken;
  }

  /** Returns true if the stream had any events. */
  async has(stream: string): Promise<boolean> {
    const { rowCount } = await this.session.query('select 1 from seen_stream where stream = $1', [stream]);
    return rowCount !== 0;
  }

  /** Forgets an erased stream. */
  async forget(stream: string): Promise<void> {
    await this.session.query('delete from seen_stream where stream = $1', [stream]);
  }

  async streams(): Promise<number> {
    const { rows } = await this.session.query<{ n: string }>('select count(*)::text as n from seen_stream');
    return Number(rows[0]?.n ?? 0);
  }

  /** Returns the number of expected heads. */
  async expected(): Promise<number> {
    const { rows } = await this.session.query<{ n: string }>('select count(*)::text as n from expected_head');
    return Number(rows[0]?.n ?? 0);
  }

  /** Returns the streams that don't reach their expected heads. Call it once everything has been checked. */
  async lost(): Promise<LostHead[]> {
    const { rows } = await this.session.query<LostHead>(
      `select e.stream, e.revision, e.hash, s.revision as seen
         from expected_head e left join seen_stream s using (stream)
        where s.revision is null or s.revision < e.revision order by e.stream`,
    );
    return rows;
  }

  /** Yields every stream's head, in byte order of the names. */
  async *heads(): AsyncGenerator<NamedHead> {
    for (let after = ''; ; ) {
      const { rows } = await this.session.query<NamedHead>(
        'select stream, revision, hash from seen_stream where stream > $1 order by stream limit $2',
        [after, AT_A_TIME],
      );
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.stream;
    }
  }

  async #expected(streams: readonly string[]): Promise<Map<string, NamedHead>> {
    if (!this.#expecting) return new Map();
    const { rows } = await this.session.query<NamedHead>(
      'select stream, revision, hash from expected_head where stream = any($1)',
      [streams],
    );
    return new Map(rows.map((head) => [head.stream, head]));
  }
}
