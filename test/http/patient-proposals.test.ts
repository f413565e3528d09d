/** Suggested changes on the pages for patients (docs/connections.md, docs/proposals.md). */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { linksOf, patientVisitor, wordsOf } from '#test/support/patient-pages.ts';
import { conditionOf, Proposing, type Shared } from '#test/support/proposals.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

const HOSTILE = '<script>alert(1)</script>';

describe('suggestions on the pages of patients', () => {
  let service: InProcess;
  let proposing: Proposing;
  let shared: Shared;

  before(async () => {
    service = await startInProcess();
    proposing = await Proposing.open(service);
  });
  beforeEach(async () => {
    shared = await proposing.share(await proposing.application());
  });
  after(async () => {
    await proposing?.close();
    await service?.stop();
    await removeTemporaryFolders();
  });

  const pathOf = (part = ''): string => `/connections/records/${shared.record}/proposals${part}`;

  it('show what an application would add and why, as text, and mark what a program made', async () => {
    const { id } = await proposing.condition(shared, HOSTILE, { rationale: HOSTILE });
    const visitor = await patientVisitor(service, shared.email);
    expect(wordsOf(visitor.page)).to.include('1 suggestion waits for your decision');
    const list = await visitor.open(pathOf());
    expect(wordsOf(list)).to.include('suggested by Hearty').and.include('Noted by AI');
    const page = await visitor.open(linksOf(list, id)[0] ?? '');
    expect(page.text).to.include('&lt;script&gt;alert(1)').and.not.include('<script');
    expect(wordsOf(page)).to.include('A program made these values').and.include('Its reason:');
    const other = await patientVisitor(service, 'no-part@example.org');
    expect((await other.open(pathOf(`/${id}`))).status).to.equal(404);
    expect((await visitor.open(pathOf('/prop_unknown'))).status).to.equal(404);
  });

  it('say in plain words what would be added or change, with every detail behind it', async () => {
    const weight = {
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }] },
      subject: { reference: `Patient/${shared.allowed.patient}` },
      effectiveDateTime: '2026-05-04',
      valueQuantity: { value: 71.5, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
    };
    const { id } = await proposing.proposed(shared.allowed, { operation: 'create', resource: weight });
    const visitor = await patientVisitor(service, shared.email);
    const overview = await visitor.open(`/connections/records/${shared.record}`);
    expect(wordsOf(overview)).to.include('1 suggestion waits for your decision');
    expect(linksOf(overview, '/proposals')).not.to.deep.equal([]);
    const page = await visitor.open(pathOf(`/${id}`));
    const [plain = '', details = ''] = page.text.split('<details class="filters"');
    expect(wordsOf(page)).to.include('Add: Body weight');
    expect(plain)
      .to.include('<th scope="row">When</th>\n<td><ins><bdi>4 May 2026</bdi></ins>')
      .and.include('<th scope="row">Value</th>\n<td><ins><bdi>71.5 kg</bdi></ins>')
      .and.include('<th scope="row">Status</th>\n<td><ins><bdi>Final</bdi></ins>')
      .and.not.match(/29463-7|valueQuantity|loinc/);
    expect(details).to.include('valueQuantity.value').and.include('29463-7');
    const german = await visitor.open(`${pathOf(`/${id}`)}?lang=de`);
    expect(german.text).to.include('<th scope="row">Wert</th>').and.include('<bdi>Endgültig</bdi>');
  });

  it('hide nothing that is written: all digits of numbers, and what is said of the patient', async () => {
    const subject = { reference: `Patient/${shared.allowed.patient}`, display: 'Somebody Else' };
    const resource = {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'Marker' },
      subject: { ...subject, extension: [{ url: 'https://example.org/x', valueString: 'of a twin' }] },
      valueQuantity: { value: 1.5, unit: 'mg' },
      referenceRange: [{ high: { value: 9.25, unit: 'mg' } }],
    };
    const body = JSON.stringify({ operation: 'create', resource, author_type: 'patient' })
      .replace('1.5', '1.50')
      .replace('9.25', '9007199254740993');
    const response = await fetch(`${service.url}/v1/patients/${shared.allowed.patient}/proposals`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${shared.allowed.token}`, 'Content-Type': 'application/json' },
      body,
    });
    expect(response.status).to.equal(201);
    const { id } = (await response.json()) as { id: string };
    const visitor = await patientVisitor(service, shared.email);
    const page = await visitor.open(pathOf(`/${id}`));
    const [plain = '', details = ''] = page.text.split('<details class="filters"');
    expect(plain).to.include('1.50 mg').and.include('Somebody Else');
    for (const value of ['1.50', '9007199254740993', 'Somebody Else', 'of a twin'])
      expect(details).to.include(`<td><bdi>${value}</bdi></td>`);
    expect(details).not.to.include(`Patient/${shared.record}`);
  });

  it('list all that wait, a hundred on a page', async () => {
    const other = await proposing.allow(await proposing.application(), shared.record, shared.email);
    const { id: oldest } = await proposing.condition({ allowed: other }, 'The oldest');
    for (let batch = 0; batch < 10; batch += 1)
      await Promise.all(Array.from({ length: 10 }, (_, n) => proposing.condition(shared, `c ${batch} ${n}`)));
    const visitor = await patientVisitor(service, shared.email);
    const first = await visitor.open(pathOf());
    expect(linksOf(first, oldest)).to.deep.equal([]);
    const next = await visitor.open(linksOf(first, 'waiting=')[0] ?? '');
    expect(linksOf(next, oldest)).to.have.length(1);
    // Only the links to other languages keep the place.
    expect(linksOf(next, 'waiting=').filter((link) => !link.includes('lang='))).to.deep.equal([]);
  });

  it('name each part of a value once, and give each text a direction of its own', async () => {
    const part = (code: string, display: string, value: number) => ({
      code: { coding: [{ system: 'http://loinc.org', code, display }] },
      valueQuantity: { value, unit: 'mm[Hg]', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
    });
    const resource = {
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }] },
      subject: { reference: `Patient/${shared.allowed.patient}` },
      effectiveDateTime: '2026-05-04',
      component: [part('8480-6', 'Systolic', 128), part('8462-4', 'Diastolic', 82)],
      note: [{ text: 'seated' }, { text: 'left arm' }],
    };
    const { id } = await proposing.proposed(shared.allowed, { operation: 'create', resource });
    const visitor = await patientVisitor(service, shared.email);
    const english = await visitor.open(`${pathOf(`/${id}`)}?lang=en`);
    expect(english.text).to.include(
      '<ins><bdi>Systolic</bdi>: <bdi>128 mmHg</bdi>, <bdi>Diastolic</bdi>: <bdi>82 mmHg</bdi></ins>',
    );
    const arabic = await visitor.open(`${pathOf(`/${id}`)}?lang=ar`);
    expect(arabic.text).to.include('<bdi>Systolic</bdi>: <bdi>128 mmHg</bdi>، <bdi>Diastolic</bdi>');
    expect(arabic.text).to.include('<bdi>seated</bdi>، <bdi>left arm</bdi>');
  });

  it('say of a program’s values what has become of them', async () => {
    const waiting = 'If you accept';
    const [first, second] = [
      await proposing.condition(shared, 'Asthma'),
      await proposing.condition(shared, 'Gout'),
    ];
    const visitor = await patientVisitor(service, shared.email);
    for (const [id, decision, said] of [
      [first.id, 'accept', 'They are marked in the record'],
      [second.id, 'reject', 'They aren’t in the record.'],
    ]) {
      expect(wordsOf(await visitor.open(pathOf(`/${id}`)))).to.include(waiting);
      await visitor.submit({ decision: decision ?? '' });
      expect(wordsOf(await visitor.open(pathOf(`/${id}`))))
        .to.include(said)
        .and.not.include(waiting);
    }
    // What was accepted can be deleted later, for example by a take-back.
    const { fhir } = JSON.parse((await proposing.app(shared.allowed, `/${first.id}`)).text) as {
      fhir: string;
    };
    expect((await service.fhir(`/${fhir}`, { method: 'DELETE' })).status).to.equal(204);
    expect(wordsOf(await visitor.open(pathOf(`/${first.id}`))))
      .to.include('The entry was changed or deleted since then.')
      .and.not.include('They are marked in the record');
  });

  it('write what is accepted, once; a second decision says that it has changed', async () => {
    const { id } = await proposing.condition(shared, 'Asthma');
    const [visitor, second] = [
      await patientVisitor(service, shared.email),
      await patientVisitor(service, shared.email),
    ];
    await visitor.open(pathOf(`/${id}`));
    await second.open(pathOf(`/${id}`));
    const done = await visitor.submit({ decision: 'accept' });
    expect(wordsOf(done)).to.include('The change is in the record now.').and.include('Accepted');
    const late = await second.submit({ decision: 'reject' });
    expect([late.status, wordsOf(late).includes('This has changed in the meantime')]).to.deep.equal([
      409,
      true,
    ]);
    const health = await visitor.open(`/connections/records/${shared.record}/health`);
    const at = health.text.indexOf('Noted by AI');
    expect(health.text.slice(0, at)).not.to.include('Asthma');
    expect(health.text.slice(at)).to.include('Asthma');
    const entry = wordsOf(await visitor.open(linksOf(health, '/entries/Condition/')[0] ?? ''));
    expect(entry)
      .to.match(/Asthma [^·]*Health problem · Version 1 of 1/)
      .and.match(/Sent by an application: Hearty.* Approved by .*the patient/);
  });

  it('say which kind of entry is suggested, its dose, and as whose it is recorded', async () => {
    const scopes = ['patient/MedicationStatement.cru', 'patient/Condition.cru'];
    shared = await proposing.share(await proposing.application(), { scopes });
    const resource = {
      resourceType: 'MedicationStatement',
      status: 'active',
      medicationCodeableConcept: { text: 'Ibuprofen' },
      subject: { reference: `Patient/${shared.allowed.patient}` },
      dosage: [
        {
          timing: { repeat: { frequency: 2, period: 1, periodUnit: 'd' } },
          doseAndRate: [{ doseQuantity: { value: 400, unit: 'mg' } }],
        },
      ],
    };
    const { id } = await proposing.proposed(shared.allowed, {
      operation: 'create',
      resource,
      author_type: 'patient',
    });
    await proposing.condition(shared, 'Asthma');
    const visitor = await patientVisitor(service, shared.email);
    const list = wordsOf(await visitor.open(pathOf()));
    expect(list).to.include('Add: Ibuprofen Medicine · 400 mg twice a day');
    expect(list).to.match(/Add: Asthma Noted by AI Health problem/);
    const page = wordsOf(await visitor.open(pathOf(`/${id}`)));
    expect(page).to.include('Medicine · 400 mg twice a day');
    expect(page).to.include('Comes from the patient Sent by an application: Hearty Approved by you');
    const german = wordsOf(await visitor.open(`${pathOf(`/${id}`)}?lang=de`));
    expect(german).to.include('Angenommen von Ihnen');
    const log = wordsOf(await visitor.open(`/connections/records/${shared.record}/log`));
    expect(log).to.include('Suggested a change').and.not.include('nothing found');
    expect(log).not.to.include('unnoticed');
  });

  it('show the difference of a change, and write nothing of what is rejected', async () => {
    const { json } = await service.post('/Condition', {
      ...conditionOf(shared.record, 'Asthma'),
      note: [{ text: 'mild' }],
    });
    const { id } = await proposing.proposed(shared.allowed, {
      operation: 'update',
      current_version: 1,
      resource: {
        ...conditionOf(shared.allowed.patient, 'Asthma'),
        id: json.id,
        note: [{ text: `severe ${'x'.repeat(600)}` }],
        language: 'en',
        meta: { tag: [{ system: 'https://example.org/tags', code: 'unseen' }] },
        text: {
          status: 'additional',
          div: '<div xmlns="http://www.w3.org/1999/xhtml"><p>Bad &amp; <b>worse</b></p></div>',
        },
      },
      author_type: 'patient',
    });
    const visitor = await patientVisitor(service, shared.email);
    const page = await visitor.open(pathOf(`/${id}`));
    expect(page.text)
      .to.match(/<del><bdi>mild<\/bdi><\/del>/)
      .and.match(/<ins><bdi>severe x{600}<\/bdi><\/ins>/)
      .and.include('<ins><bdi>Bad &amp; worse</bdi></ins>')
      .and.include('<ins><bdi>unseen</bdi></ins>');
    expect(wordsOf(page)).to.include('Change: Asthma').and.not.include('Noted by AI');
    const done = await visitor.submit({ decision: 'reject' });
    expect(wordsOf(done)).to.include('You rejected the change.').and.include('Rejected');
    const { text } = await service.fhir(`/Condition/${String(json.id)}`);
    expect(text).to.include('mild').and.not.include('severe');
  });
});
