/** Keeps a row for each instance that runs on this database, with the time when it was last known to be alive. */
import { hostname } from 'node:os';
import type { Pool } from 'pg';

/** The DDL of a separate migration. */
export const INSTANCES_SQL = `
CREATE TABLE operations.instance (
  id text PRIMARY KEY,
  version text NOT NULL,
  host text NOT NULL,
  pid int NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);`;

/** Migration that adds the processes and read models that an instance runs. */
export const INSTANCE_RUNS_SQL =
  "ALTER TABLE operations.instance ADD COLUMN runs text[] NOT NULL DEFAULT '{}';";

const BEAT_MS = 10_000;

// Each heartbeat also deletes the rows of instances that stopped more than a week ago.
const BEAT = `
with gone as (delete from operations.instance where seen_at < clock_timestamp() - interval '7 days')
insert into operations.instance as i (id, version, host, pid, runs) values ($1, $2, $3, $4, $5)
on conflict (id) do update set seen_at = clock_timestamp(), runs = excluded.runs`;

/** This instance. */
export class Instance {
  #beating: NodeJS.Timeout | undefined;
  #last: Promise<void> | undefined;

  constructor(
    private readonly pool: Pool,
    /** If the instance has several processes, identifies the process that receives signals. */
    private readonly mark: { readonly id: string; readonly pid: number },
    private readonly version: string,
    /** Returns the names of the processes and read models that this instance runs. */
    private readonly runs: () => readonly string[],
  ) {}

  /** Starts reporting that this instance is alive; returns at once. */
  start(): void {
    const beat = (): void => {
      this.#last = this.#beat();
    };
    this.#beating = setInterval(beat, BEAT_MS).unref();
    beat();
  }

  /** Removes its row. */
  async stop(): Promise<void> {
    clearInterval(this.#beating);
    // A heartbeat that is under way would insert the row again, as if the instance had crashed.
    await this.#last;
    await this.pool
      .query('delete from operations.instance where id = $1', [this.mark.id])
      .catch(() => undefined);
  }

  /** If this fails, the instance just appears to have been last seen a while ago. */
  async #beat(): Promise<void> {
    const { id, pid } = this.mark;
    const values = [id, this.version, hostname(), pid, this.runs()];
    await this.pool.query({ name: 'instance-beat', text: BEAT, values }).catch(() => undefined);
  }
}
