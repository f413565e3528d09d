/**
 * Runs the official MCP conformance suite against `/mcp`, for both revisions, through a proxy that adds an access token. The
 * suite needs Node.js 22: `node --import tsx tools/mcp/conformance.ts <folder with @modelcontextprotocol/conformance> [node]`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { McpRecord } from '#test/support/mcp-record.ts';
import { freePort } from '#test/support/process.ts';

const [folder = '', node = process.execPath] = process.argv.slice(2);
const SUITE = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

const on = await McpRecord.start();
const { mcp } = await on.tokens(['patient/*.cruds']);
const target = new URL(on.service.url);
const proxy = createServer((incoming, outgoing) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${mcp}` };
  const { method, url } = incoming;
  const passed = request(
    { host: target.hostname, port: target.port, method, path: url, headers },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    },
  );
  passed.on('error', () => outgoing.destroy());
  incoming.pipe(passed);
});
const port = await freePort();
proxy.listen(port, '127.0.0.1');
await once(proxy, 'listening');
for (const revision of ['2026-07-28', '2025-11-25']) {
  console.log(`\n== ${revision}`);
  const url = `http://127.0.0.1:${port}/mcp`;
  const run = spawn(node, [SUITE, 'server', '--url', url, '--requirements', revision], { stdio: 'inherit' });
  await once(run, 'exit');
}
proxy.close();
proxy.closeAllConnections();
await on.stop();
process.exit();
