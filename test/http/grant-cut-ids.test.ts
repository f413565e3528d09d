/** Under a grant, no response shows part of the Patient's real id, or ids of documents in other records (section 1). */
import { expect } from 'chai';
import { GrantWriting } from '#test/support/grant-writing.ts';
import type { Allowed } from '#test/support/granted.ts';
import { eventually } from '#test/support/process.ts';
import { dataOf, restOf } from '#test/support/rest.ts';
import type { Answer } from '#test/support/service.ts';

describe('ids under a grant', () => {
  let on: GrantWriting;
  let whole: Allowed;
  let writer: Allowed;

  const { v1, made } = restOf(() => on.service);
  const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    v1(method, path, body, headers, whole.token);

  before(async () => {
    on = await GrantWriting.start();
    whole = await on.allow(['patient/*.cruds']);
    writer = await on.allow(['patient/Condition.cu']);
  });
  after(() => on?.stop());

  /** Checks that a response shows neither the real id nor more than a little of its beginning. */
  function hides(answer: Answer, what: string): void {
    const all = [answer.text, ...[...answer.headers].flat()].join('\n').toLowerCase();
    expect(all, what).to.not.contain(on.record.slice(0, 20));
  }

  it('are not shown in part where messages cut them', async () => {
    for (let before = 0; before < 64; before += 7) {
      const text = `${'x'.repeat(before)}${whole.patient}`;
      for (const path of ['observations', 'documents', 'patterns', 'provenance/Observation'])
        hides(await send('GET', `/${path}/${text}`), `${path}, ${before}`);
      hides(await send('GET', `/patients/${whole.patient}/proposals/${text}`), `proposal, ${before}`);
      const authored = { 'X-Service-Author-Type': text };
      const body = { code: 'E11.9', author_type: 'ai' };
      hides(
        await send('POST', `/patients/${whole.patient}/conditions`, body, authored),
        `author type, ${before}`,
      );
      for (const path of [`/${text}`, `/Observation?${text}=1`, `/Observation?code:${text}=1`])
        hides(await on.ask(whole, path), path);
      const bundle = {
        resourceType: 'Bundle',
        type: 'batch',
        entry: [{ request: { method: 'GET', url: `${'y'.repeat(64)}${text}%` } }],
      };
      hides(await on.send(whole, 'POST', '/', bundle), `bundle, ${before}`);
    }
  });

  it('are not shown in part in titles of the timeline and names of files', async () => {
    const code = { text: `${'t'.repeat(280)}${whole.patient} and more` };
    const subject = { reference: `Patient/${whole.patient}` };
    const condition = await on.send(whole, 'POST', '/Condition', {
      resourceType: 'Condition',
      code,
      subject,
    });
    expect(condition.status, condition.text).to.equal(201);
    const timeline = `/patients/${whole.patient}/timeline`;
    await eventually(async () => (await send('GET', timeline)).text.includes('ttt'));
    hides(await send('GET', timeline), 'timeline');
    const title = `${'f'.repeat(3)}g${'h'.repeat(126)}${whole.patient} and more`;
    const document = await on.send(whole, 'POST', '/DocumentReference', {
      resourceType: 'DocumentReference',
      status: 'current',
      subject,
      content: [{ attachment: { contentType: 'text/plain', title, data: 'aGVsbG8=' } }],
    });
    expect(document.status, document.text).to.equal(201);
    const content = await send('GET', `/documents/${String(document.json.id)}/content`);
    expect([content.status, content.headers.get('content-disposition')?.includes('hhh')]).to.deep.equal([
      200,
      true,
    ]);
    hides(content, 'content');
  });

  it('of other records’ documents are left out of `derived_from`, in items and lists', async () => {
    const document = (record: string) => ({
      resourceType: 'DocumentReference',
      status: 'current',
      subject: { reference: `Patient/${record}` },
      content: [{ attachment: { contentType: 'text/plain', title: 'Letter', data: 'aGVsbG8=' } }],
    });
    const other = await on.created({ resourceType: 'Patient', name: [{ family: 'Sand' }] });
    const [near, far] = [await on.created(document(on.record)), await on.created(document(other))];
    const id = await on.created(
      on.observation(on.record, 'laboratory', {
        valueString: 'derived',
        derivedFrom: [far, near].map((each) => ({ reference: `DocumentReference/${each}` })),
      }),
    );
    expect((await v1('GET', `/observations/${id}`)).json.derived_from).to.deep.equal([far, near]);
    expect((await send('GET', `/observations/${id}`)).json.derived_from).to.deep.equal([near]);
    const list = await send('GET', `/patients/${whole.patient}/observations`);
    expect(dataOf(list).map((each) => each.derived_from)).to.deep.include([near]);
    expect(list.text).to.not.contain(far);
  });

  it('tell a proposal without `r` neither the current version nor that a resource is deleted', async () => {
    const condition = { code: 'E11.9', onset: '2020-01-01' };
    const path = `/patients/${on.record}/conditions`;
    const [kept, gone] = [String((await made(path, condition)).id), String((await made(path, condition)).id)];
    expect((await v1('DELETE', `/conditions/${gone}`)).status).to.equal(204);
    const propose = async (allowed: Allowed, id: string) => {
      const resource = {
        resourceType: 'Condition',
        id,
        code: { text: 'Gout' },
        subject: { reference: `Patient/${allowed.patient}` },
      };
      const body = { operation: 'update', resource, current_version: 7, rationale: 'New', author_type: 'ai' };
      const answer = await v1('POST', `/patients/${allowed.patient}/proposals`, body, {}, allowed.token);
      return `${answer.status} ${answer.text}`.replaceAll(id, 'ID').replace(/req_[\w-]+/, 'REQUEST');
    };
    expect(await propose(whole, kept)).to.match(/^409.*is at version 1/);
    expect(await propose(whole, gone)).to.match(/^409.*is deleted/);
    const hidden = await propose(writer, kept);
    expect(hidden).to.match(/^409.*change the current version/);
    expect(await propose(writer, gone)).to.equal(hidden);
  });
});
