/** `/mcp`: who is admitted, what is listed, and what tools return, tested with the official client (docs/mcp.md). */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import type { JsonObject } from '#src/shared/json/json.ts';
import { signIn } from '#test/support/admin.ts';
import { type Allowed, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { callTool, connectMcp, connectStdio, REVISIONS } from '#test/support/mcp.ts';
import { restOf } from '#test/support/rest.ts';
import { makePdf, PNG } from '#test/support/small-files.ts';

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
      scopes: ['patient/*.cruds'],
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
    // A token for `/mcp` isn't accepted anywhere else.
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
        'list_documents',
        'read_document',
        'what_may_i_do',
        'propose_change',
        'my_proposals',
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
    expect(may.text).to.contain('patient/*.cruds');
    for (const each of [search, read, timeline, series, patterns, compared, codes, may])
      expect(each.isError, each.text).to.equal(false);
  });

  it('reads a version that a result links to', async () => {
    const { links } = await callTool(client, 'search_record', { type: 'Condition' });
    const { contents } = await client.readResource({ uri: links[0] ?? '' });
    expect(contents[0]).to.have.property('text').that.contains('E11.9');
  });

  it('keeps the digits of numbers, and pages what is long', async () => {
    await service.post('/Observation', {
      ...{ resourceType: 'Observation', status: 'final', effectiveDateTime: '2026-02-05' },
      code: { text: 'Long' },
      subject: { reference: `Patient/${patient}` },
      valueString: 'ä'.repeat(120_000),
    });
    const digits =
      '{"resourceType":"Observation","status":"final","code":{"text":"Digits"},"subject":{"reference":"Patient/';
    const sent = await service.fhir('/Observation', {
      method: 'POST',
      body: `${digits}${patient}"},"valueQuantity":{"value":1.50}}`,
    });
    expect(sent.status, sent.text).to.equal(201);
    const call = {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'read_resource', arguments: { type: 'Observation', id: sent.json.id } },
    };
    expect(await (await post(whole.token, call)).text()).to.contain('"value":1.50');
    const args = { type: 'Observation', parameters: { 'code:text': 'Long' } };
    const listed = await callTool(client, 'search_record', args);
    expect(listed.structured.incomplete).to.have.nested.property('[0].left_out_by', 'size');
    const [, id = ''] = /Observation\/([\w-]+)/.exec(listed.links[0] ?? '') ?? [];
    let json = '';
    let cursor: unknown = null;
    do {
      const part = await callTool(client, 'read_resource', {
        ...{ type: 'Observation', id },
        ...(typeof cursor === 'string' ? { cursor } : {}),
      });
      expect(JSON.stringify(part.structured).length).to.be.below(101_000);
      json += String(Object(part.structured.record_content).json_part);
      cursor = part.structured.next_cursor;
    } while (cursor !== null);
    expect(JSON.parse(json).valueString).to.have.length(120_000);
    const pages: string[] = [];
    for (let next: unknown = ''; next !== null; ) {
      const page = await callTool(client, 'search_record', {
        ...{ type: 'Observation', limit: 2 },
        ...(next === '' ? {} : { cursor: String(next) }),
      });
      pages.push(...page.links);
      next = page.structured.next_cursor;
    }
    expect(new Set(pages).size).to.equal(7).and.equal(pages.length);
  });

  it('reads documents: text, HTML without tags, PDFs, images and other files', async () => {
    const pdf = makePdf('Metformin 500 mg');
    for (const [type, bytes, expected] of [
      ['text/plain', Buffer.from('Plain words'), 'Plain words'],
      ['text/html', Buffer.from('<p>Rich <b>words</b></p><script>alert(1)</script>'), 'Rich words'],
      ['application/pdf', pdf, 'Metformin 500 mg'],
      ['image/png', PNG, 'image'],
      ['application/octet-stream', Buffer.from([1, 2, 3]), 'resource'],
    ] as const) {
      const { id } = await made(`/patients/${patient}/documents`, { title: `A ${type}`, content_type: type });
      const put = await fetch(`${service.url}/v1/documents/${id}/content`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': type },
        body: new Uint8Array(bytes),
      });
      expect(put.status, await put.text()).to.equal(200);
      const { text, content, structured, isError } = await callTool(client, 'read_document', {
        id: String(id),
      });
      expect(isError, text).to.equal(false);
      const block = content.find((each) => each.type === 'image' || each.type === 'resource');
      if (expected === 'image' || expected === 'resource') expect(block?.type).to.equal(expected);
      else {
        expect(structured.record_content).to.have.property('text', expected);
        expect(text).to.contain(expected).and.not.contain('alert');
      }
    }
    const listed = await callTool(client, 'list_documents');
    expect(listed.structured.record_content).to.have.property('entries').with.length(5);
    expect(listed.structured.incomplete).to.deep.equal([]);
    const wrong = await service.fhir('/DocumentReference', {
      method: 'POST',
      body: JSON.stringify({
        ...{ resourceType: 'DocumentReference', status: 'entered-in-error' },
        ...{ subject: { reference: `Patient/${patient}` }, content: [{ attachment: { title: 'Wrong' } }] },
      }),
    });
    expect(wrong.status).to.equal(201);
    const less = await callTool(client, 'list_documents');
    expect(less.structured.record_content).to.have.property('entries').with.length(5);
    expect(less.text).to.contain('Not listed: 1 entered in error.');
    expect(less.structured.incomplete).to.deep.equal([
      { left_out_by: 'error', what: 'documents that were entered in error', count: 1 },
    ]);
  });

  it('reads a document that an AI wrote apart from the record’s content', async () => {
    const written = await service.fhir('/DocumentReference', {
      method: 'POST',
      headers: { 'X-Service-Author-Type': 'ai' },
      body: JSON.stringify({
        ...{
          resourceType: 'DocumentReference',
          status: 'current',
          subject: { reference: `Patient/${patient}` },
        },
        content: [
          { attachment: { contentType: 'text/plain', data: Buffer.from('A draft').toString('base64') } },
        ],
      }),
    });
    const id = String(written.json.id);
    const { text, structured, isError } = await callTool(client, 'read_document', { id });
    expect(isError, text).to.equal(false);
    expect(structured.record_content).to.deep.equal({});
    expect(structured.ai_written).to.have.nested.property('[0].text', 'A draft');
    expect((await service.fhir(`/DocumentReference/${id}`, { method: 'DELETE' })).status).to.equal(204);
  });

  it('proposes a change, which the person decides about', async () => {
    const { links } = await callTool(client, 'search_record', { type: 'Condition' });
    const [, id = ''] = /Condition\/([\w-]+)/.exec(links[0] ?? '') ?? [];
    const read = await callTool(client, 'read_resource', { type: 'Condition', id });
    const { resource } = Object(read.structured.record_content);
    const change = { ...resource, note: [{ text: 'Since 2019, you wrote.' }] };
    const proposed = await callTool(client, 'propose_change', {
      ...{ operation: 'update', resource: change, current_version: 1, rationale: 'You wrote that.' },
    });
    expect(proposed.isError, proposed.text).to.equal(false);
    expect(proposed.structured.record_content).to.include({ status: 'pending', author_type: 'ai' });
    const mine = await callTool(client, 'my_proposals', { status: 'pending' });
    expect(mine.structured.record_content).to.have.nested.property(
      'proposals[0].rationale',
      'You wrote that.',
    );
    const invalid = await callTool(client, 'propose_change', {
      ...{ operation: 'create', resource: { resourceType: 'Condition' }, rationale: 'Why not' },
    });
    expect(invalid.isError).to.equal(true);
    expect(invalid.text).to.contain('subject');
  });

  it('answers as of an earlier moment', async () => {
    const before = new Date().toISOString();
    await made(`/patients/${patient}/conditions`, { code: 'I10', onset: '2026-05-01' });
    const asked: readonly (readonly [string, JsonObject])[] = [
      ['search_record', { type: 'Condition' }],
      ['timeline', { kinds: ['condition'] }],
    ];
    for (const [name, args] of asked) {
      const now = await callTool(client, name, args);
      const then = await callTool(client, name, { ...args, as_of: before });
      expect(Object(now.structured.record_content).entries, name).to.have.length(2);
      expect(Object(then.structured.record_content).entries, name).to.have.length(1);
    }
  });

  it('says what a scope leaves out, and what would help', async () => {
    const narrow = await granting.tokenOf(
      whole,
      ['patient/Observation.rs?category=laboratory'],
      [`${service.url}/mcp`],
    );
    const own = await connectMcp(service.url, narrow);
    const refused = await callTool(own, 'search_record', { type: 'Condition' });
    expect(refused.isError).to.equal(true);
    expect(refused.text).to.contain('patient/Condition.s').and.contain('ask the person for access');
    const observations = await callTool(own, 'search_record', { type: 'Observation' });
    expect(observations.structured.incomplete).to.deep.equal([
      { left_out_by: 'scope', what: 'Observation outside the category laboratory' },
    ]);
    const context = await callTool(own, 'get_context');
    expect(JSON.stringify(context.structured.incomplete)).to.contain('"what":"Condition"');
    await own.close();
  });

  it('has the name of the tool in the access log', async () => {
    const { data } = (await v1('GET', `/patients/${patient}/access-log?limit=100`)).json;
    const actions = new Set((Array.isArray(data) ? data : []).map((entry) => Object(entry).action));
    expect([...actions]).to.have.members([
      ...['get_context', 'search_record', 'read_resource', 'timeline', 'series', 'find_patterns'],
      ...['compare_periods', 'lookup_code', 'list_documents', 'read_document', 'what_may_i_do'],
      ...['propose_change', 'my_proposals'],
    ]);
  });

  it('is served over standard input and output, with a key or a token', async () => {
    const withKey = await connectStdio(service.url, service.key);
    const { tools } = await withKey.listTools();
    expect(tools.map(({ name }) => name))
      .to.include('find_patient')
      .and.not.include('propose_change');
    const found = await callTool(withKey, 'find_patient', { q: 'sand' });
    expect(found.text).to.contain(patient);
    const unnamed = await callTool(withKey, 'timeline');
    expect(unnamed.text).to.contain('find_patient');
    expect((await callTool(withKey, 'timeline', { patient })).text).to.contain('Condition');
    await withKey.close();
    const token = await granting.tokenOf(whole);
    const withToken = await connectStdio(service.url, token);
    const may = await callTool(withToken, 'what_may_i_do');
    expect(may.structured.patient).to.equal(whole.patient);
    expect((await callTool(withToken, 'get_context')).text).to.contain('<record_content>');
    await withToken.close();
  });

  it('keeps the digits of what is proposed over standard input', async () => {
    const token = await granting.tokenOf(whole);
    const lines = [
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"propose_change","arguments":{"operation":"create","rationale":"Ä","resource":{"resourceType":"Observation","status":"final","code":{"text":"Weight"},"subject":{"reference":"Patient/${whole.patient}"},"valueQuantity":{"value":70.50}}}}}`,
    ];
    const input = Buffer.from(`${lines.join('\n')}\n`);
    const child = spawn(process.execPath, ['bin/annal.js', 'mcp', '--url', service.url, '--key', token], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      // A chunk can end anywhere, even within a character.
      const middle = input.indexOf('Ä') + 1;
      child.stdin.write(input.subarray(0, middle));
      child.stdin.write(input.subarray(middle));
      let answer = '';
      for await (const line of createInterface({ input: child.stdout }))
        if (line.includes('"id":"a"')) {
          answer = line;
          break;
        }
      const [, id = ''] = /Proposed as ([\w-]+)\./.exec(answer) ?? [];
      const kept = await v1('GET', `/patients/${whole.patient}/proposals/${id}`, undefined, {}, token);
      expect(kept.text, answer).to.contain('"value":70.50').and.contain('"rationale":"Ä"');
    } finally {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    }
  });
});
