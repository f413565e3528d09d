/** Names of codes, for people and models (docs/spec/decisions.md, section 4 "Names of codes"). */
import { expect } from 'chai';
import {
  cleanName,
  codesToName,
  findName,
  labelCode,
  nameConcept,
} from '#src/clinical/reading/names/name.ts';

const LOINC = 'http://loinc.org';
const SNOMED = 'http://snomed.info/sct';
const ICD10 = 'http://hl7.org/fhir/sid/icd-10';
const LOCAL = 'https://lab.example/codes';

describe('reading: names of codes', () => {
  const chronic = { system: ICD10, code: 'N18.3' };
  const names = new Map([
    [`${LOINC}|33914-3`, 'Glomerular filtration rate'],
    [`${LOINC}|85354-9`, 'Blood pressure panel with all children optional'],
    [`${SNOMED}|38341003`, 'Hypertensive disorder (disorder)'],
    [`${ICD10}|E11`, 'Type 2 diabetes'],
  ]);

  it('takes the text of the author, then a display, then what the terminology knows', () => {
    const coding = [{ system: ICD10, code: 'E11', display: 'Type 2 diabetes mellitus' }];
    expect(nameConcept({ text: 'Sugar', coding }, names)).to.equal('Sugar');
    expect(nameConcept({ coding: [{ system: LOCAL, code: 'D2' }, ...coding] }, names)).to.equal(
      'Type 2 diabetes mellitus',
    );
    expect(nameConcept({ coding: [{ system: ICD10, code: 'E11' }] }, names)).to.equal('Type 2 diabetes');
    const both = {
      coding: [
        { system: LOCAL, code: 'D2' },
        { system: LOINC, code: '33914-3' },
      ],
    };
    expect(nameConcept(both, names)).to.equal('Glomerular filtration rate');
  });

  it('shows a code without a name with the short name of its system', () => {
    expect(nameConcept({ coding: [chronic] }, names)).to.equal('ICD-10 N18.3');
    expect(nameConcept({ coding: [{ system: LOCAL, code: 'X1' }, chronic] })).to.equal('ICD-10 N18.3');
    expect(nameConcept({ coding: [{ system: LOCAL, code: 'X1' }] })).to.equal('X1');
    expect(nameConcept({ coding: [{ code: 'X2' }] })).to.equal('X2');
    expect(labelCode({ system: SNOMED, code: '38341003' })).to.equal('SNOMED CT 38341003');
    expect(labelCode({ system: LOINC, code: '33914-3' })).to.equal('LOINC 33914-3');
    expect(findName({ coding: [chronic] }, names)).to.equal(undefined);
  });

  it('names each of several concepts, and nothing where there is none', () => {
    const all = [{ text: 'Itch' }, { coding: [chronic] }, {}, { coding: [{ system: ICD10, code: 'E11' }] }];
    expect(nameConcept(all, names)).to.equal('Itch, ICD-10 N18.3, Type 2 diabetes');
    for (const value of [undefined, null, [], {}, { coding: [] }, 'text'])
      expect(nameConcept(value)).to.equal(undefined);
  });

  it('drops the notation of SNOMED CT and of LOINC panels, whatever says the name', () => {
    const tagged = (display: string) => nameConcept({ coding: [{ system: SNOMED, code: '1', display }] });
    expect(tagged('Hypertension (disorder)')).to.equal('Hypertension');
    expect(tagged('Patient transfer to skilled nursing facility (procedure)')).to.equal(
      'Patient transfer to skilled nursing facility',
    );
    expect(tagged('Physical restraint (regime/therapy)')).to.equal('Physical restraint');
    expect(tagged('Polyp (benign) of colon (disorder)')).to.equal('Polyp (benign) of colon');
    expect(tagged('Sprain (left ankle)')).to.equal('Sprain (left ankle)');
    expect(tagged('(disorder)')).to.equal('(disorder)');
    expect(nameConcept({ coding: [{ system: SNOMED, code: '38341003' }] }, names)).to.equal(
      'Hypertensive disorder',
    );
    expect(nameConcept({ coding: [{ system: LOINC, code: '85354-9' }] }, names)).to.equal(
      'Blood pressure panel',
    );
    expect(cleanName('Hypertension (disorder)', undefined)).to.equal('Hypertension (disorder)');
  });

  it('changes a text only where it repeats the name of a code', () => {
    const text = 'Hypertension (disorder)';
    const coding = { system: SNOMED, code: '59621000', display: text };
    expect(nameConcept({ text, coding: [coding] })).to.equal('Hypertension');
    expect(nameConcept({ text, coding: [{ system: SNOMED, code: '59621000' }] })).to.equal('Hypertension');
    // An author's own wording is kept, even next to a code.
    expect(nameConcept({ text })).to.equal(text);
    expect(nameConcept({ text, coding: [chronic] })).to.equal(text);
    const worded = 'High pressure, first seen at work (finding)';
    expect(nameConcept({ text: worded, coding: [coding] })).to.equal(worded);
  });

  it('asks for names only where the record has none, and for a bounded number of codes', () => {
    expect(codesToName({ text: 'Itch', coding: [chronic] })).to.deep.equal([]);
    const local = { system: LOCAL, code: 'X1' };
    expect(codesToName({ coding: [local, chronic, { code: 'X2' }] })).to.deep.equal([chronic, local]);
    const many = Array.from({ length: 5_000 }, (_, n) => ({ system: LOCAL, code: `${n}` }));
    expect(codesToName({ coding: many }).length).to.be.within(1, 50);
  });
});
