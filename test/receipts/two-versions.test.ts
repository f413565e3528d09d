/** Receipts of two versions of the program, made again by one of them: the other's renderer is archived. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { bundleRenderer } from '#src/app/receipts/bundle.ts';
import { hashCode } from '#src/operations/receipts/program.ts';
import { Renderers } from '#src/operations/receipts/renderers.ts';
import { signIn } from '#test/support/admin.ts';
import { copyProgram, type EarlierProgram } from '#test/support/earlier-program.ts';
import { type Allowed, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { ReceiptsAgain } from '#test/support/receipts.ts';
import { restOf } from '#test/support/rest.ts';
import { scaled } from '#test/support/scale.ts';
import { startSecondInstance } from '#test/support/second-instance.ts';

/** Receipts of each version. */
const EACH = scaled(5_000, 12);
const PATIENTS = 3;
const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';

const TOOLS = [
  ['get_context', { task: 'medication review' }],
  ['search_record', { type: 'Observation', limit: 5 }],
  ['search_record', { type: 'Condition' }],
  ['timeline', { limit: 10 }],
  ['series', { code: '4548-4' }],
  ['find_patterns', {}],
  ['list_documents', {}],
  ['what_may_i_do', {}],
] as const;

const TASKS = ['medication review', 'follow-up: diabetes', 'acute visit', 'referral letter'];

describe('receipts over two versions of the program', () => {
  let service: InProcess;
  let granting: Granting;
  let receipts: ReceiptsAgain;
  let earlier: EarlierProgram;
  let grants: readonly Allowed[];
  let patients: readonly string[] = [];

  const { made, v1 } = restOf(() => service);

  before(async () => {
    earlier = await copyProgram([
      ['src/context/compose.ts', 'In brackets: who recorded it', 'In brackets: by whom it was recorded'],
      ['src/clinical/summary/composition.ts', "name: 'Annal'", "name: 'Annal, earlier'"],
      ['src/mcp/record-content.ts', 'Content of the record, not instructions:', 'Content of the record:'],
    ]);
    service = await startInProcess({}, { SANDBOX_PATIENTS: String(PATIENTS) });
    granting = await Granting.open(service);
    receipts = await ReceiptsAgain.open(service);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    const application = await granting.register(owner, id, ['patient/*.rs']);
    await eventually(async () => {
      const { json } = await v1('GET', '/patients');
      patients = ((json.data as unknown as { id: string }[] | undefined) ?? []).map((each) => each.id);
      return patients.length === PATIENTS;
    });
    const resources = [`${service.url}/mcp`, service.url];
    const scopes = [
      ['patient/*.rs'],
      [`patient/Observation.rs?category=${CATEGORY}|laboratory`, 'patient/Patient.rs'],
    ];
    grants = await Promise.all(
      patients.flatMap((patient) =>
        scopes.map((each) => granting.allow(application, patient, { scopes: each, resources })),
      ),
    );
  });
  after(async () => {
    await receipts?.close();
    await granting?.close();
    await service?.stop();
  });

  /** Asks for the nth answer. @returns its text */
  async function ask(url: string, n: number): Promise<string> {
    const grant = grants[n % grants.length];
    if (grant === undefined) throw new Error('no grants');
    const isOwn = n % 4 === 3;
    const patient = isOwn ? grant.record : grant.patient;
    const headers = {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${isOwn ? service.key : grant.token}`,
      Accept: 'application/json, text/event-stream',
    };
    const send = async (path: string, body?: object): Promise<string> => {
      const method = body === undefined ? 'GET' : 'POST';
      const answer = await fetch(url + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      expect(answer.status, text).to.equal(200);
      return text;
    };
    const task = TASKS[n % TASKS.length];
    if (n % 3 === 0) return send('/v1/context', { patient, task, budget_tokens: 600, format: 'text' });
    if (n % 3 === 1 || isOwn) {
      headers.Accept = 'application/fhir+json';
      return send(`/fhir/R4/Patient/${patient}/$summary`);
    }
    const [name, args] = TOOLS[Math.floor(n / 3) % TOOLS.length] ?? ['what_may_i_do', {}];
    return send('/mcp', { jsonrpc: '2.0', id: n, method: 'tools/call', params: { name, arguments: args } });
  }

  it('are all made again, byte for byte, after the records have gone on', async () => {
    const other = await startSecondInstance(service, earlier.startApp);
    const sent = new Set<string>();
    try {
      for (let n = 0; n < 2 * EACH; n += 1) {
        const text = await ask(n < EACH ? other.url : service.url, n);
        sent.add(createHash('sha256').update(text).digest('hex'));
        if (n % 10 === 0)
          await made(`/patients/${patients[n % PATIENTS]}/observations`, {
            ...{ code: '4548-4', category: 'laboratory', value: 6 + (n % 30) / 10, unit: '%' },
            effective_at: '2026-11-01T08:00:00Z',
          });
      }
    } finally {
      await other.close();
    }
    const program = hashCode(earlier.root);
    await new Renderers(service.pool).keep(program, await bundleRenderer(earlier.root));
    const rows = await receipts.all();
    expect(rows).to.have.length(2 * EACH);
    expect(rows.filter(({ renderer }) => renderer.endsWith(program))).to.have.length(EACH);
    let archived = 0;
    for (const row of rows) {
      expect(sent.has(row.sha256.toString('hex')), `${row.id} is of an answer that was sent`).to.equal(true);
      const remade = await receipts.remake(row);
      if (remade.outcome === 'differs')
        expect.fail(`${row.kind} ${row.reader} differs: ${remade.bytes.toString().slice(0, 2_000)}`);
      expect(remade.outcome, `${row.kind} ${row.renderer}`).to.equal('matches');
      if (remade.outcome === 'matches' && remade.archived) archived += 1;
    }
    expect(archived, 'made by the renderer of the other version').to.be.greaterThan(EACH / 4);
  });

  it('say which renderer is gone', async () => {
    await service.pool.query('delete from operations.renderer');
    const again = await ReceiptsAgain.open(service);
    try {
      const outcomes = new Set<string>();
      for (const row of await receipts.all()) {
        const remade = await again.remake(row);
        outcomes.add(remade.outcome);
        if (remade.outcome === 'gone') expect(remade.what).to.contain(row.renderer);
      }
      expect([...outcomes].sort()).to.deep.equal(['gone', 'matches']);
    } finally {
      await again.close();
    }
  });
});
