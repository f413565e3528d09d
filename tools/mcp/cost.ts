/**
 * Compares how long a context takes through `/mcp` and through REST v1, alternating between the two: `node --import tsx
 * tools/mcp/cost.ts [runs]`.
 */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { McpRecord } from '#test/support/mcp-record.ts';

const runs = Number(process.argv[2] ?? 300);
const on = await McpRecord.start();
const { mcp, rest } = await on.tokens(['patient/*.rs']);
for (let n = 0; n < 150; n += 1)
  await on.service.post('/Observation', {
    ...{
      resourceType: 'Observation',
      status: 'final',
      effectiveDateTime: `20${10 + (n % 16)}-0${1 + (n % 9)}-01`,
    },
    category: [
      {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' },
        ],
      },
    ],
    code: {
      coding: [{ system: 'http://loinc.org', code: `${1000 + (n % 40)}-1`, display: `Value ${n % 40}` }],
    },
    subject: { reference: `Patient/${on.patient}` },
    valueQuantity: { value: n, unit: 'mg/dL' },
  });
const { url } = on.service;
const asked = { question: 'How are the kidneys?', budget_tokens: 2_000 };
// Doesn't use fetch: in tests, fetch checks each response, which takes longer for REST.
const agent = new Agent({ keepAlive: true });
const post = async (path: string, token: string, body: object, headers = {}): Promise<string> => {
  const sent = request(url + path, {
    ...{ method: 'POST', agent },
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}`, ...headers },
  });
  sent.end(JSON.stringify(body));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const text = await readText(answer);
  if (answer.statusCode !== 200) throw new Error(text);
  return text;
};
const byRest = () => post('/v1/context', rest, { ...asked, patient: on.allowed.patient, format: 'text' });
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const byMcp = () =>
  post(
    '/mcp',
    mcp,
    {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'get_context', arguments: asked, _meta: meta },
    },
    {
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'get_context',
    },
  );
for (let n = 0; n < 30; n += 1) {
  await byRest();
  await byMcp();
}
const times: Record<'rest' | 'mcp', number[]> = { rest: [], mcp: [] };
for (let n = 0; n < runs; n += 1)
  for (const [name, run] of n % 2 === 0
    ? ([
        ['rest', byRest],
        ['mcp', byMcp],
      ] as const)
    : ([
        ['mcp', byMcp],
        ['rest', byRest],
      ] as const)) {
    const started = performance.now();
    await run();
    times[name].push(performance.now() - started);
  }
const at = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;
for (const part of [0.1, 0.25, 0.5, 0.75])
  console.log(
    `p${part * 100}: REST ${at(times.rest, part).toFixed(2)} ms, MCP ${at(times.mcp, part).toFixed(2)} ms, ${(at(times.mcp, part) / at(times.rest, part)).toFixed(3)} ×`,
  );
const spent: Record<'rest' | 'mcp', number[]> = { rest: [], mcp: [] };
for (let block = 0; block < 12; block += 1)
  for (const [name, run] of [
    ['rest', byRest],
    ['mcp', byMcp],
  ] as const) {
    const before = process.cpuUsage();
    for (let n = 0; n < 20; n += 1) await run();
    const { user, system } = process.cpuUsage(before);
    spent[name].push((user + system) / 20_000);
  }
console.log(
  `processor time of service and client: REST ${at(spent.rest, 0.5).toFixed(2)} ms, MCP ${at(spent.mcp, 0.5).toFixed(2)} ms, ${(at(spent.mcp, 0.5) / at(spent.rest, 0.5)).toFixed(3)} ×`,
);
console.log((await byRest()).length, (await byMcp()).length);
await on.stop();
process.exit();
