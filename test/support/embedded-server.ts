/** A process that runs the embedded PostgreSQL on the given folder, prints its URL, and waits to be killed. */
import { startEmbeddedPostgres } from '#src/database/embedded.ts';

const server = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? '', fsync: false });
console.log(`started ${server.pid} ${server.url}`);
setInterval(() => undefined, 60_000);
