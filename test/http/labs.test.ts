import { expect } from 'chai';
import { isObject, type JsonObject } from '#src/shared/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { damaged, randomFrom } from '#test/support/labs/damage.ts';
import { msh, OBR, oru, PID, results } from '#test/support/labs/parts.ts';
import { dataOf, restOf } from '#test/support/rest.ts';
import { randomSeed } from '#test/support/scale.ts';
import type { Answer } from '#test/support/service.ts';

/** interface.md, section 4.3; decisions.md, section 4 "Labs import" */
describe('import of laboratory results', () => {
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess();
  });
  beforeEach(async () => {
    const made = await rest.made('/patients', {
      family: 'Berg',
      given: 'Anna',
      birth_date: '1970-01-02',
      gender: 'female',
      identifiers: [{ system: 'urn:oid:1.2.3.4', value: '4711' }],
    });
    patient = String(made.id);
  });
  after(() => service.stop());
  const rest = restOf(() => service);

  const send = (
    body: string | Buffer,
    type = 'x-application/hl7-v2+er7',
    headers: Record<string, string> = {},
    query = '',
  ): Promise<Answer> =>
    service.fhir(`${service.url}/v1/patients/${patient}/labs/import${query}`, {
      method: 'POST',
      body: body as string,
      headers: { 'Content-Type': type, ...headers },
    });
  const json = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    send(JSON.stringify(body), 'application/json', headers);
  const imported = async (body: string): Promise<JsonObject> => {
    const answer = await send(body);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  };
  const observations = ({ observations: all }: JsonObject): JsonObject[] =>
    Array.isArray(all) ? all.filter(isObject) : [];
  const told = ({ created, skipped, unmapped, warnings }: JsonObject) => ({
    created,
    skipped,
    unmapped,
    warnings,
  });
  const count = async (type: string): Promise<unknown> => {
    const answer = await service.fhir(`/${type}?_summary=count&patient=${patient}`);
    return answer.json.total;
  };

  const GLUCOSE = 'OBX|1|NM|2345-7^Glucose^LN||5.60|mmol/L|3.9-5.5|H|||F';
  const SODIUM = 'OBX|2|NM|NA^Natrium^L||141|mmol/L|135-145|N|||F';
  const MESSAGE = oru(OBR, GLUCOSE, SODIUM, 'SPM|1|^S1||SER^Serum^HL70487');

  it('keeps a message as report, specimen and observations, and says what it could not map', async () => {
    const answer = await imported(MESSAGE);
    expect(told(answer)).to.deep.equal({
      created: 2,
      skipped: 0,
      unmapped: ['NA (Natrium)'],
      warnings: [],
    });
    const [glucose, sodium] = observations(answer);
    expect(glucose).to.include({
      patient,
      code: '2345-7',
      system: 'http://loinc.org',
      value: 5.6,
      unit: 'mmol/L',
      category: 'laboratory',
      effective_at: '2026-03-31T08:00:00+02:00',
      status: 'final',
      version: 1,
      author_type: 'import',
      source_system: 'CITYLAB',
    });
    expect(glucose?.reference_range).to.deep.equal({ low: 3.9, high: 5.5 });
    expect(sodium).to.include({ code: 'NA', display: 'Natrium', value: 141 });
    const listed = dataOf(await rest.get(`/patients/${patient}/observations?category=laboratory`));
    expect(listed.map(({ id }) => id).sort()).to.deep.equal([glucose?.id, sodium?.id].sort());
    const stored = await service.fhir(`/Observation/${glucose?.id}`);
    expect(stored.text).to.contain('"value":5.60');
    const reports = await service.fhir(
      `/DiagnosticReport?patient=${patient}&_include=DiagnosticReport:specimen`,
    );
    const [report, specimen] = (reports.json.entry as { resource: JsonObject }[]).map(
      (entry) => entry.resource,
    );
    expect(report?.result).to.deep.equal([
      { reference: `Observation/${glucose?.id}` },
      { reference: `Observation/${sodium?.id}` },
    ]);
    expect(specimen?.resourceType).to.equal('Specimen');
    expect(await rest.fhir('Observation', glucose?.id)).to.have.nested.property(
      'specimen.reference',
      `Specimen/${specimen?.id}`,
    );
  });

  it('skips what is there already, and writes a correction as a new version of the result', async () => {
    const first = observations(await imported(MESSAGE));
    const again = await imported(MESSAGE.replace('|M1|', '|M2|').replace('20260331093000', '20260331110000'));
    expect(told(again)).to.deep.include({ created: 0, skipped: 2 });
    expect(observations(again)).to.deep.equal(first);

    const corrected = await imported(
      oru(
        OBR.replace(/F$/, 'C').replace('092500', '120000'),
        GLUCOSE.replace('5.60', '6.5').replace(/F$/, 'C'),
      ),
    );
    expect(told(corrected)).to.deep.include({ created: 0, skipped: 0 });
    expect(corrected.warnings).to.deep.equal([
      'OBX[1]: an earlier result is replaced by version 2: it is corrected',
    ]);
    expect(observations(corrected)[0]).to.include({
      id: first[0]?.id,
      version: 2,
      value: 6.5,
      status: 'corrected',
    });
    const history = await service.fhir(`/Observation/${first[0]?.id}/_history`);
    expect(history.json.total).to.equal(2);
    const reports = await service.fhir(`/DiagnosticReport?patient=${patient}`);
    const [{ resource }] = reports.json.entry as [{ resource: JsonObject }];
    expect(resource.status).to.equal('corrected');
    expect(resource.result).to.have.length(2);

    const stale = await imported(MESSAGE);
    expect(told(stale)).to.deep.include({ created: 0, skipped: 2 });
    expect(stale.warnings).to.deep.equal(['OBX[1]: it is older than the result that is there, which stays']);
    expect(observations(stale)[0]).to.include({ version: 2, value: 6.5 });

    const withdrawn = await imported(
      oru(
        OBR.replace('092500', '130000'),
        'OBX|1|NM|2345-7^Glucose^LN||||||||D',
        'OBX|2|NM|NA^Natrium^L||||||||X',
      ),
    );
    expect(
      observations(withdrawn).map(({ status, value, version }) => [status, value, version]),
    ).to.deep.equal([
      ['entered-in-error', 6.5, 3],
      ['cancelled', null, 2],
    ]);
  });

  it('keeps what others added to a result', async () => {
    const [glucose] = observations(await imported(results(GLUCOSE)));
    const stored = await rest.fhir('Observation', glucose?.id);
    const added = { ...stored, encounter: { display: 'visit' } };
    await service.fhir(`/Observation/${glucose?.id}`, { method: 'PUT', body: JSON.stringify(added) });
    expect(told(await imported(results(GLUCOSE)))).to.deep.include({ created: 0, skipped: 1 });
    await imported(results(GLUCOSE.replace('5.60', '5.9').replace(/F$/, 'C')));
    const after = await rest.fhir('Observation', glucose?.id);
    expect(after).to.deep.include({ status: 'corrected', encounter: { display: 'visit' } });
  });

  it('keeps a payload as a document', async () => {
    const pdf = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64');
    const message = results(`OBX|1|ED|PDF^Report^L||^application^pdf^Base64^${pdf}||||||F`);
    expect(told(await imported(message))).to.deep.include({ created: 0, skipped: 0 });
    await imported(message);
    const found = await service.fhir(`/DocumentReference?patient=${patient}`);
    expect(found.json.total).to.equal(1);
    const [{ resource }] = found.json.entry as [{ resource: { content: JsonObject[]; meta: JsonObject } }];
    expect(resource.meta.versionId).to.equal('1');
    expect(resource.content).to.have.nested.property('[0].attachment.contentType', 'application/pdf');
  });

  it('is one write: of a message that is refused nothing is kept', async () => {
    const long = 'x'.repeat(1_048_577);
    const refused = await send(results(GLUCOSE, `OBX|2|TX|8251-1^Comment^LN||${long}||||||F`));
    expect(refused.status).to.equal(422);
    expect(refused.json.error).to.have.property('field', 'OBX[2].value');
    expect(await count('Observation')).to.equal(0);
    expect(await count('DiagnosticReport')).to.equal(0);
    const [first] = observations(await imported(MESSAGE));
    const transactions = await service.fhir(`/Provenance?target=Observation/${first?.id}`);
    expect(transactions.json.total).to.equal(1);
  });

  it('answers damaged messages clearly, and keeps all of one or nothing', async () => {
    const seed = randomSeed();
    const random = randomFrom(seed);
    let reports = 0;
    for (let at = 0; at < 25; at += 1) {
      const message = damaged(Buffer.from(MESSAGE.replace('F100', `F${at}`)), random);
      const answer = await send(message);
      expect([200, 422], `seed ${seed}, message ${at}: ${answer}`).to.include(answer.status);
      if (answer.status === 422) expect(answer.json.error).to.have.property('field');
      reports += observations(answer.json).filter(({ version }) => version === 1).length;
    }
    expect(await count('Observation')).to.be.at.most(reports);
    const links = await service.fhir(
      `/DiagnosticReport?patient=${patient}&_include=DiagnosticReport:result&_count=100`,
    );
    expect(links.status).to.equal(200);
  });

  it('writes a message once, however often it is sent at once', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => imported(MESSAGE)));
    expect(answers.map(({ created }) => created).sort()).to.deep.equal([0, 0, 0, 2]);
    expect(await count('Observation')).to.equal(2);
    expect(await count('Specimen')).to.equal(1);
  });

  it('answers a repeated Idempotency-Key with the first answer', async () => {
    const headers = { 'Idempotency-Key': `labs-${patient}` };
    const first = await send(MESSAGE, 'text/plain', headers);
    const second = await send(MESSAGE, 'text/plain', headers);
    expect(first.status, first.text).to.equal(200);
    expect(second.text).to.equal(first.text);
    expect(second.headers.get('idempotent-replayed')).to.equal('true');
    expect((await send(`${MESSAGE}\r`, 'text/plain', headers)).status).to.equal(422);
  });

  it('takes the message in JSON too, framed or not, with the name of its source', async () => {
    const answer = await json({ message: `\x0b${MESSAGE}\x1c\r`, source_system: 'LIS north' });
    expect(answer.status, answer.text).to.equal(200);
    expect(observations(answer.json)[0]).to.include({ source_system: 'LIS north' });
    const other = await json({ message: MESSAGE, source_system: 'a' }, { 'X-Service-Source-System': 'b' });
    expect(other.status).to.equal(422);
    const header = await send(oru(OBR.replace('F100', 'F9'), GLUCOSE), 'text/plain', {
      'X-Service-Source-System': 'b',
      'X-Service-Author-Type': 'device',
    });
    expect(observations(header.json)[0]).to.include({ source_system: 'b', author_type: 'device' });
  });

  it('takes bytes in the character set that the message names', async () => {
    const text = [msh('2.4', '||||||8859/1'), PID, OBR, 'OBX|1|ST|5778-6^Färg^LN||blå||||||F'].join('\r');
    const answer = await send(Buffer.from(text, 'latin1'));
    expect(observations(answer.json)[0]).to.include({ display: 'Färg', value_text: 'blå' });
  });

  it('takes JSON items', async () => {
    const items = [
      {
        code: '2345-7',
        display: 'Glucose',
        value: 5.6,
        unit: 'mmol/l',
        reference_range: { low: 3.9, high: 5.5 },
      },
      { code: 'NA', display: 'Natrium', value: 141, unit: 'arb', effective_at: '2026-03-30T08:00:00Z' },
      { code: '5778-6', value_text: 'yellow', note: 'fresh' },
      {
        code: 'http://snomed.info/sct|365636006',
        value_code: { code: 'http://snomed.info/sct|112144000', display: 'A' },
      },
    ];
    const body = { items, date: '2026-03-31', origin: 'R17' };
    const answer = await json(body, { 'X-Service-Source-System': 'lab' });
    expect(answer.status, answer.text).to.equal(200);
    expect(told(answer.json)).to.deep.equal({
      created: 4,
      skipped: 0,
      unmapped: ['NA (Natrium)', 'http://snomed.info/sct|365636006'],
      warnings: ['items.1: the unit arb is kept as it is: it is not surely one of UCUM'],
    });
    expect(observations(answer.json)[0]).to.include({
      unit: 'mmol/L',
      effective_at: '2026-03-31',
      origin_id: 'R17',
    });
    expect(observations(answer.json)[1]).to.include({ unit: 'arb', effective_at: '2026-03-30T08:00:00Z' });
    const again = await json(body, { 'X-Service-Source-System': 'lab' });
    expect(told(again.json)).to.deep.include({ created: 0, skipped: 4 });
    const changed = { ...body, items: [{ ...items[0], value: 6.1 }] };
    const [after] = observations((await json(changed, { 'X-Service-Source-System': 'lab' })).json);
    expect(after).to.include({ version: 2, value: 6.1 });
  });

  it('takes a table', async () => {
    const table =
      'code;display;value;unit;reference_range;note\r\n2345-7;Glucose;5,6;mmol/l;3,9 - 5,5;"a;b"\r\nCRP;CRP;< 5;mg/l;;\r\n';
    const answer = await send(table, 'text/csv', {}, '?date=2026-03-31');
    expect(answer.status, answer.text).to.equal(200);
    expect(told(answer.json)).to.deep.equal({ created: 2, skipped: 0, unmapped: ['CRP'], warnings: [] });
    const [glucose, crp] = observations(answer.json);
    expect(glucose).to.include({ value: 5.6, unit: 'mmol/L', note: 'a;b' });
    expect(glucose?.reference_range).to.deep.equal({ low: 3.9, high: 5.5 });
    expect(crp).to.include({ value: null, value_text: '< 5 mg/L' });
    expect((await send(table, 'text/csv', {}, '?date=2026-03-31')).json).to.deep.include({ skipped: 2 });
  });

  const bad: readonly [string, () => Promise<Answer>, number, string?][] = [
    ['a message of another kind', () => send(MESSAGE.replace('ORU^R01', 'ADT^A01')), 422, 'message'],
    ['what is no message', () => send('hello'), 422, 'message'],
    ['no body', () => send(''), 400],
    ['another patient', () => send(MESSAGE.replace('4711', '4712')), 422, 'message'],
    ['another media type', () => send(MESSAGE, 'application/xml'), 415],
    ['an unknown form', () => json({ text: MESSAGE }), 422],
    [
      'items without a time',
      () => json({ items: [{ code: 'a', value_text: 'b' }] }),
      422,
      'items.0.effective_at',
    ],
    [
      'an item with two values',
      () => json({ items: [{ code: 'a', value: 1, value_text: 'b' }], date: '2026-01-01' }),
      422,
      'items.0.value_text',
    ],
    ['a table without its columns', () => send('a,b\n1,2', 'text/csv'), 422, 'columns.a'],
    ['a table with a bad row', () => send('code,value\n,2', 'text/csv'), 422, 'rows.0.code'],
    ['rows of unequal length', () => send('code,value\n1,2,3', 'text/csv'), 422, 'rows'],
    ['a date of a message', () => send(MESSAGE, 'text/plain', {}, '?date=2026-01-01'), 422, 'query.date'],
    ['an unknown query', () => send(MESSAGE, 'text/plain', {}, '?x=1'), 422, 'query.x'],
  ];
  for (const [name, ask, status, field] of bad) {
    it(`refuses ${name}`, async () => {
      const answer = await ask();
      expect(answer.status, answer.text).to.equal(status);
      if (field !== undefined) expect(answer.json.error).to.have.property('field', field);
      expect(await count('Observation')).to.equal(0);
    });
  }

  it('is 404 for a patient of nobody, and for another project', async () => {
    const path = `/patients/${patient}/labs/import`;
    const other = await rest.v1('POST', path, { message: MESSAGE }, {}, await service.newProject());
    expect(other.status).to.equal(404);
    const nobody = await rest.v1('POST', `/patients/nobody/labs/import`, { message: MESSAGE });
    expect(nobody.status).to.equal(404);
  });
});
