/** Settings for the embedded server. */
import { totalmem } from 'node:os';

/** The name of the role and of the database in the cluster. */
export const NAME = 'annal';

/** For tests: data needn't survive a crash, and little space should be used. */
const QUICK = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  min_wal_size: '80MB',
  max_wal_size: '1GB',
};

/** Used only in the name of the socket; the server doesn't listen on TCP. */
export const PORT = 5432;

const MEGABYTE = 2 ** 20;

/**
 * Returns the size of PostgreSQL's own cache in megabytes: a sixteenth of the memory of the machine or container, between 128
 * and 1,024. Memory is allocated as the cache fills; other pages come from the system's cache.
 * @param machine bytes
 * @param container bytes; 0 if unknown
 */
export function sharedBuffers(machine: number, container: number): number {
  const memory = container > 0 ? Math.min(machine, container) : machine;
  return Math.min(1_024, Math.max(128, Math.floor(memory / MEGABYTE / 16)));
}

/**
 * Returns the arguments of `postgres` for a machine with two cores, which PostgreSQL shares with Node.
 * @param sockets the socket's folder.
 * @param mode `fsync: false` gives up durability, for tests; `readOnly: true` is for inspecting data without changing it.
 */
export function serverSettings(
  sockets: string,
  { fsync, readOnly }: { readonly fsync: boolean; readonly readOnly: boolean },
): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '',
    port: String(PORT),
    unix_socket_directories: sockets,
    unix_socket_permissions: '0700',
    max_connections: '300',
    shared_buffers: `${sharedBuffers(totalmem(), process.constrainedMemory())}MB`,
    work_mem: '16MB',
    maintenance_work_mem: '128MB',
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_logical_replication_workers: '0',
    // Segments are recycled, because creating one costs writers several milliseconds.
    min_wal_size: '512MB',
    max_wal_size: '4GB',
    checkpoint_timeout: '15min',
    random_page_cost: '1.1',
    jit: 'off',
    timezone: 'UTC',
    // Only messages about the server itself are logged, because messages about statements may quote clinical content.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    log_autovacuum_min_duration: '-1',
    log_line_prefix: '%m ',
    log_timezone: 'UTC',
    ...(readOnly ? { default_transaction_read_only: 'on', autovacuum: 'off' } : {}),
    ...(fsync ? {} : QUICK),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
