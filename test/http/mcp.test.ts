/** `/mcp`: who is let in, what is listed, and what tools answer, with the official client (docs/mcp.md). */
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { signIn } from '#test/support/admin.ts';
import { type Allowed, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { callTool, connectMcp, REVISIONS } from '#test/support/mcp.ts';
import { restOf } from '#test/support/rest.ts';

const LAB = 'laboratory';

describe('/mcp', () => {
  let service: InProcess;
  let granting: Granting;
  let patient: string;
  let whole: Allowed;
  let client: Client;

  const { made, v1 } = restOf(() => service);
  const post = (token: string | undefined, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: JSON.stringify(body),
    });
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    const application = await granting.register(owner, id, ['patient/*.cruds']);
    patient = String((await made('/patients', { family: 'Sand', birth_date: '1957-03-14' })).id);
    const value = { code: '4548-4', category: LAB, unit: '%' };
    const observation = (at: string, body: object, headers = {}) =>
      made(
        `/patients/${patient}/observations`,
        { ...value, effective_at: `${at}T08:00:00Z`, ...body },
        headers,
      );
    await observation('2026-01-01', { value: 7.1 });
    await observation('2026-02-01', { value: 6.9 });
    await observation('2026-03-01', { value: 6.5 });
    await observation('2026-04-01', { value: 6.1 }, { 'X-Service-Author-Type': 'ai' });
    await made(`/patients/${patient}/conditions`, { code: 'E11.9', onset: '2020-01-01' });
    await made(`/patients/${patient}/medications`, { code: 'A10BA02', start: '2026-01-01' });
    await service.post('/Observation', {
      ...{ resourceType: 'Observation', status: 'final', effectiveDateTime: '2026-01-05' },
      code: { coding: [{ system: 'http://loinc.org', code: '2160-0', display: 'Creatinine' }] },
      subject: { reference: `Patient/${patient}` },
      valueQuantity: { value: 1.5, unit: 'mg/dL' },
    });
    whole = await granting.allow(application, patient, {
      scopes: ['patient/*.rs'],
      resources: [`${service.url}/mcp`],
    });
    client = await connectMcp(service.url, whole.token);
  });
  after(async () => {
    await client?.close();
    await granting?.close();
    await service?.stop();
  });

  it('takes only access tokens whose resource names it', async () => {
    const elsewhere = await granting.tokenOf(whole, ['patient/*.rs'], [service.url]);
    const everywhere = await granting.tokenOf(whole, ['patient/*.rs'], []);
    for (const token of [undefined, service.key, elsewhere, everywhere, 'at_unknown_unknown_unknown']) {
      const answer = await post(token, ping);
      expect(answer.status, token).to.equal(401);
      expect(answer.headers.get('www-authenticate')).to.contain(
        `resource_metadata="${service.url}/.well-known/oauth-protected-resource/mcp"`,
      );
    }
    const metadata = await fetch(`${service.url}/.well-known/oauth-protected-resource/mcp`);
    expect((await metadata.json()).resource).to.equal(`${service.url}/mcp`);
    // A token for it opens nothing else.
    expect((await v1('GET', `/patients/${whole.patient}`, undefined, {}, whole.token)).status).to.equal(401);
  });

  it('refuses pages of other origins', async () => {
    for (const [origin, status] of [
      ['https://evil.example', 403],
      ['null', 403],
      [service.url, 200],
      ['http://localhost:6274', 200],
    ] as const)
      expect((await post(whole.token, ping, { Origin: origin })).status, origin).to.equal(status);
  });

  for (const revision of REVISIONS)
    it(`lists and calls the tools for ${revision}`, async () => {
      const own = await connectMcp(service.url, whole.token, revision);
      const { tools } = await own.listTools();
      expect(tools.map(({ name }) => name)).to.deep.equal([
        'get_context',
        'search_record',
        'read_resource',
        'timeline',
        'series',
        'find_patterns',
        'compare_periods',
        'lookup_code',
        'what_may_i_do',
      ]);
      for (const { name, annotations, outputSchema } of tools) {
        expect(annotations?.readOnlyHint, name).to.equal(name !== 'propose_change');
        expect(outputSchema, name).to.not.equal(undefined);
      }
      const context = await callTool(own, 'get_context', { question: 'How is the diabetes?' });
      expect(context.text).to.contain('<record_content>');
      expect(context.links[0]).to.match(/\/fhir\/R4\/\w+\/[\w-]+\/_history\/1$/);
      await own.close();
    });

  it('answers each tool', async () => {
    const search = await callTool(client, 'search_record', {
      type: 'Observation',
      parameters: { code: '2160-0' },
    });
    expect(search.text).to.contain('Creatinine');
    const read = await callTool(client, 'read_resource', {
      type: 'Observation',
      id: /Observation\/([\w-]+)/.exec(search.links[0] ?? '')?.[1] ?? '',
    });
    expect(read.structured.record_content).to.have.nested.property('resource.code.coding[0].code', '2160-0');
    expect(read.structured.record_content).to.have.nested.property('provenance.author_type', 'import');
    const timeline = await callTool(client, 'timeline', { kinds: ['observation'] });
    expect(timeline.structured.record_content).to.have.property('entries').with.length(4);
    expect(timeline.structured.ai_written).to.have.length(1);
    const series = await callTool(client, 'series', { code: '4548-4' });
    expect(series.structured.record_content).to.have.property('points').with.length(3);
    const patterns = await callTool(client, 'find_patterns');
    expect(patterns.structured.record_content).to.have.property('findings');
    const compared = await callTool(client, 'compare_periods', {
      code: '4548-4',
      a: { from: '2026-01-01', to: '2026-01-31' },
      b: { from: '2026-02-01', to: '2026-03-31' },
    });
    expect(compared.structured.record_content).to.have.property('sufficient', false);
    const codes = await callTool(client, 'lookup_code', { text: 'blood sugar', system: 'loinc' });
    expect(codes.text).to.contain('2345-7');
    const may = await callTool(client, 'what_may_i_do');
    expect(may.structured.patient).to.equal(whole.patient);
    expect(may.text).to.contain('patient/*.rs');
    for (const each of [search, read, timeline, series, patterns, compared, codes, may])
      expect(each.isError, each.text).to.equal(false);
  });

  it('reads a version that a result links to', async () => {
    const { links } = await callTool(client, 'search_record', { type: 'Condition' });
    const { contents } = await client.readResource({ uri: links[0] ?? '' });
    expect(contents[0]).to.have.property('text').that.contains('E11.9');
  });
});
