import { expect } from 'chai';
import type { JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { damaged, randomFrom } from '#test/support/labs/damage.ts';
import { GLUCOSE, importing, MESSAGE, observations, told } from '#test/support/labs/importing.ts';
import { msh, OBR, oru, PID, results } from '#test/support/labs/parts.ts';
import { dataOf, restOf } from '#test/support/rest.ts';
import { itAtFullSize, steadySeed } from '#test/support/scale.ts';

/** docs/spec/interface.md, section 4.3; docs/spec/decisions.md, section 4 "Labs import" */
describe('import of laboratory messages', () => {
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());
  const { begin, send, json, imported, count } = importing(() => service);
  const rest = restOf(() => service);
  beforeEach(async () => {
    patient = await begin();
  });

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
      unit: 'mmol/L',
      category: 'laboratory',
      effective_at: '2026-03-31T08:00:00+02:00',
      status: 'final',
      version: 1,
      author_type: 'import',
      source_system: 'CITYLAB',
    });
    expect(String(glucose?.value)).to.equal('5.60');
    expect(glucose?.reference_range).to.deep.equal({ low: 3.9, high: 5.5 });
    expect(sodium).to.include({ code: 'NA', display: 'Natrium', value: 141 });
    const listed = dataOf(await rest.get(`/patients/${patient}/observations?category=laboratory`));
    expect(listed.map(({ id }) => id).sort()).to.deep.equal([glucose?.id, sodium?.id].sort());
    const stored = await service.fhir(`/Observation/${glucose?.id}`);
    expect(stored.text).to.contain('"value":5.60');
    expect((await send(MESSAGE)).text).to.contain('"value":5.60');
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
      'OBX[1]: an earlier result is replaced by version 2: it is corrected; status and value changed, specimen removed',
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
    expect(stale.warnings).to.deep.equal(['OBX[1]: it is older than the stored result, which is kept']);
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

  it('keeps the value of a correction that has none, takes back what is "", and goes by the time of issue', async () => {
    await imported(results(GLUCOSE));
    const obx = (value: string, status: string, more = '') =>
      `OBX|1|NM|2345-7^Glucose^LN||${value}||3.9-6.1||||${status}${more}`;
    const sent = async (issued: string, result: string): Promise<JsonObject> => {
      const answer = await imported(oru(OBR.replace('092500', issued), result));
      const [first] = observations(answer);
      return { ...first, warnings: answer.warnings ?? null };
    };
    const kept = await sent('100000', obx('', 'C'));
    expect(kept).to.deep.include({ version: 2, status: 'corrected', unit: 'mmol/L' });
    expect(String(kept.value)).to.equal('5.60');
    expect(kept.reference_range).to.deep.equal({ low: 3.9, high: 6.1 });
    expect(kept.note).to.match(/OBX-5 is empty/);
    expect(kept.warnings).to.include('OBX[1]: it has no value; the earlier value is kept');
    const final = await sent('110000', obx('6.1', 'F'));
    expect(final).to.deep.include({ version: 3, status: 'final', value: 6.1, note: null });
    await sent('120000', obx('6.2', 'C'));
    const resent = await sent('', obx('6.1', 'F', '|||20260331080000+0200'));
    expect(resent).to.deep.include({ version: 4, status: 'corrected', value: 6.2 });
    const deleted = await sent('130000', obx('""', 'C'));
    expect(deleted).to.deep.include({ version: 5, value: null, note: null });
    expect(deleted.warnings).to.include('OBX[1]: it withdraws the earlier value');
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

  it('takes a time zone for times without an offset, and the usual media type', async () => {
    const local = oru('OBR|1||F100|24323-8^Metabolic panel^LN|||202610250230', GLUCOSE).replace(
      /^((?:[^|]*\|){6})[^|]*/,
      '$120261025',
    );
    const refused = await send(local, 'application/hl7-v2', {}, '?time_zone=Europe/Nowhere');
    expect(refused.status).to.equal(422);
    expect(refused.text).to.include('query.time_zone');
    const answer = await send(local, 'application/hl7-v2', {}, '?time_zone=Europe/Oslo');
    expect(answer.status, answer.text).to.equal(200);
    expect(observations(answer.json)[0]?.effective_at).to.equal('2026-10-25T02:30:00+02:00');
  });

  it('keeps a payload as a document', async () => {
    const pdf = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64');
    const message = results(`OBX|1|ED|PDF^Report^L||^application^pdf^Base64^${pdf}||||||F`);
    expect(told(await imported(message))).to.deep.include({ created: 0, skipped: 0 });
    await imported(message);
    const found = await service.fhir(`/DocumentReference?patient=${patient}`);
    expect(found.json.total).to.equal(1);
    const [{ resource }] = found.json.entry as [{ resource: { content: JsonObject[]; meta: JsonObject } }];
    expect((await imported(message)).warnings).to.include(
      `OBX[1]: the result is a document: DocumentReference/${(resource as unknown as JsonObject).id}`,
    );
    expect(resource.meta.versionId).to.equal('1');
    expect(resource.content).to.have.nested.property('[0].attachment.contentType', 'application/pdf');
    const other = Buffer.from('%PDF-1.4\n%corrected\n').toString('base64');
    await imported(message.replace(pdf, other).replace(/F$/, 'C'));
    await imported(message.replace(pdf, other).replace(/F$/, 'C'));
    const both = await service.fhir(`/DocumentReference?patient=${patient}&_sort=_id`);
    const states = (both.json.entry as { resource: JsonObject }[]).map((entry) => entry.resource.status);
    expect(states).to.deep.equal(['superseded', 'current']);
    await imported(results('OBX|1|ED|PDF^Report^L||||||||D'));
    const withdrawn = await service.fhir(`/DocumentReference?patient=${patient}&status=entered-in-error`);
    expect(withdrawn.json.total).to.equal(1);
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
    const seed = steadySeed();
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

  itAtFullSize(
    'leaves the event loop to other requests while it reads and writes hundreds of results',
    async () => {
      const obx = Array.from({ length: 800 }, (_, at) => GLUCOSE.replace('||5.60', `|${at}|5.60`));
      let done = false;
      const from = performance.now();
      const importing = imported(results(...obx)).finally(() => {
        done = true;
      });
      const waits: number[] = [];
      while (!done) {
        const asked = performance.now();
        expect((await fetch(`${service.url}/health/live`)).status).to.equal(200);
        waits.push(performance.now() - asked);
      }
      expect((await importing).created).to.equal(800);
      expect(waits.length).to.be.greaterThan(10);
      expect(Math.max(...waits)).to.be.below((performance.now() - from) / 2);
    },
  );

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

  it('is 404 for a patient of nobody, and for another project', async () => {
    const path = `/patients/${patient}/labs/import`;
    const other = await rest.v1('POST', path, { message: MESSAGE }, {}, await service.newProject());
    expect(other.status).to.equal(404);
    const nobody = await rest.v1('POST', `/patients/nobody/labs/import`, { message: MESSAGE });
    expect(nobody.status).to.equal(404);
  });
});
