/** A component's own reference range, and ranges that apply to some people only. */
import { expect } from 'chai';
import { numbersIn } from '#queries/insight/values.ts';
import { texts } from '#src/http/pages/texts.ts';
import { judge, judgementText } from '#src/http/reading/judgement.ts';
import { readObservation } from '#src/http/reading/measures.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { shownObservation } from '#src/v1/observation.ts';

const LOINC = 'http://loinc.org';
const code = (loinc: string, text: string) => ({ coding: [{ system: LOINC, code: loinc }], text });
const mmHg = (value: number) => ({ value, unit: 'mmHg', code: 'mm[Hg]' });
const part = (loinc: string, text: string, value: number, range?: JsonObject): JsonObject => ({
  ...{ code: code(loinc, text), valueQuantity: mmHg(value) },
  ...(range === undefined ? {} : { referenceRange: [range] }),
});
const panel = (...component: JsonObject[]) =>
  shownObservation({
    ...{ resourceType: 'Observation', status: 'final', code: code('85354-9', 'Blood pressure panel') },
    ...{ effectiveDateTime: '2026-10-01', component },
  });
const range = { low: mmHg(90), high: mmHg(140) };
const pressure = (systolic: number, diastolic = 70) =>
  panel(
    part('8480-6', 'Systolic', systolic, range),
    part('8462-4', 'Diastolic', diastolic, { high: mmHg(90) }),
  );

/** Returns an observation as the pages read it. */
const read = (shown: object, interpretations?: readonly string[]) => ({
  ...readObservation({
    ...{
      id: '1',
      created_at: '2026-10-01T00:00:00Z',
      author_type: 'import',
      fhir: 'Observation/1',
      ...shown,
    },
  }),
  interpretations,
  reported: undefined,
});

describe('the reference range of a component', () => {
  it('is a member of REST v1, if the component has one', () => {
    const [systolic, diastolic] = pressure(150).components;
    expect(systolic?.reference_range).to.deep.equal({ low: 90, high: 140 });
    expect(diastolic?.reference_range).to.deep.equal({ low: null, high: 90 });
    expect(panel(part('8480-6', 'Systolic', 150)).components[0]).to.not.have.property('reference_range');
  });

  it('is the range of its number in patterns', () => {
    const { numbers } = numbersIn(JSON.stringify(pressure(150)).slice(1, -1));
    expect(numbers.map(({ value, low, high }) => [value, low, high])).to.deep.equal([
      [150, 90, 140],
      [70, null, 90],
    ]);
  });

  it('judges the value on the pages, unless the laboratory does', () => {
    const said = (shown: object, codes?: readonly string[]) => {
      const observation = read(shown, codes);
      return [judge(observation)?.grade, judgementText(texts('en'), observation)];
    };
    expect(said(pressure(150))).to.deep.equal(['out', 'Upper blood pressure (systolic): Above the range']);
    expect(said(pressure(120, 95))).to.deep.equal([
      'out',
      'Lower blood pressure (diastolic): Above the range',
    ]);
    expect(said(pressure(120))).to.deep.equal(['good', 'In the range']);
    expect(said(pressure(150), ['N'])[0]).to.equal('out');
    expect(said(pressure(150), ['HH'])[0]).to.equal('critical');
    expect(said(panel(part('8480-6', 'Systolic', 120, range), part('8462-4', 'Diastolic', 70)))[0]).to.equal(
      undefined,
    );
  });

  it('doesn’t make a value of its own normal', () => {
    const rate = part('8867-4', 'Heart rate', 80, { low: mmHg(60), high: mmHg(100) });
    const ecg = (value: JsonObject, ...component: JsonObject[]) =>
      judge(
        read(
          shownObservation({
            ...{ resourceType: 'Observation', status: 'final', code: code('8601-7', 'ECG impression') },
            ...{ effectiveDateTime: '2026-10-01', component, ...value },
          }),
        ),
      )?.grade;
    for (const value of [
      { valueCodeableConcept: { text: 'Atrial fibrillation' } },
      { valueString: 'Atrial fibrillation' },
      { valueBoolean: true },
      { valueQuantity: { value: 3 } },
    ])
      expect(ecg(value, rate), JSON.stringify(value)).to.equal(undefined);
    expect(ecg({}, rate)).to.equal('good');
    const fast = part('8867-4', 'Heart rate', 180, { high: mmHg(100) });
    expect(ecg({ valueString: 'Atrial fibrillation' }, fast)).to.equal('out');
  });
});
