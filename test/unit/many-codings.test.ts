/** Resources with as many codings as a body can contain. What lists and searches read of them is limited, but is read. */
import { expect } from 'chai';
import { extract as extractInSteps, MOST_PAIRS, type SearchValues } from '#src/fhir/search/extract.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import { codedValue, listNames, MOST_CODINGS, nameList } from '#src/v1/lists.ts';
import { CATEGORIES, categorySystem } from '#src/v1/observation.ts';

/** More arguments than a function call can take. */
const MANY = 150_000;

const codings = (count: number, prefix: string): JsonObject[] =>
  Array.from({ length: count }, (_, n) => ({ code: `${prefix}${n}`, display: `${prefix} ${n}` }));

const extract = (type: 'Observation' | 'Patient', resource: object): SearchValues =>
  atOnce(extractInSteps(type, resource));

describe('a resource of very many codings', () => {
  it('is in the lists of the first fifty of its code, and of all categories with each', () => {
    const category = CATEGORIES.map((code) => ({ coding: [{ system: categorySystem(code), code }] }));
    const others = { coding: codings(MANY, 'other') };
    const observation = { code: { coding: codings(MANY, 'c') }, category: [others, ...category] };
    const lists = listNames('Observation', observation, false);
    expect(lists).to.have.length(1 + CATEGORIES.length + MOST_CODINGS + CATEGORIES.length * MOST_CODINGS);
    const by = (n: number) => nameList('Observation', ['code', codedValue(undefined, `c${n}`)]);
    expect(lists).to.include(by(MOST_CODINGS - 1));
    expect(lists).not.to.include(by(MOST_CODINGS));
    const condition = { clinicalStatus: { coding: codings(MANY, 'c') } };
    expect(listNames('Condition', condition, false)).to.have.length(1 + MOST_CODINGS);
  });

  it('is found by each coding, and by no more pairs of two concepts than a service can hold', () => {
    const { forms, strings } = extract('Observation', {
      resourceType: 'Observation',
      code: { coding: codings(MANY, 'c') },
      valueCodeableConcept: { coding: codings(1_000, 'v') },
    });
    const of = (code: string) => new Set(forms.filter((one) => one.code === code).map(({ value }) => value));
    expect(of('code')).to.include(`c:c${MANY - 1}`);
    expect(of('value-concept')).to.include('c:v999');
    expect(of('code-value-concept').size).to.equal(MOST_PAIRS);
    expect(of('code-value-concept')).to.include('c:c0 $ c:v0');
    expect(strings.filter(({ code }) => code === 'code:text')).to.have.length(MANY);
  });

  it('is read where codings type an identifier, and where a timing has as many moments', () => {
    const identifier = [{ value: 'x', type: { coding: codings(MANY, 'c') } }];
    const { forms } = extract('Patient', { resourceType: 'Patient', identifier });
    expect(forms.some(({ value }) => value === `o:|c${MANY - 1}|x`)).to.equal(true);
    const event = Array.from({ length: MANY }, (_, n) => String(1000 + (n % 1000)));
    const timed = { resourceType: 'Observation', effectiveTiming: { event } };
    const [period] = extract('Observation', timed).periods;
    expect(period?.value.from).to.be.lessThan(period?.value.to ?? 0);
  });
});
