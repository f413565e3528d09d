/** Messages as laboratories send them, and the result of each: the corpus. */
import { expect } from 'chai';
import { validateResource } from '#src/fhir/validate.ts';
import { decideLabs, draftKey, type Earlier } from '#src/labs/decide.ts';
import { type Draft, draftUrl, Notes } from '#src/labs/labs.ts';
import { labsOfMessage } from '#src/labs/message.ts';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { expectedForms, FORMS, labsOf } from '#test/support/labs/forms.ts';
import { GLUCOSE, msh, OBR, one, oru, PATIENT, results } from '#test/support/labs/parts.ts';
import { shownLabs } from '#test/support/labs/shown.ts';

/** The text for the usual report and time, which the table abbreviates. */
const USUAL =
  'REPORT | 24323-8 "Metabolic panel" | final | CH | 2026-03-31T08:00:00+02:00 | 1 results | filler F100 | placer P100';
const short = (line: string): string =>
  line === USUAL ? 'REPORT' : line.replaceAll('2026-03-31T08:00:00+02:00', 'T');

function become(text: string | Buffer): string[] {
  try {
    return shownLabs(labsOf(text)).map(short);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.issues.map(({ diagnostics }) => `refused: ${diagnostics}`);
  }
}

describe('messages of laboratories', () => {
  const expected = expectedForms();

  it('are nearly a hundred forms, each with what becomes of it', () => {
    expect([...expected.keys()]).to.deep.equal(FORMS.map(({ name }) => name));
    expect(FORMS.length).to.be.at.least(90);
  });

  for (const { name, text } of FORMS) it(name, () => expect(become(text)).to.deep.equal(expected.get(name)));

  it('become valid resources, and sent again nothing', () => {
    for (const { name, text } of FORMS) {
      const [first] = expected.get(name) ?? [];
      if (first?.startsWith('refused') === true) continue;
      const { drafts } = labsOf(text);
      for (const { resource, type } of drafts)
        expect(validateResource(resource, type), name).to.deep.equal([]);
      const decided = atOnce(decideLabs(drafts, written(drafts), new Notes()));
      expect(
        decided.flatMap(({ entries }) => entries),
        name,
      ).to.deep.equal([]);
    }
  });
});

describe('the patient of a message', () => {
  const GLUCOSE_5 = `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`;
  const numbers = (...identifier: JsonObject[]) => ({ ...PATIENT, identifier });
  const clinic = { system: 'CLINIC', value: '1' };
  const read = (patient: JsonObject) => () =>
    atOnce(labsOfMessage(one('NM', '5', 'mmol/L|||||F'), { patient, subject: 'Patient/p', source: '' }));

  it('has the number where its system says, not in another', () => {
    expect(read(numbers(clinic, { system: 'urn:other', value: '4711' }))).to.throw('PID-3');
    expect(read(numbers(clinic, { system: 'CLINIC', value: '4711' }))).not.to.throw();
    expect(read(numbers({ system: 'urn:other', value: '1' }))).not.to.throw();
  });

  it('is another one if an equal number has another issuer, and name or birth date differ', () => {
    const second = (pid: string) => () =>
      labsOf(oru(OBR, GLUCOSE_5, pid, OBR.replaceAll('100', '200'), GLUCOSE_5));
    const several = 'the message has several patients';
    expect(second('PID|2||4711^^^OTHER^MR||Smith^Eva||19700102|F')).to.throw(several);
    expect(second('PID|2||4711^^^OTHER^MR||Berg^Anna||19700103|F')).to.throw(several);
    expect(second('PID|2||4711^^^OTHER^MR||Berg^Anna||19700102|F')).not.to.throw();
    expect(second('PID|2||4711^^^CLINIC^MR||Berg-Lie^Anna||19700102|F')).not.to.throw();
    expect(second('PID|2||4711||Berg-Lie^Anna||19700102|F')).not.to.throw();
  });

  it('is not compared by a birth date or sex that cannot be read, and warnings say so', () => {
    const warned = (born: string, sex: string) =>
      labsOf([msh(), `PID|1||4711^^^CLINIC||Berg^Anna||${born}|${sex}`, OBR, GLUCOSE_5].join('\r')).warnings;
    expect(warned('02.01.1971', 'Male')).to.deep.equal([
      'PID[1]: PID-7 is not a valid date, so it was not compared: 02.01.1971',
      'PID[1]: PID-8 is not a sex of table 0001, so it was not compared: Male',
    ]);
    for (const [born, sex] of [
      ['', ''],
      ['""', 'U'],
      ['1970', 'n'],
      ['197001022300+0100', 'F'],
    ] as const)
      expect(warned(born, sex), `${born} ${sex}`).to.deep.equal([]);
  });
});

describe('messages that are made to take long', () => {
  const hostile: readonly (readonly [string, string])[] = [
    [
      'a number of a million digits',
      results(`OBX|1|NM|2345-7^Glucose^LN||${'0'.repeat(1_000_000)}x|mg/L|||||F`),
    ],
    [
      'a range of a million blanks',
      results(`OBX|1|NM|2345-7^Glucose^LN||5|mg/L|1${' '.repeat(1_000_000)}x||||F`),
    ],
    ['a million repetitions', results(`OBX|1|CWE|2345-7^Glucose^LN||${'A~'.repeat(1_000_000)}||||||F`)],
    ['a million escapes', results(`OBX|1|ST|2345-7^Glucose^LN||${'\\'.repeat(1_000_000)}||||||F`)],
    ['a million lines', `${results()}${'\rNTE|1||a'.repeat(1_000_000)}`],
    ['a million components', results(`OBX|1|SN|2345-7^Glucose^LN||${'^'.repeat(1_000_000)}||||||F`)],
  ];
  for (const [name, text] of hostile)
    it(name, () => {
      const before = process.cpuUsage();
      become(text);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000, 'ms').to.be.below(3_000);
    });
});

/** Returns drafts in the form in which they are in the record once written. */
function written(drafts: readonly Draft[]): Map<string, Earlier> {
  const ids = new Map(drafts.map(({ type, key }, at) => [draftUrl(type, key), `${type}/${at}`] as const));
  return new Map(
    drafts.map((draft, at) => {
      const text = [...ids].reduce(
        (all, [url, reference]) => all.replaceAll(JSON.stringify(url), JSON.stringify(reference)),
        printJson(draft.resource),
      );
      const { value } = parseJson(text);
      const resource: JsonObject = isObject(value) ? value : {};
      return [draftKey(draft), { id: String(at), version: 1, resource }];
    }),
  );
}
