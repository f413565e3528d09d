/** `POST /v1/context`: what it contains, what it leaves out, and that it can be reproduced from the events. */
import { expect } from 'chai';
import { FORM, hashAnswer, type Manifest, printManifest } from '#src/context/manifest.ts';
import { loadTokenizer } from '#src/context/tokenizer.ts';
import { type ReceiptRow, unpack } from '#src/operations/receipts/row.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { type Rest, restOf } from '#test/support/rest.ts';

interface Item extends JsonObject {
  text: string;
  fhir: string;
  author_type: string;
  source: string | null;
  date: string | null;
}

interface Section {
  readonly kind: string;
  readonly tokens: number;
  readonly items: readonly Item[];
  readonly text?: string;
  readonly note?: string;
  readonly sources: readonly string[];
}

interface Context {
  readonly manifest_id: string;
  readonly tokens_used: number;
  readonly sections: readonly Section[];
  readonly warnings: readonly { readonly kind: string; readonly text: string; readonly count?: number }[];
  readonly omitted: readonly { readonly kind: string; readonly reason: string }[];
  readonly needs: readonly string[];
  readonly text: string;
}

const ICD = 'http://hl7.org/fhir/sid/icd-10';
const ai = { 'X-Service-Author-Type': 'ai', 'X-Service-Source-System': 'model' };
const clinic = { 'X-Service-Author-Type': 'practitioner', 'X-Service-Source-System': 'clinic' };

describe('context', () => {
  let service: InProcess;
  let rest: Rest;
  let patient: string;

  const ask = async (body: object): Promise<Context> => {
    const answer = await rest.v1('POST', '/context', { patient, ...body });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json as unknown as Context;
  };
  const section = ({ sections }: Context, kind: string): Section | undefined =>
    sections.find((each) => each.kind === kind);
  const lines = (context: Context, kind: string): string[] =>
    (section(context, kind)?.items ?? []).map(({ text }) => text);
  const made = async (
    path: string,
    body: object,
    headers: Record<string, string> = clinic,
  ): Promise<string> => String((await rest.made(`/patients/${patient}/${path}`, body, headers)).id);

  before(async () => {
    service = await startInProcess();
    rest = restOf(() => service);
    patient = String(
      (await rest.made('/patients', { family: 'Okafor', gender: 'female', birth_date: '1961-04-30' })).id,
    );
    const labs = { code: '4548-4', category: 'laboratory', unit: '%', reference_range: { low: 4, high: 6 } };
    await made('observations', { ...labs, value: 8.1, effective_at: '2024-02-01T08:00:00Z' });
    await made('observations', { ...labs, value: 7.2, effective_at: '2024-08-01T08:00:00Z' });
    await made('observations', {
      code: '85354-9',
      category: 'vital-signs',
      effective_at: '2026-09-03T08:00:00Z',
      components: [
        { code: '8480-6', value: 148, unit: 'mm[Hg]' },
        { code: '8462-4', value: 91, unit: 'mm[Hg]' },
      ],
    });
    await made('conditions', { code: 'E11.9', display: 'Type 2 diabetes', onset: '2012-05-01' });
    await made('medications', {
      code: 'J01CA04',
      display: 'amoxicillin',
      dosage: '1 g three times a day',
      start: '2026-09-01',
    });
    await made(
      'observations',
      {
        code: '2345-7',
        category: 'laboratory',
        value: 777.125,
        unit: 'mg/dL',
        effective_at: '2026-09-05T08:00:00Z',
      },
      ai,
    );
    const subject = { reference: `Patient/${patient}` };
    const condition = { resourceType: 'Condition', subject, code: { text: 'Lupus' } };
    const status = (code: string) => ({
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-ver-status', code }],
    });
    await service.post('/Condition', { ...condition, verificationStatus: status('refuted') });
    await service.post('/Condition', {
      ...condition,
      modifierExtension: [{ url: 'urn:not', valueBoolean: true }],
    });
    await service.post('/AllergyIntolerance', {
      resourceType: 'AllergyIntolerance',
      patient: subject,
      clinicalStatus: {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' },
        ],
      },
      code: { text: 'Penicillin' },
    });
    const medication = await service.post('/Medication', {
      resourceType: 'Medication',
      code: { coding: [{ system: 'http://www.whocc.no/atc', code: 'A10BA02' }] },
    });
    await service.post('/MedicationRequest', {
      resourceType: 'MedicationRequest',
      status: 'active',
      intent: 'order',
      subject,
      medicationReference: { reference: `Medication/${String(medication.json.id)}` },
      authoredOn: '2025-01-01',
    });
  });
  after(() => service.stop());

  it('tells what is recorded, with who wrote it and the exact version', async () => {
    const context = await ask({ task: 'follow-up: diabetes', budget_tokens: 800 });
    expect(lines(context, 'patient')[0]).to.match(/^female, \d\d years \(born 1961-04-30\)$/);
    const [hba1c] = section(context, 'labs')?.items ?? [];
    expect(hba1c?.text).to.match(
      /^Hemoglobin A1c.* 7\.2 % \(2024-08-01; high; range 4 – 6\); before 8\.1 \(2024-02-01\)$/,
    );
    expect(hba1c).to.include({
      author_type: 'practitioner',
      source: 'clinic',
      code: '4548-4',
      value: 7.2,
      unit: '%',
      flag: 'high',
    });
    expect(hba1c?.fhir).to.match(/^Observation\/[0-9a-f-]{36}\/_history\/1$/);
    expect(hba1c?.trend).to.deep.include({ count: 2, min: 7.2, max: 8.1, change: -0.9 });
    expect(section(context, 'labs')?.sources).to.have.length(2);
    expect((await service.fhir(`/${String(hba1c?.fhir)}`)).status).to.equal(200);
    expect(lines(context, 'vitals')[0]).to.include('148/91 mmHg (2026-09-03)');
    expect(lines(context, 'problems')).to.deep.equal(['Type 2 diabetes: active since 2012-05-01']);
    expect(lines(context, 'medications')).to.deep.equal([
      'amoxicillin: 1 g three times a day; active; taken since 2026-09-01',
      'metformin; active; prescribed 2025-01-01',
    ]);
  });

  it('keeps what an AI wrote apart, not verified', async () => {
    const { sections } = await ask({ question: 'What is the glucose?', needs: ['labs:2345-7'] });
    const facts = JSON.stringify(sections.filter(({ kind }) => kind !== 'ai_notes'));
    expect(facts).not.to.include('777.125');
    const notes = sections.find(({ kind }) => kind === 'ai_notes');
    expect(notes?.items[0]).to.include({
      author_type: 'ai',
      source: 'model',
      verified: false,
      value: 777.125,
    });
  });

  it('tells what somebody else had written before an AI changed it, whatever the budget', async () => {
    const record = String((await rest.made('/patients', { family: 'Berg', gender: 'male' })).id);
    const subject = { reference: `Patient/${record}` };
    const state = (kind: string, code: string) => ({
      coding: [{ system: `http://terminology.hl7.org/CodeSystem/allergyintolerance-${kind}`, code }],
    });
    const allergy = (text: string, clinical: string, verification: string) => ({
      resourceType: 'AllergyIntolerance',
      patient: subject,
      criticality: 'high',
      clinicalStatus: state('clinical', clinical),
      verificationStatus: state('verification', verification),
      code: { text },
    });
    const drug = (status: string, text: string) => ({
      resourceType: 'MedicationStatement',
      status,
      subject,
      medicationCodeableConcept: { text: 'warfarin' },
      dosage: [{ text }],
    });
    const ferritin = (value: number) => ({
      resourceType: 'Observation',
      status: 'final',
      subject,
      code: { text: 'ferritin' },
      effectiveDateTime: '2026-03-04',
      valueQuantity: { value, unit: 'ng/mL' },
    });
    const changes: readonly (readonly [object & { resourceType: string }, object])[] = [
      [allergy('latex', 'active', 'confirmed'), allergy('latex', 'inactive', 'confirmed')],
      [allergy('nuts', 'active', 'confirmed'), allergy('nuts', 'active', 'refuted')],
      [drug('active', '5 mg daily'), drug('stopped', '7 mg daily')],
      [ferritin(11), ferritin(99)],
    ];
    const send = () => rest.v1('POST', '/context', { patient: record, budget_tokens: 2_000, format: 'text' });
    const keys: string[] = [];
    for (const [before] of changes) {
      const { json } = await service.post(`/${before.resourceType}`, before, clinic);
      keys.push(`${before.resourceType}/${String(json.id)}`);
    }
    // From here on, the record is cached.
    expect((await send()).text).not.to.contain('AI changed');
    for (const [n, [, after]] of changes.entries()) {
      const [, id] = keys[n]?.split('/') ?? [];
      const body = JSON.stringify({ ...after, id });
      await service.fhir(`/${keys[n] ?? ''}`, { method: 'PUT', body, headers: ai });
    }
    const told = await send();
    const context = told.json as unknown as Context;
    expect(lines(context, 'ai_notes')).to.have.members([
      'latex; high criticality; not active; before AI changed it: latex; high criticality',
      'Before AI marked it as refuted: nuts; high criticality',
      'warfarin: 7 mg daily; stopped; date not recorded; before AI changed it: warfarin: 5 mg daily; active',
      'ferritin 99 ng/mL (2026-03-04); before AI changed it: ferritin 11 ng/mL (2026-03-04)',
    ]);
    expect(section(context, 'allergies')?.note).to.contain('None but those that an AI');
    expect(section(context, 'medications')?.note).to.contain('None but those that an AI changed');
    const nuts = section(context, 'ai_notes')?.items.find(({ text }) => text.includes('nuts'));
    expect(nuts).to.include({
      author_type: 'practitioner',
      fhir: `${keys[1] ?? ''}/_history/1`,
      verified: false,
    });
    const again = await runCommand(['context', context.manifest_id, '--json'], {
      DATABASE_URL: service.databaseUrl,
    });
    expect(again.stderr).to.equal('');
    expect(again.stdout).to.equal(`${told.text}\n`);
    const small = await rest.v1('POST', '/context', { patient: record, budget_tokens: 50, format: 'text' });
    const least = Number(/ (\d+) or more"/.exec(small.text)?.[1]);
    const fewest = { patient: record, budget_tokens: least, format: 'text' };
    const { text } = (await rest.v1('POST', '/context', fewest)).json;
    expect(text)
      .to.contain('latex')
      .and.to.contain('nuts')
      .and.to.contain('5 mg daily')
      .and.not.to.contain('ferritin');
  });

  it('warns of contradictions, gaps, what it left out and what was not found', async () => {
    const { warnings, sections } = await ask({ needs: ['labs:2160-0', 'labs:2345-7'] });
    const texts = warnings.map(({ kind, text }) => `${kind}: ${text}`);
    expect(texts).to.include('contradiction: amoxicillin is active, but there is an allergy to Penicillin');
    expect(texts).to.include('gap: Type 2 diabetes: no HbA1c within 366 days; the last is of 2024-08-01');
    expect(texts).to.include('left_out: 1 resource refuted left out');
    expect(texts).to.include('left_out: 1 resource with an unknown modifier extension left out');
    expect(texts).to.include('not_found: nothing is recorded for labs:2160-0');
    // A value from an AI doesn't satisfy a need.
    expect(texts).to.include('not_found: nothing is recorded for labs:2345-7');
    expect(JSON.stringify(sections)).not.to.include('Lupus');
  });

  it('counts its text, which structured answers hold too', async () => {
    const count = await loadTokenizer();
    const small = await rest.v1('POST', '/context', { patient, budget_tokens: 50 });
    expect(small.status, small.text).to.equal(422);
    expect(small.text).to.include('"field":"budget_tokens"');
    const least = Number(/ (\d+) or more"/.exec(small.text)?.[1]);
    for (const budget_tokens of [least, least + 40, 2_000]) {
      const told = await ask({ budget_tokens, format: 'text' });
      const structured = await ask({ budget_tokens });
      expect(told.tokens_used).to.equal(count(told.text)).and.to.be.at.most(budget_tokens);
      expect(structured.tokens_used).to.equal(told.tokens_used);
      for (const { kind, tokens, items, text } of told.sections) {
        expect(tokens, kind).to.equal(count(String(text)));
        expect(told.text).to.include(text);
        for (const item of items) expect(text).to.include(item.text);
      }
      const without = told.sections.map(({ text: _text, ...rest }) => rest);
      expect(structured.sections).to.deep.equal(without);
    }
  });

  it('tells numbers that are too large or too small to be reckoned with', async () => {
    const odd = String((await rest.made('/patients', { family: 'Numbers' })).id);
    for (const [code, value] of [
      ['718-7', '1e999'],
      ['2345-7', '1e-400'],
    ]) {
      const body = `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"${code}"}]},"subject":{"reference":"Patient/${odd}"},"effectiveDateTime":"2026-09-01","valueQuantity":{"value":${value},"unit":"g/dL"},"referenceRange":[{"low":{"value":1e-400},"high":{"value":1e999}}]}`;
      const written = await service.fhir('/Observation', { method: 'POST', body });
      expect(written.status, written.text).to.equal(201);
    }
    const { text } = await ask({ patient: odd, format: 'text' });
    expect(text).to.include('1e999 g/dL').and.include('1e-400 g/dL');
  });

  it('looks back as far as it is asked to', async () => {
    const context = await ask({ window_days: 200, needs: ['timeline:200d'] });
    expect(lines(context, 'labs')).to.deep.equal([]);
    expect(lines(context, 'problems')).to.have.length(1);
    expect(context.omitted).to.deep.include({ kind: 'observations', count: 2, reason: 'window' });
    expect(context.needs).to.deep.equal(['timeline:200d']);
  });

  it('is the same for the same, and can be made again from the events', async () => {
    const body = { task: 'medication review', question: 'Is metformin safe?', budget_tokens: 600 };
    const send = () => rest.v1('POST', '/context', { patient, ...body, format: 'text' });
    const [one, two] = [await send(), await send()];
    expect(two.text).to.equal(one.text);
    // The record goes on.
    await made('conditions', { code: 'I10', system: ICD, display: 'Hypertension' });
    await service.post('/Medication', { resourceType: 'Medication', code: { text: 'another' } });
    const later = await send();
    expect(later.json.manifest_id).not.to.equal(one.json.manifest_id);
    const again = await runCommand(['context', String(one.json.manifest_id), '--json'], {
      DATABASE_URL: service.databaseUrl,
    });
    expect(again.stderr).to.equal('');
    expect(again.stdout).to.equal(`${one.text}\n`);
    const told = await runCommand(['context', String(later.json.manifest_id)], {
      DATABASE_URL: service.databaseUrl,
    });
    expect(told.stdout).to.equal(`${String(later.json.text)}\n`);
    const missing = await runCommand(['context', 'ctx_none'], { DATABASE_URL: service.databaseUrl });
    expect(missing).to.deep.include({ code: 1, stdout: '' });
  });

  it('is made again from the manifests of versions without receipts, if it is the answer that was given', async () => {
    const { json } = await rest.v1('POST', '/context', { patient, budget_tokens: 300, format: 'text' });
    const { manifest_id: made, ...body } = json;
    const kept = await service.pool.query<ReceiptRow>('select * from operations.receipt where name = $1', [
      made,
    ]);
    const row = kept.rows[0];
    if (row === undefined) throw new Error('the context has no receipt');
    const inputs = {
      ...(unpack(row.parameters).manifest as object),
      ...unpack(row.inputs),
    } as unknown as Manifest;
    const manifest = { ...inputs, answer: hashAnswer(body as JsonObject, inputs) };
    const again = async (given: Manifest) => {
      await service.pool.query('delete from operations.context_manifest where record = $1', [patient]);
      await service.pool.query(
        'insert into operations.context_manifest (id, tenant, record, manifest) values ($1, $2, $3, $4)',
        ['ctx_older', unpack(row.parameters).tenant, patient, printManifest(given)],
      );
      return runCommand(['context', 'ctx_older'], { DATABASE_URL: service.databaseUrl });
    };
    expect(await again(manifest)).to.deep.include({ code: 0, stdout: `${String(json.text)}\n` });
    // The rules of an older version produced a different text for the same record, request and day.
    const older = await again({ ...manifest, form: 1.5, answer: 'f'.repeat(64), version: '0.2.9' });
    expect(older).to.deep.include({ code: 1, stdout: '' });
    expect(older.stderr)
      .to.contain('Annal 0.2.9 made it with form 1.5 of the rules')
      .and.to.contain(`form ${FORM}`);
    const altered = await again({ ...manifest, answer: 'f'.repeat(64) });
    expect(altered).to.deep.include({ code: 1, stdout: '' });
    expect(altered.stderr).to.contain('annal verify');
    // Manifests of form 1 have no hash.
    const { answer: _, version: _v, ...first } = manifest;
    const unchecked = await again({ ...first, form: 1 });
    expect(unchecked).to.deep.include({ code: 4, stdout: `${String(json.text)}\n` });
    expect(unchecked.stderr).to.contain("can't be checked");
  });

  it('refuses what it does not understand, naming it', async () => {
    const refused = async (body: object, field: string): Promise<void> => {
      const answer = await rest.v1('POST', '/context', body);
      expect(answer.status, answer.text).to.equal(422);
      expect(JSON.stringify(answer.json), answer.text).to.include(`"field":"${field}"`);
    };
    await refused({}, 'patient');
    await refused({ patient, budget_tokens: 49 }, 'budget_tokens');
    await refused({ patient, budget_tokens: 100_001 }, 'budget_tokens');
    await refused({ patient, needs: ['labs:4548-4', 'blood'] }, 'needs.1');
    await refused({ patient, needs: ['ai_notes'] }, 'needs.0');
    await refused({ patient, format: 'xml' }, 'format');
    await refused({ patient, window_days: 0 }, 'window_days');
    await refused({ patient, lang: 'en' }, 'lang');
    const unknown = await rest.v1('POST', '/context', { patient: 'nobody' });
    expect(unknown.status).to.equal(404);
    const theirs = await rest.v1('POST', '/context', { patient }, {}, await service.newProject());
    expect(theirs.status).to.equal(404);
  });

  it('leaves nothing behind when the record is purged', async () => {
    const other = String((await rest.made('/patients', { family: 'Gone' })).id);
    const key = { 'Idempotency-Key': 'context-of-one-who-goes' };
    const body = { patient: other };
    const first = await rest.v1('POST', '/context', body, key);
    const again = await rest.v1('POST', '/context', body, key);
    expect(again.headers.get('Idempotent-Replayed')).to.equal('true');
    expect(again.text).to.equal(first.text);
    const receipts = () => service.pool.query('select from operations.receipt where record = $1', [other]);
    expect((await receipts()).rowCount).to.equal(1);
    expect((await service.fhir(`/Patient/${other}?_purge=true`, { method: 'DELETE' })).status).to.equal(204);
    expect((await receipts()).rowCount).to.equal(0);
    expect((await rest.v1('POST', '/context', body, key)).status).to.equal(404);
  });
});
