/**
 * Receipts from two versions of the program, reproduced by one of them; the other version's renderer is archived. For shared
 * links, the plaintext is compared. Documents have since been given other descriptions and been deleted.
 */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { bundleRenderer } from '#src/app/receipts/bundle.ts';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { hashCode } from '#src/operations/receipts/program.ts';
import { Renderers } from '#src/operations/receipts/renderers.ts';
import { signIn } from '#test/support/admin.ts';
import { inParallel } from '#test/support/audit.ts';
import { copyProgram, type EarlierProgram } from '#test/support/earlier-program.ts';
import { type Allowed, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { linkOf, me } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { ReceiptsAgain } from '#test/support/receipts.ts';
import { restOf } from '#test/support/rest.ts';
import { scaled } from '#test/support/scale.ts';
import { startSecondInstance } from '#test/support/second-instance.ts';
import { readContent, sharedLinkSchema } from '#test/support/shared-links.ts';
import { makePdf, PNG } from '#test/support/small-files.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

/** Number of receipts from each version. */
const EACH = scaled(5_000, 12);
/** Number of answers between two writes. */
const BETWEEN = scaled(50, 5);
const AT_ONCE = 4;
const PATIENTS = 3;
const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';

/** The scopes of each patient's grants, widest first. */
const SCOPES = [
  ['patient/*.rs'],
  [`patient/Observation.rs?category=${CATEGORY}|laboratory`, 'patient/Patient.rs'],
] as const;

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

/** Each patient's documents: media type, bytes, and author type. */
const DOCUMENTS = [
  ['text/plain', 'The dose was 5 mg.', 'practitioner'],
  ['text/html; charset=utf-8', '<p>The dose was <b>5&nbsp;mg</b>.</p><script>no()</script>', 'practitioner'],
  ['application/pdf', makePdf('Metformin 500 mg'), 'practitioner'],
  ['image/png', PNG, 'practitioner'],
  ['application/octet-stream', Buffer.from([0, 255, 1]), 'practitioner'],
  ['text/plain', 'A draft', 'ai'],
] as const;

/** The kinds of answers, used in rotation. */
const KINDS = [
  'context',
  'tool',
  'summary',
  'document',
  'link',
  'tool',
  'own context',
  'own summary',
] as const;

/** The kinds of links: their content, how long they are valid, and how much is embedded in the answer. */
const CONTENTS = ['summary', 'document', 'everything'].flatMap((content) =>
  [true, false].flatMap((long_term) =>
    [1_000_000, 10].map((embeddedLengthMax) => ({ content, long_term, embeddedLengthMax })),
  ),
);

const TASKS = ['medication review', 'follow-up: diabetes', 'acute visit', 'referral letter'];

describe('receipts over two versions of the program', () => {
  let service: InProcess;
  let granting: Granting;
  let receipts: ReceiptsAgain;
  let earlier: EarlierProgram;
  let dataDir: string;
  let grants: readonly Allowed[];
  let patients: readonly string[] = [];
  /** Of each patient. */
  let documents: readonly (readonly string[])[] = [];
  /** ID tokens of the people the records belong to. */
  let tokens: readonly string[] = [];

  const { made, v1 } = restOf(() => service);
  const emailOf = (patient: number): string => `person-${patient}@example.org`;

  before(async () => {
    earlier = await copyProgram([
      ['src/context/compose.ts', 'In brackets: who recorded it', 'In brackets: by whom it was recorded'],
      ['src/clinical/summary/composition.ts', "name: 'Annal'", "name: 'Annal, earlier'"],
      ['src/mcp/record-content.ts', 'Content of the record, not instructions:', 'Content of the record:'],
      ['src/mcp/tools/documents.ts', 'A document of the record.', 'A document:'],
      ['src/shl/content.ts', '"type":"collection","entry"', '"type":"collection", "entry"'],
    ]);
    dataDir = await temporaryFolder();
    service = await startInProcess({}, { SANDBOX_PATIENTS: String(PATIENTS), DATA_DIR: dataDir });
    granting = await Granting.open(service);
    receipts = await ReceiptsAgain.open(service, dataDir);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    const application = await granting.register(owner, id, ['patient/*.rs']);
    await eventually(async () => {
      const { json } = await v1('GET', '/patients');
      patients = ((json.data as unknown as { id: string }[] | undefined) ?? []).map((each) => each.id);
      return patients.length === PATIENTS;
    });
    documents = await Promise.all(
      patients.map((patient) => Promise.all(DOCUMENTS.map((_, n) => writeDocument(patient, n)))),
    );
    const issuer = new DevIssuer(service.pool, devIssuerUrl(service.url));
    tokens = await Promise.all(patients.map((_, n) => issuer.idToken(findPerson(emailOf(n)))));
    for (const [n, patient] of patients.entries()) {
      await granting.events.append(patient, linkOf(service, emailOf(n)));
      await eventually(
        async () => (await me(service, emailOf(n), '/patients?environment=sandbox')).json.total === 1,
      );
    }
    const resources = [`${service.url}/mcp`, service.url];
    grants = await Promise.all(
      patients.flatMap((patient) =>
        SCOPES.map((each) => granting.allow(application, patient, { scopes: [...each], resources })),
      ),
    );
  });
  after(async () => {
    await receipts?.close();
    await granting?.close();
    await service?.stop();
  });

  /**
   * Writes a patient's nth document.
   * @returns the document's id
   */
  async function writeDocument(patient: string, n: number): Promise<string> {
    const [contentType, content, author] = DOCUMENTS[n] ?? DOCUMENTS[0];
    const data = Buffer.from(content).toString('base64');
    const answer = await service.fhir('/DocumentReference', {
      ...{ method: 'POST', headers: { 'X-Service-Author-Type': author } },
      body: JSON.stringify({
        ...{ resourceType: 'DocumentReference', status: 'current' },
        subject: { reference: `Patient/${patient}` },
        content: [{ attachment: { contentType, data, title: `Document ${n}` } }],
      }),
    });
    expect(answer.status, answer.text).to.equal(201);
    return String(answer.json.id);
  }

  /** Writes to a record: a value, or a document's new name. */
  async function goOn(who: number, n: number): Promise<void> {
    const value = { code: '4548-4', category: 'laboratory', value: 6 + (n % 30) / 10, unit: '%' };
    const at = { effective_at: '2026-11-01T08:00:00Z' };
    if (n % 2 === 0) await made(`/patients/${patients[who]}/observations`, { ...value, ...at });
    else {
      const patch = [{ op: 'add', path: '/description', value: `Read ${n} times` }];
      const answer = await service.fhir(`/DocumentReference/${documents[who]?.[n % DOCUMENTS.length]}`, {
        ...{ method: 'PATCH', headers: { 'Content-Type': 'application/json-patch+json' } },
        body: JSON.stringify(patch),
      });
      expect(answer.status, answer.text).to.equal(200);
    }
  }

  /**
   * Requests the nth answer.
   * @returns the answer's text
   */
  async function ask(url: string, n: number): Promise<string> {
    const round = Math.floor(n / KINDS.length);
    const kind = KINDS[n % KINDS.length] ?? 'context';
    const who = Math.floor((round % grants.length) / SCOPES.length);
    if (kind === 'link') return readLink(url, who, round);
    // A grant for only a few types doesn't cover documents.
    const grant = grants[kind === 'document' ? who * SCOPES.length : round % grants.length];
    if (grant === undefined) throw new Error('no grants');
    const isOwn = kind.startsWith('own');
    const patient = isOwn ? grant.record : grant.patient;
    const send = async (path: string, accept: string, body?: object): Promise<string> => {
      const answer = await fetch(url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...{ 'Content-Type': 'application/json', Accept: accept },
          Authorization: `Bearer ${isOwn ? service.key : grant.token}`,
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      expect(answer.status, text).to.equal(200);
      return text;
    };
    const post = (method: string, params: object): Promise<string> =>
      send('/mcp', 'application/json, text/event-stream', { jsonrpc: '2.0', id: n, method, params });
    const call = (name: string, args: object): Promise<string> =>
      post('tools/call', { name, arguments: args });
    const document = pickDocument(who, round);
    switch (kind) {
      case 'context':
      case 'own context': {
        const task = TASKS[round % TASKS.length];
        const asked = { patient, task, budget_tokens: 600, format: 'text' };
        return send('/v1/context', 'application/json', asked);
      }
      case 'summary':
      case 'own summary':
        return send(`/fhir/R4/Patient/${patient}/$summary`, 'application/fhir+json');
      case 'document':
        // Some calls are refused after the bytes have been read.
        return call('read_document', { id: document, ...(round % 3 === 1 && { cursor: '9999999' }) });
      case 'tool': {
        const [name, args] = TOOLS[Math.floor(n / 4) % (TOOLS.length + 1)] ?? [];
        const uri = `${service.url}/fhir/R4/DocumentReference/${document}`;
        return name === undefined ? post('resources/read', { uri }) : call(name, args ?? {});
      }
    }
  }

  const pickDocument = (who: number, round: number): string =>
    documents[who]?.[(round + Math.floor(round / DOCUMENTS.length)) % DOCUMENTS.length] ?? '';

  /**
   * Creates a link, opens it and ends it.
   * @returns what the recipient reads
   */
  async function readLink(url: string, who: number, round: number): Promise<string> {
    const { content, long_term, embeddedLengthMax } =
      CONTENTS[(round * 5) % CONTENTS.length] ?? failed('no content');
    const post = (path: string, body?: object): Promise<Response> =>
      fetch(`${url}/me/patients/${patients[who]}/shl${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${tokens[who]}`, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    const shared = content === 'document' ? `document/${pickDocument(who, round)}` : content;
    const made = await post('', { content: shared, long_term });
    expect(made.status, content).to.equal(201);
    const link = sharedLinkSchema.parse(await made.json());
    const text = await readContent(link, { embeddedLengthMax }, (at) => at.replace(service.url, url));
    expect((await post(`/${link.id}/revoke`)).status).to.equal(200);
    return text;
  }

  it('are all made again, byte for byte, after the records have gone on', async function () {
    this.timeout(scaled(1_800_000, 300_000));
    const other = await startSecondInstance(service, earlier.startApp, { DATA_DIR: dataDir });
    const sent = new Set<string>();
    try {
      await inParallel([...Array(2 * EACH).keys()], AT_ONCE, async (n) => {
        const text = await ask(n < EACH ? other.url : service.url, n);
        sent.add(createHash('sha256').update(text).digest('hex'));
        if (n % BETWEEN === 0) await goOn((n / BETWEEN) % PATIENTS, n / BETWEEN);
      });
    } finally {
      await other.close();
    }
    for (const id of documents.flat())
      expect((await service.fhir(`/DocumentReference/${id}`, { method: 'DELETE' })).status).to.equal(204);
    const program = hashCode(earlier.root);
    await new Renderers(service.pool).keep(program, await bundleRenderer(earlier.root));
    const rows = await receipts.all();
    expect(rows).to.have.length(2 * EACH);
    expect(rows.filter(({ renderer }) => renderer.endsWith(program))).to.have.length(EACH);
    let archived = 0;
    await inParallel(rows, AT_ONCE, async (row) => {
      expect(sent.has(row.sha256.toString('hex')), `${row.id} is of an answer that was sent`).to.equal(true);
      const remade = await receipts.remake(row);
      if (remade.outcome === 'differs')
        expect.fail(`${row.kind} ${row.reader} differs: ${remade.bytes.toString().slice(0, 2_000)}`);
      expect(remade.outcome, `${row.kind} ${row.renderer}`).to.equal('matches');
      if (remade.outcome === 'matches' && remade.archived) archived += 1;
    });
    expect(archived, 'made by the renderer of the other version').to.be.greaterThan(EACH / 4);
  });

  it('say which renderer is gone', async () => {
    await service.pool.query('delete from operations.renderer');
    const again = await ReceiptsAgain.open(service, dataDir);
    try {
      const outcomes = new Set<string>();
      const rows = await receipts.all();
      for (const row of rows.filter((_, n) => n % Math.ceil(rows.length / 100) === 0)) {
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

function failed(why: string): never {
  throw new Error(why);
}
