/** The instances that run on this database, each with a row that says when it was last alive. */
import { hostname } from 'node:os';
import type { Pool } from 'pg';

/** DDL of a separate migration. */
export const INSTANCES_SQL = `
CREATE TABLE operations.instance (
  id text PRIMARY KEY,
  version text NOT NULL,
  host text NOT NULL,
  pid int NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);`;

/** A migration: the processes and read models that an instance runs. */
export const INSTANCE_RUNS_SQL =
  "ALTER TABLE operations.instance ADD COLUMN runs text[] NOT NULL DEFAULT '{}';";

const BEAT_MS = 10_000;

// Rows of instances that ended long ago go with the beats of the others.
const BEAT = `
with gone as (delete from operations.instance where seen_at < clock_timestamp() - interval '7 days')
insert into operations.instance as i (id, version, host, pid, runs) values ($1, $2, $3, $4, $5)
on conflict (id) do update set seen_at = clock_timestamp(), runs = excluded.runs`;

/** This instance. */
export class Instance {
  #beating: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: Pool,
    /** Of the process that gets signals, where the instance is several. */
    private readonly mark: { readonly id: string; readonly pid: number },
    private readonly version: string,
    /** Returns the names of the processes and read models that this instance runs. */
    private readonly runs: () => readonly string[],
  ) {}

  /** Begins to show that it is alive; returns at once. */
  start(): void {
    this.#beating = setInterval(() => void this.#beat(), BEAT_MS).unref();
    void this.#beat();
  }

  /** Removes its row. */
  async stop(): Promise<void> {
    clearInterval(this.#beating);
    await this.pool
      .query('delete from operations.instance where id = $1', [this.mark.id])
      .catch(() => undefined);
  }

  /** A failure shows as an instance that was last seen a while ago. */
  async #beat(): Promise<void> {
    const { id, pid } = this.mark;
    const values = [id, this.version, hostname(), pid, this.runs()];
    await this.pool.query({ name: 'instance-beat', text: BEAT, values }).catch(() => undefined);
  }
}
