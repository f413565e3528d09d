/** Refuses connections to a standby, because its data may lack acknowledged writes (docs/scale.md). */
import pg from 'pg';

/** Thrown when the server is a standby. */
export class StandbyRefused extends Error {
  override readonly name = 'StandbyRefused';
  /** SQLSTATE cannot_connect_now, because the next attempt may reach the primary. */
  readonly code = '57P03';

  constructor() {
    super(
      'the server is a standby, which may lack acknowledged writes; the address must lead to the primary',
    );
  }
}

/** The message with which a server reports a setting when a connection begins and whenever the setting changes. */
interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/**
 * A client whose `connect` fails with `StandbyRefused` on a standby. The server reports this by itself (`in_hot_standby`,
 * since PostgreSQL 14), so no statement is needed.
 */
export class PrimaryClient extends pg.Client {
  #isStandby = false;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on';
    });
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void;
  override connect(callback?: unknown): Promise<pg.Client> | undefined {
    if (callback === undefined)
      return super.connect().then(async () => {
        await this.#refuse();
        return this;
      });
    const tell = callback as (error: unknown, client?: pg.Client) => void;
    // Attached immediately, because no one listens for the connection's errors until the pool has been informed.
    super.connect((error: Error | null) => {
      if (error || !this.#isStandby) return tell(error, this);
      this.on('error', () => undefined);
      void this.#refuse().catch(tell);
    });
    return undefined;
  }

  async #refuse(): Promise<void> {
    if (!this.#isStandby) return;
    await this.end().catch(() => undefined);
    throw new StandbyRefused();
  }
}
