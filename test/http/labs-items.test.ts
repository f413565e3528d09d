import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { importing, MESSAGE, observations, told } from '#test/support/labs/importing.ts';
import type { Answer } from '#test/support/service.ts';

/** docs/spec/interface.md, section 4.3; docs/spec/decisions.md, section 4 "Labs import" */
describe('import of laboratory items and tables', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());
  const { begin, send, json, count } = importing(() => service);
  beforeEach(async () => {
    await begin();
  });

  it('keeps the unit of a number that carries a flag', async () => {
    const table = 'code,value,unit\n2823-3,7.2!,mmol/L\n2951-2,120 L,mmol/L\n2345-7,5.6?,mmol/L';
    const { json: answer } = await send(table, 'text/csv', {}, '?date=2026-04-02');
    expect(observations(answer)[0]).to.include({ value: 7.2, unit: 'mmol/L' });
    expect(observations(answer)[1]).to.include({ value: 120, unit: 'mmol/L' });
    expect(observations(answer)[2]).to.include({ value: null, value_text: '5.6? mmol/L' });
    expect(told(answer)).to.deep.include({
      warnings: ['rows.2: its value is kept as text, with the unit: it is not a number'],
    });
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
      warnings: ['items.1: the unit arb is kept as text: it is not certain which UCUM unit it means'],
    });
    expect(observations(answer.json)[0]).to.include({
      unit: 'mmol/L',
      effective_at: '2026-03-31',
      origin_id: 'R17',
    });
    expect(observations(answer.json)[1]).to.include({ unit: 'arb', effective_at: '2026-03-30T08:00:00Z' });
    const literal = await send(
      JSON.stringify(body).replace('5.6,', '5.60,').replace('R17', 'R18'),
      'application/json',
    );
    expect(literal.text).to.contain('"value":5.60');
    const again = await json(body, { 'X-Service-Source-System': 'lab' });
    expect(told(again.json)).to.deep.include({ created: 0, skipped: 4 });
    const changed = { ...body, items: [{ ...items[0], value: 6.1 }] };
    const [after] = observations((await json(changed, { 'X-Service-Source-System': 'lab' })).json);
    expect(after).to.include({ version: 2, value: 6.1 });
  });

  it('warns of what is implausible, and keeps it', async () => {
    const items = [
      { code: '2823-3', value: 41, unit: 'mmol/L' },
      { code: '2823-3', value: 4.1, unit: 'kg' },
      { code: '2823-3', value: 4.1, unit: 'mmol/L', effective_at: '2962-01-01T00:00:00Z' },
    ];
    const answer = await json({ items, date: '2026-03-31' });
    expect(answer.status, answer.text).to.equal(200);
    expect(observations(answer.json).map(({ value }) => value)).to.include.members([41, 4.1]);
    expect(told(answer.json).warnings).to.include.members([
      'items.0: 41 mmol/L is outside what is possible in a living person (0 to 20 mmol/L)',
      'items.1: the unit kg does not fit LOINC 2823-3, which is measured in mmol/L',
      'items.2: 2962-01-01T00:00:00Z is in the future',
    ]);
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

  it('keeps range and note of an earlier result that comes again without them', async () => {
    const table = (text: string) => send(text, 'text/csv', {}, '?date=2026-05-01');
    const first = await table('marker,result,reference range,comment\nCRP,5,0 - 10,fasting');
    const again = await table('marker,result\nCRP,5');
    expect(told(again.json)).to.deep.include({ created: 0, skipped: 1, warnings: [] });
    expect(observations(again.json)).to.deep.equal(observations(first.json));
    expect((await table('marker,result,reference range\nCRP,5,')).json).to.deep.include({ skipped: 1 });
    const bare = await json({ date: '2026-05-01', items: [{ marker: 'CRP', result: 5 }] });
    expect(observations(bare.json)).to.deep.equal(observations(first.json));
    const other = await table('marker,result,reference range\nCRP,5,0 - 8');
    expect(other.json.warnings).to.deep.equal([
      'rows.0: an earlier result is replaced by version 2: it is final; reference range changed',
    ]);
  });

  it('says which range it could not read, and keeps its text', async () => {
    const table = 'marker,result,reference range\nCRP,5,abc\nNitrite,negative,negative';
    const answer = await send(table, 'text/csv', {}, '?date=2026-05-01');
    expect(answer.json.warnings).to.deep.equal([
      'rows.0: the reference range abc is kept as text; write two numbers or a bound, for example 3.9 - 5.5 or < 5',
    ]);
    const { json: stored } = await service.fhir(`/Observation/${observations(answer.json)[0]?.id}`);
    expect(stored.referenceRange).to.deep.equal([{ text: 'abc' }]);
  });

  it('says what to write for a unit that is ambiguous', async () => {
    const items = [{ code: '8310-5', value: 37, unit: 'C' }];
    const answer = await json({ date: '2026-05-01', items });
    expect(answer.json.warnings).to.deep.equal([
      'items.0: the unit C is kept as text: it is ambiguous; write Cel for degrees Celsius',
    ]);
  });

  it('takes a table with the columns that people use', async () => {
    const table = [
      'Marker,Result,Units,Reference Range,Low,High,Date,Comment',
      'Glucose,5.60,mmol/l,"3,9 - 5,5",,,2026-03-30,fasting',
      '2345-7,5.7,mmol/l,,3.9,5.5,,',
      'A|B,< 5,mg/l,negative,,5,,',
    ].join('\n');
    const answer = await send(table, 'text/csv', {}, '?date=2026-03-31');
    expect(answer.status, answer.text).to.equal(200);
    expect(told(answer.json)).to.deep.include({ created: 3, unmapped: ['Glucose', 'A/B (A|B)'] });
    expect(answer.text).to.contain('"value":5.60');
    const [one, two, three] = observations(answer.json);
    expect(one).to.include({ code: 'Glucose', effective_at: '2026-03-30', note: 'fasting' });
    expect(one?.reference_range).to.deep.equal({ low: 3.9, high: 5.5 });
    const known = { code: '2345-7', system: 'http://loinc.org', value: 5.7 };
    expect(two).to.include({ ...known, display: 'Glucose [Mass/volume] in Serum or Plasma' });
    expect(two?.reference_range).to.deep.equal({ low: 3.9, high: 5.5 });
    expect(three).to.include({ code: 'A/B', display: 'A|B', value_text: '< 5 mg/L' });
    expect(three?.reference_range).to.deep.equal({ low: null, high: 5 });
    const coded = 'code;test;result\n2345-7;Glukose;5';
    const [named] = observations((await send(coded, 'text/csv', {}, '?date=2026-03-31')).json);
    expect(named).to.include({ code: '2345-7', display: 'Glukose', value: 5 });
  });

  it('takes items with the members that people use', async () => {
    const body = {
      date: '2026-03-31',
      items: [
        { test: 'Glucose', result: 5.6, unit: 'mmol/l', reference_range: '3,9 - 5,5' },
        { code: '2345-7', analyte: 'Glukose', result: '5,7', unit: 'mmol/l', low: 3.9, high: 5.5 },
        { marker: 'CRP', result: '< 5', unit: 'mg/l', 'reference range': '< 5' },
      ],
    };
    const sent = JSON.stringify(body).replace('5.6,', '5.60,');
    const answer = await send(sent, 'application/json');
    expect(answer.status, answer.text).to.equal(200);
    expect(told(answer.json)).to.deep.include({ created: 3, unmapped: ['Glucose', 'CRP'] });
    expect(answer.text).to.contain('"value":5.60');
    const [one, two, three] = observations(answer.json);
    expect(one).to.include({ code: 'Glucose', display: 'Glucose' });
    expect(one?.reference_range).to.deep.equal({ low: 3.9, high: 5.5 });
    expect(two).to.include({ code: '2345-7', display: 'Glukose', value: 5.7 });
    expect(two?.reference_range).to.deep.equal({ low: 3.9, high: 5.5 });
    expect(three).to.include({ value_text: '< 5 mg/L' });
    expect(three?.reference_range).to.deep.equal({ low: null, high: 5 });
    const again = await send(sent, 'application/json');
    expect(again.json).to.deep.include({ created: 0, skipped: 3 });
  });

  it('names the faults of items by the form of items, and the columns that there are', async () => {
    const fieldsOf = (answer: Answer): string[] => {
      expect(answer.status, answer.text).to.equal(422);
      const { errors } = answer.json.error as unknown as { errors: { field: string }[] };
      return errors.map(({ field }) => field);
    };
    const wrong = {
      items: [
        { code: 1, vlaue: 2 },
        { test: 'a', marker: 'b', value: 1 },
      ],
      date: '2026-03-31',
    };
    const answer = await json(wrong);
    expect(fieldsOf(answer)).to.have.members(['items.0.code', 'items.0.vlaue', 'items.1.test']);
    expect(answer.text).to.contain('did you mean `value`?').and.not.to.contain('message is missing');
    expect(fieldsOf(await json({ items: 'x' }))).to.deep.equal(['items']);
    const both = { code: 'a', value: 1, result: 2, reference_range: { low: 1 }, high: 0 };
    const twice = await json({ items: [both], date: '2026-03-31' });
    expect(fieldsOf(twice)).to.have.members(['items.0.result', 'items.0.high']);
    const table = await send(
      'test,analyte,result,shoe_size,untis\na,b,1,2,3',
      'text/csv',
      {},
      '?date=2026-01-01',
    );
    expect(fieldsOf(table)).to.deep.equal(['columns.analyte', 'columns.shoe_size', 'columns.untis']);
    expect(table.text).to.contain('means the same as test; send only one of them');
    expect(table.text).to.contain(
      'the columns are code, marker, test, analyte, system, display, value, result',
    );
    expect(table.text).to.contain('did you mean `units`?');
    const row = await send('test,result,low\n,1,x', 'text/csv', {}, '?date=2026-01-01');
    expect(fieldsOf(row)).to.deep.equal(['rows.0.test', 'rows.0.low']);
  });

  it('refuses ends of a range that differ from its text', async () => {
    const rows = ['3-4,2,', '3-4 mmol/L,3,4.0', '< 5,2,5', '> 5,,6', 'see note,2,3'];
    const text = [
      'code,value,unit,normal range,low,reference high',
      ...rows.map((row) => `NA,1,mmol/L,${row}`),
    ];
    const table = await send(
      text.join('\n').replaceAll('reference high', 'reference_high'),
      'text/csv',
      {},
      '?date=2026-01-01',
    );
    expect(table.status).to.equal(422);
    const { errors } = table.json.error as unknown as { errors: { field: string; message: string }[] };
    expect(errors.map(({ field }) => field)).to.deep.equal([
      'rows.0.low',
      'rows.2.low',
      'rows.3.reference_high',
    ]);
    expect(table.text).to.contain('rows.0.low differs from normal_range; send only one of them');
    const item = { code: 'NA', value: 1, unit: 'mmol/L' };
    const items = [
      { ...item, reference_range: '3-4', low: 2 },
      { ...item, 'reference range': '3-4', low: 3, high: 5 },
      { ...item, 'reference range': '3-4', low: 3, high: 4 },
    ];
    const sent = await json({ items, date: '2026-01-01' });
    expect(sent.status).to.equal(422);
    expect(sent.text).to.contain('items.0.low').and.to.contain('differs from reference_range');
    expect(sent.text).to.contain('items.1.high').and.to.contain('differs from reference range');
    expect(sent.text).not.to.contain('items.2');
  });

  const bad: readonly [string, () => Promise<Answer>, number, string?][] = [
    ['a message of another kind', () => send(MESSAGE.replace('ORU^R01', 'ADT^A01')), 422, 'message'],
    ['what is no message', () => send('hello'), 422, 'message'],
    ['a message without its line ends', () => send(MESSAGE.split(/[\r\n]+/).join('')), 422, 'message'],
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
});
