/** `annal applications --guests`, `block` and `unblock`: let an operator list guests, and block or unblock a host's guests. */
import type { Pool } from 'pg';
import { blockHost, openGuestCommands, unblockHost } from '#commands/application/guests.ts';
import { Kernel } from '#commands/kernel/kernel.ts';
import { PROJECT } from '#commands/project/state.ts';
import { findGuestIds, type GuestRow, readBlockedHosts, readGuests } from '#queries/admin/guests.ts';
import { openPool } from '#src/database/pool.ts';
import { projectStream } from '#src/events/streams.ts';
import { GUESTS } from '#src/shared/access/guests.ts';
import { IdSource, newId, newUuid } from '#src/shared/ids.ts';
import { isSourceHost } from '#src/shared/source-host.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { requireDatabaseUrl, withEventStore } from '../database.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import { counted, table, withoutEmpty } from '../table.ts';
import { decideAsOperator, type OperatorOptions, print } from './operator.ts';

/** Lists the installation's guests and the blocked hosts. */
export async function listGuests(options: OperatorOptions): Promise<void> {
  const [guests, blocked] = await query(options, async (pool) => [
    await readGuests(pool),
    await readBlockedHosts(pool),
  ]);
  const data = guests.map((guest) => ({
    ...{ id: guest.id, client_id: guest.client_id, host: guest.host, name: guest.name },
    ...{ environment: guest.environment, grants: guest.grants, read_at: toInstant(guest.created_at) },
    used_at: guest.used_at === null ? null : toInstant(guest.used_at),
  }));
  print({ data, blocked, total: data.length }, describe(guests, blocked), options.json ?? false);
}

function describe(guests: readonly GuestRow[], blocked: readonly string[]): string {
  const rows = guests.map((guest) => [
    guest.host,
    guest.name,
    guest.environment,
    String(guest.grants),
    guest.used_at === null ? '' : toInstant(guest.used_at).slice(0, 10),
    guest.client_id,
  ]);
  const heading = ['Host', 'Name', 'Environment', 'Grants', 'Last used', 'Document'];
  const list =
    rows.length === 0
      ? 'There are no guests.'
      : `${table(...withoutEmpty(heading, rows))}\n\n${counted(rows.length, 'guest')}.`;
  return blocked.length === 0 ? list : `${list}\nBlocked: ${blocked.join(', ')}.`;
}

/**
 * Blocks a host and its subdomains and deletes its guests, which ends their grants; or unblocks the host.
 * @throws Failure for an invalid host
 */
export async function blockGuests(
  action: 'block' | 'unblock',
  text: string,
  options: OperatorOptions,
): Promise<void> {
  const host = text.toLowerCase();
  if (!isSourceHost(host) || host.endsWith('.'))
    throw new Failure(`name the host: annal applications ${action} app.example.org`, MISUNDERSTOOD);
  const blocks = action === 'block';
  await decideAsOperator(
    {
      fold: PROJECT,
      stream: projectStream(GUESTS.project),
      decide: (blocks ? blockHost : unblockHost)(host),
      sentence: blocks
        ? `${host} is blocked: its guests are no longer accepted, and their access ends`
        : `${host} is not blocked`,
      data: { host, blocked: blocks },
    },
    options,
  );
  if (blocks) await deleteGuests(host, options);
}

/** Deletes a host's guests. A guest that is registered in the meantime can't be used, because every step checks the block. */
async function deleteGuests(host: string, options: OperatorOptions): Promise<void> {
  const ids = await query(options, (pool) => findGuestIds(pool, host));
  await withEventStore(await requireDatabaseUrl(options), async (store) => {
    const commands = openGuestCommands(new Kernel(store));
    for (const id of ids) {
      await commands.forget(
        {
          credential: { kind: 'system' },
          requestId: newId('req_'),
          ids: new IdSource(newUuid(), Date.now()),
          now: nowMicros,
        },
        id,
      );
    }
  });
}

async function query<T>(options: OperatorOptions, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(await requireDatabaseUrl(options), { max: 1, name: 'annal applications' });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
