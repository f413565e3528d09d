/**
 * The real id of a patient can't be found out digit by digit: an application writes the id that it knows, the record has
 * the real one, and no search compares parts of that (docs/spec/decisions.md, section 1).
 */
import { expect } from 'chai';
import { GrantWriting } from '#test/support/grant-writing.ts';
import type { Allowed } from '#test/support/granted.ts';

describe('parts of the real id under a grant', () => {
  let on: GrantWriting;
  let allowed: Allowed;
  before(async () => {
    on = await GrantWriting.start();
    allowed = await on.allow(['patient/*.cruds']);
    for (const text of [allowed.patient, `seen ${allowed.patient.toUpperCase()} today`, 'other words']) {
      const sent = on.observation(allowed.patient, 'laboratory', { valueString: text });
      const made = await on.send(allowed, 'POST', '/Observation', sent);
      expect(made.status, made.text).to.equal(201);
    }
    const document = {
      resourceType: 'DocumentReference',
      status: 'current',
      subject: { reference: `Patient/${allowed.patient}` },
      masterIdentifier: { system: 'urn:x', value: allowed.patient },
      content: [{ attachment: { contentType: 'text/plain', url: `http://x.example/${allowed.patient}` } }],
    };
    const made = await on.send(allowed, 'POST', '/DocumentReference', document);
    expect(made.status, made.text).to.equal(201);
  });
  after(() => on?.stop());

  const total = async (path: string) => {
    const { status, json, text } = await on.ask(allowed, path);
    expect(status, text).to.equal(200);
    return json.total;
  };

  it('are stored with the real id, and shown with the known one', async () => {
    const { text } = await on.ask(allowed, '/Observation?value-string:contains=seen');
    expect(text.toLowerCase()).to.contain(`seen ${allowed.patient}`);
    const { text: own } = await on.service.fhir('/Observation?value-string:contains=seen');
    expect(own.toLowerCase()).to.contain(`seen ${on.record}`);
  });

  it('find nothing in strings and uris', async () => {
    const { record } = on;
    for (const part of [record.slice(0, 12), record.slice(0, 24), record.slice(0, 35)]) {
      expect(await total(`/Observation?value-string=${part}`), part).to.equal(0);
      expect(await total(`/Observation?value-string:contains=${part}`), part).to.equal(0);
      expect(await total(`/DocumentReference?location:below=http://x.example/${part}`), part).to.equal(0);
    }
    for (const part of [record.slice(1), record.slice(9, 30)])
      expect(await total(`/Observation?value-string:contains=${part}`), part).to.equal(0);
  });

  it('find nothing for the owner either, whose other words are found', async () => {
    const found = async (q: string) => (await on.service.fhir(`/Observation?${q}`)).json.total;
    expect(await found(`value-string=${on.record.slice(0, 30)}`)).to.equal(0);
    expect(await found('value-string=seen')).to.equal(1);
    expect(await found('value-string=other')).to.equal(1);
  });
});
