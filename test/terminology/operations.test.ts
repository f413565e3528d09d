/** $lookup, $expand, $validate-code, $translate and $subsumes with the bundled terminology. */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';
const ACT = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';
const GENDER = 'http://hl7.org/fhir/ValueSet/administrative-gender';
const LOINC = 'http://loinc.org';
const ATC = 'http://www.whocc.no/atc';

interface Parameter {
  readonly name: string;
  readonly part?: readonly Parameter[];
  readonly [value: string]: unknown;
}
interface Contained {
  readonly system: string;
  readonly code: string;
  readonly display?: string;
  readonly abstract?: boolean;
}
interface Expanded {
  readonly resourceType: string;
  readonly url?: string;
  readonly compose?: object;
  readonly expansion: {
    readonly total: number;
    readonly offset?: number;
    readonly contains?: readonly Contained[];
  };
}

describe('terminology operations', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const ask = async <T>(path: string, status = 200): Promise<T> => {
    const answer = await service.fhir(path);
    expect(answer.status, `${path}: ${answer}`).to.equal(status);
    return JSON.parse(answer.text);
  };
  const tell = async <T>(path: string, body: object, status = 200): Promise<T> => {
    const answer = await service.fhir(path, { method: 'POST', body: JSON.stringify(body) });
    expect(answer.status, `${path}: ${answer}`).to.equal(status);
    return JSON.parse(answer.text);
  };
  const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });
  const valueIn = ({ parameter }: { parameter: readonly Parameter[] }, name: string): unknown => {
    const found = parameter.find((each) => each.name === name);
    return Object.entries(found ?? {}).find(([key]) => key.startsWith('value'))?.[1];
  };
  type Parameters = { parameter: readonly Parameter[] };
  const codes = ({ expansion }: Expanded) => (expansion.contains ?? []).map(({ code }) => code);

  describe('$lookup', () => {
    const propertyOf = (answer: Parameters, code: string): unknown[] =>
      answer.parameter
        .filter(({ name, part }) => name === 'property' && part?.[0]?.valueCode === code)
        .map(({ part }) => part?.[1]?.valueCode ?? part?.[1]?.valueString ?? part?.[1]?.valueBoolean);

    it('tells name, display, category and unit of a LOINC code', async () => {
      const answer = await ask<Parameters>(`/CodeSystem/$lookup?system=${LOINC}&code=4548-4`);
      expect(valueIn(answer, 'display')).to.equal('Hemoglobin A1c/Hemoglobin.total in Blood');
      expect(propertyOf(answer, 'category')).to.deep.equal(['laboratory']);
      expect(propertyOf(answer, 'unit')).to.deep.equal(['%']);
    });

    it('tells the group that an ATC code is in, and what is in a group', async () => {
      const leaf = await ask<Parameters>(`/CodeSystem/$lookup?system=${ATC}&code=A10BA02`);
      expect(valueIn(leaf, 'display')).to.equal('metformin');
      expect(propertyOf(leaf, 'parent')).to.deep.equal(['A10BA']);
      const group = await ask<Parameters>(`/CodeSystem/$lookup?system=${ATC}&code=A10BA&property=child`);
      expect(propertyOf(group, 'child')).to.deep.equal(['A10BA02']);
      expect(propertyOf(group, 'parent')).to.deep.equal([]);
    });

    it('takes a coding by POST', async () => {
      const answer = await tell<Parameters>(
        '/CodeSystem/$lookup',
        parameters({ name: 'coding', valueCoding: { system: CATEGORY, code: 'vital-signs' } }),
      );
      expect(valueIn(answer, 'display')).to.equal('Vital Signs');
    });

    for (const [query, status, says] of [
      [`system=${LOINC}&code=1-1`, 404, 'only a part of that code system'],
      [`system=${CATEGORY}&code=nonsense`, 404, 'nonsense'],
      ['system=http://snomed.info/sct&code=73211009', 404, 'annal terminology load'],
      ['system=http://hl7.org/fhir/sid/cvx&code=08', 404, 'can load LOINC, ATC, ICD-10 and SNOMED CT'],
      [`system=${LOINC}`, 400, 'code'],
      ['code=4548-4', 400, 'system'],
      [`system=${LOINC}&code=4548-4&version=0.1`, 404, 'not in version 0.1'],
      [`system=${CATEGORY}&code=exam&version=0.1`, 404, 'not in version 0.1'],
      [`system=${CATEGORY}|0.1&code=exam`, 404, 'not in version 0.1'],
      [
        'system=http://unitsofmeasure.org&code=mg/dL&version=0.1',
        404,
        'without a version, not in version 0.1',
      ],
      ['system=http://unitsofmeasure.org&code=ug.m/s2', 404, 'only a part of that code system'],
      [`system=${LOINC}&code=4548-4&foo=1`, 400, 'foo'],
    ] as const) {
      it(`answers ${status} to ${query}`, async () => {
        const { issue } = await ask<{ issue: { diagnostics: string }[] }>(
          `/CodeSystem/$lookup?${query}`,
          status,
        );
        expect(issue[0]?.diagnostics).to.contain(says);
      });
    }
  });

  describe('$expand', () => {
    it('lists a value set in the order of its code system', async () => {
      const set = await ask<Expanded>(`/ValueSet/$expand?url=${GENDER}`);
      expect(set).to.deep.include({ resourceType: 'ValueSet', url: GENDER });
      expect(set.compose).to.equal(undefined);
      expect(set.expansion.total).to.equal(4);
      expect(codes(set)).to.deep.equal(['male', 'female', 'other', 'unknown']);
      expect(set.expansion.contains?.[0]).to.deep.equal({
        system: 'http://hl7.org/fhir/administrative-gender',
        version: '4.0.1',
        code: 'male',
        display: 'Male',
      });
    });

    it('does the same for its id', async () => {
      const { entry } = await ask<{ entry: { resource: { id: string } }[] }>(`/ValueSet?url=${GENDER}`);
      const set = await ask<Expanded>(`/ValueSet/${entry[0]?.resource.id}/$expand?includeDefinition=true`);
      expect(set.expansion.total).to.equal(4);
      expect(set.compose).to.be.an('object');
    });

    it('filters by words and pages by count and offset', async () => {
      const all = await ask<Expanded>(`/ValueSet/$expand?url=${LOINC}/vs&filter=glucose serum`);
      expect(all.expansion.total).to.equal(codes(all).length).and.to.be.greaterThan(0);
      for (const { display } of all.expansion.contains ?? [])
        expect(display)
          .to.match(/glucose/i)
          .and.to.match(/serum/i);
      const first = await ask<Expanded>(`/ValueSet/$expand?url=${LOINC}/vs&count=100`);
      const second = await ask<Expanded>(`/ValueSet/$expand?url=${LOINC}/vs&count=100&offset=100`);
      expect(codes(first)).to.have.length(100);
      expect(second.expansion).to.include({ offset: 100, total: first.expansion.total });
      expect(codes(second).filter((code) => codes(first).includes(code))).to.deep.equal([]);
      const none = await ask<Expanded>(`/ValueSet/$expand?url=${LOINC}/vs&count=0`);
      expect(none.expansion.total).to.equal(first.expansion.total);
      expect(none.expansion.contains).to.equal(undefined);
    });

    it('takes letters with a meaning in patterns as they are', async () => {
      expect(
        (await ask<Expanded>(`/ValueSet/$expand?url=${LOINC}/vs&filter=%25_%25`)).expansion.total,
      ).to.equal(0);
    });

    const defined = (compose: object) =>
      parameters({ name: 'valueSet', resource: { resourceType: 'ValueSet', status: 'active', compose } });
    const is = (op: string, value: string, property = 'concept') => ({
      system: ATC,
      filter: [{ property, op, value }],
    });
    for (const [what, compose, expected] of [
      ['is-a', { include: [is('is-a', 'A10BA')] }, ['A10BA', 'A10BA02']],
      ['descendent-of', { include: [is('descendent-of', 'A10BA')] }, ['A10BA02']],
      ['generalizes', { include: [is('generalizes', 'A10BA02')] }, ['A', 'A10', 'A10B', 'A10BA', 'A10BA02']],
      ['=', { include: [is('=', 'A10BA', 'parent')] }, ['A10BA02']],
      ['in', { include: [is('in', 'A10BA02, A10BA', 'code')] }, ['A10BA', 'A10BA02']],
      [
        'regex',
        { include: [is('regex', 'A10B[AB].+', 'code')] },
        ['A10BA02', 'A10BB01', 'A10BB09', 'A10BB12'],
      ],
      ['exclude', { include: [is('is-a', 'A10B')], exclude: [is('descendent-of', 'A10B')] }, ['A10B']],
      [
        'is-not-a together with is-a',
        {
          include: [
            {
              system: ATC,
              filter: [
                { property: 'concept', op: 'is-a', value: 'A10BA' },
                { property: 'concept', op: 'is-not-a', value: 'A10BA02' },
              ],
            },
          ],
        },
        ['A10BA'],
      ],
      [
        'a list, also of a code system that is not here',
        {
          include: [
            {
              system: 'http://snomed.info/sct',
              concept: [{ code: '73211009', display: 'Diabetes' }, { code: '1' }],
            },
          ],
        },
        ['73211009', '1'],
      ],
      [
        'a list of a code system that is here whole: its codes only',
        { include: [{ system: CATEGORY, concept: [{ code: 'nonsense', display: 'X' }, { code: 'exam' }] }] },
        ['exam'],
      ],
      [
        'a list of another version of such a code system',
        { include: [{ system: CATEGORY, version: '99', concept: [{ code: 'nonsense' }, { code: 'exam' }] }] },
        ['nonsense', 'exam'],
      ],
      [
        'a list of a code system of which a part is here',
        { include: [{ system: LOINC, concept: [{ code: '0-0' }] }] },
        ['0-0'],
      ],
      ['another value set', { include: [{ valueSet: [GENDER] }] }, ['male', 'female', 'other', 'unknown']],
      [
        'what is in a system and in a value set',
        {
          include: [
            {
              system: 'http://hl7.org/fhir/administrative-gender',
              concept: [{ code: 'male' }, { code: 'none' }],
              valueSet: [GENDER],
            },
          ],
        },
        ['male'],
      ],
      [
        'what is in two parts, once',
        { include: [is('=', 'A10BA', 'code'), is('is-a', 'A10BA')] },
        ['A10BA', 'A10BA02'],
      ],
      [
        'a property of ours',
        { include: [{ system: LOINC, filter: [{ property: 'unit', op: '=', value: 'kg/m2' }] }] },
        ['39156-5'],
      ],
    ] as const) {
      it(`understands ${what}`, async () => {
        const set = await tell<Expanded>('/ValueSet/$expand', defined(compose));
        expect(codes(set)).to.deep.equal(expected);
        expect(set.expansion.total).to.equal(expected.length);
      });
    }

    it('leaves out of a given expansion what a code system that is here whole does not have', async () => {
      const contains = ['nonsense', 'exam'].map((code) => ({ system: CATEGORY, code }));
      const resource = {
        resourceType: 'ValueSet',
        status: 'active',
        expansion: { timestamp: '2020', contains },
      };
      const set = await tell<Expanded>('/ValueSet/$expand', parameters({ name: 'valueSet', resource }));
      expect(codes(set)).to.deep.equal(['exam']);
    });

    it('marks what only groups others, and leaves it in', async () => {
      const set = await tell<Expanded>(
        '/ValueSet/$expand',
        defined({
          include: [
            { system: ACT, filter: [{ property: 'concept', op: 'is-a', value: '_ActEncounterCode' }] },
          ],
        }),
      );
      expect(codes(set)).to.include.members(['_ActEncounterCode', 'AMB', 'EMER', 'IMP', 'ACUTE']);
      expect(set.expansion.contains?.find(({ code }) => code === '_ActEncounterCode')?.abstract).to.equal(
        true,
      );
      expect(set.expansion.contains?.find(({ code }) => code === 'AMB')?.abstract).to.equal(undefined);
    });

    for (const [what, body, status, says] of [
      ['a filter that is not known', defined({ include: [is('child-of', 'A')] }), 422, 'child-of'],
      ['a bad regular expression', defined({ include: [is('regex', '(', 'code')] }), 422, 'regex'],
      [
        'a regular expression without an end',
        defined({
          include: [
            {
              system: LOINC,
              filter: [
                { property: 'display', op: 'regex', value: `${'(.+)'.repeat(9)}\\1\\2\\3\\4\\5\\6\\7\\8\\9` },
              ],
            },
          ],
        }),
        422,
        'longer than 2 s',
      ],
      [
        'a definition of another form',
        defined({ include: [{ system: 1 }] }),
        422,
        'ValueSet.compose.include[0].system must be a string',
      ],
      [
        'a definition with a concept without a code',
        defined({ include: [{ system: LOINC, concept: [{ display: 'x' }] }] }),
        422,
        'ValueSet.compose.include[0].concept[0].code is missing',
      ],
      [
        'a definition that includes nothing',
        defined({ include: [] }),
        422,
        'ValueSet.compose.include must have at least 1 item',
      ],
      [
        'a code system that is not here',
        defined({ include: [{ system: 'http://example.org/x' }] }),
        404,
        'http://example.org/x',
      ],
      [
        'a value set that is not here',
        parameters({ name: 'url', valueUri: 'http://example.org/vs' }),
        404,
        'http://example.org/vs',
      ],
      [
        'a bad count',
        parameters({ name: 'url', valueUri: GENDER }, { name: 'count', valueInteger: -1 }),
        400,
        'count',
      ],
      ['nothing', parameters(), 400, '"Parameters.parameter"'],
      [
        'a url that is a boolean',
        parameters({ name: 'url', valueBoolean: true }),
        400,
        'Parameters.parameter[0].value.ofType(boolean)',
      ],
      [
        'a count in words',
        parameters({ name: 'url', valueUri: 'http://example.org/vs' }, { name: 'count', valueString: 'a' }),
        400,
        'Parameters.parameter[1].value.ofType(string)',
      ],
      [
        'a value set by its url',
        parameters({ name: 'valueSet', valueUri: GENDER }),
        400,
        'Parameters.parameter[0].value.ofType(uri)',
      ],
    ] as const) {
      it(`answers ${status} to ${what}`, async () => {
        const { issue } = await tell<{ issue: { diagnostics: string }[] }>('/ValueSet/$expand', body, status);
        expect(JSON.stringify(issue)).to.contain(says);
      });
    }
  });

  describe('$validate-code', () => {
    for (const [query, result, display] of [
      [`CodeSystem/$validate-code?url=${CATEGORY}&code=survey`, true, 'Survey'],
      [`CodeSystem/$validate-code?url=${CATEGORY}&code=survey&display=SURVEY`, true, 'Survey'],
      [`CodeSystem/$validate-code?url=${CATEGORY}&code=survey&display=Other`, false, 'Survey'],
      [`CodeSystem/$validate-code?url=${CATEGORY}&code=nonsense`, false, undefined],
      ['CodeSystem/$validate-code?url=http://unitsofmeasure.org&code=mg/dL', true, undefined],
      ['CodeSystem/$validate-code?url=http://unitsofmeasure.org&code=ug.m/s2', true, undefined],
      ['CodeSystem/$validate-code?url=http://unitsofmeasure.org&code=furlongs', false, undefined],
      [`CodeSystem/$validate-code?url=${ACT}&code=_ActEncounterCode&abstract=false`, false, undefined],
      [
        `ValueSet/$validate-code?url=${GENDER}&system=http://hl7.org/fhir/administrative-gender&code=male`,
        true,
        'Male',
      ],
      [`ValueSet/$validate-code?url=${GENDER}&system=http://example.org&code=male`, false, undefined],
      [`ValueSet/$validate-code?url=${GENDER}&code=male&inferSystem=true`, true, 'Male'],
      [
        `ValueSet/$validate-code?url=http://terminology.hl7.org/ValueSet/v3-ActEncounterCode&system=${ACT}&code=AMB`,
        true,
        'ambulatory',
      ],
      [
        `ValueSet/$validate-code?url=http://terminology.hl7.org/ValueSet/v3-ActEncounterCode&system=${ACT}&code=CASH`,
        false,
        undefined,
      ],
    ] as const) {
      it(`says ${result} to ${query}`, async () => {
        const answer = await ask<Parameters>(`/${query}`);
        expect(valueIn(answer, 'result')).to.equal(result);
        if (display !== undefined) expect(valueIn(answer, 'display')).to.equal(display);
        expect(valueIn(answer, 'message') === undefined).to.equal(result);
      });
    }

    it('says false to a code that a value set lists and its code system, here whole, does not have', async () => {
      const concept = [{ code: 'nonsense' }, { code: 'exam' }];
      const resource = {
        resourceType: 'ValueSet',
        status: 'active',
        compose: { include: [{ system: CATEGORY, concept }] },
      };
      for (const [code, result] of [
        ['nonsense', false],
        ['exam', true],
      ] as const) {
        const coding = { system: CATEGORY, code };
        const given = parameters({ name: 'valueSet', resource }, { name: 'coding', valueCoding: coding });
        const answer = await tell<Parameters>('/ValueSet/$validate-code', given);
        expect(valueIn(answer, 'result'), code).to.equal(result);
        if (!result) expect(valueIn(answer, 'message')).to.contain(`in ${CATEGORY}`);
        const inferred = parameters(
          { name: 'valueSet', resource },
          { name: 'code', valueCode: code },
          { name: 'inferSystem', valueBoolean: true },
        );
        expect(valueIn(await tell<Parameters>('/ValueSet/$validate-code', inferred), 'result')).to.equal(
          result,
        );
      }
    });

    it('takes a concept one of whose codings is valid', async () => {
      const codeableConcept = {
        coding: [
          { system: CATEGORY, code: 'x' },
          { system: CATEGORY, code: 'exam' },
        ],
      };
      const answer = await tell<Parameters>(
        '/ValueSet/$validate-code',
        parameters(
          { name: 'url', valueUri: 'http://hl7.org/fhir/ValueSet/observation-category' },
          { name: 'codeableConcept', valueCodeableConcept: codeableConcept },
        ),
      );
      expect(valueIn(answer, 'result')).to.equal(true);
    });

    for (const [query, status] of [
      ['CodeSystem/$validate-code?url=http://example.org/x&code=a', 404],
      [`ValueSet/$validate-code?url=http://example.org/x&system=${CATEGORY}&code=a`, 404],
      [`ValueSet/$validate-code?url=${GENDER}&code=male`, 400],
      ['CodeSystem/$validate-code?code=male', 400],
      [`CodeSystem/$validate-code?url=${CATEGORY}&code=exam&abstract=maybe`, 400],
    ] as const) {
      it(`answers ${status} to ${query}`, () => ask(`/${query}`, status));
    }
  });

  describe('$subsumes', () => {
    for (const [a, b, outcome] of [
      ['A10', 'A10BA02', 'subsumes'],
      ['A10BA02', 'A', 'subsumed-by'],
      ['A10', 'A10', 'equivalent'],
      ['A10', 'B01', 'not-subsumed'],
    ] as const) {
      it(`says that ${a} and ${b} are ${outcome}`, async () => {
        const answer = await ask<Parameters>(`/CodeSystem/$subsumes?system=${ATC}&codeA=${a}&codeB=${b}`);
        expect(valueIn(answer, 'outcome')).to.equal(outcome);
      });
    }

    it('takes codings, of one system only, and codes that are here only', async () => {
      const coding = (name: string, system: string, code: string) => ({
        name,
        valueCoding: { system, code },
      });
      const answer = await tell<Parameters>(
        '/CodeSystem/$subsumes',
        parameters(coding('codingA', ATC, 'A'), coding('codingB', ATC, 'A10')),
      );
      expect(valueIn(answer, 'outcome')).to.equal('subsumes');
      await tell(
        '/CodeSystem/$subsumes',
        parameters(coding('codingA', ATC, 'A'), coding('codingB', LOINC, '4548-4')),
        400,
      );
      await ask(`/CodeSystem/$subsumes?system=${ATC}&codeA=A10&codeB=Z99`, 404);
    });
  });

  describe('$translate', () => {
    const AG = 'http://hl7.org/fhir/administrative-gender';
    const V3 = 'http://terminology.hl7.org/CodeSystem/v3-AdministrativeGender';
    const matches = ({ parameter }: Parameters) =>
      parameter
        .filter(({ name }) => name === 'match')
        .map(({ part = [] }) => [
          part.find(({ name }) => name === 'equivalence')?.valueCode,
          (part.find(({ name }) => name === 'concept')?.valueCoding as { code: string } | undefined)?.code,
        ]);

    it('translates by a map, by what it leads to, and backwards', async () => {
      const map = 'http://hl7.org/fhir/ConceptMap/cm-administrative-gender-v3';
      const answer = await ask<Parameters>(`/ConceptMap/$translate?url=${map}&system=${AG}&code=other`);
      expect(valueIn(answer, 'result')).to.equal(true);
      expect(matches(answer)).to.deep.equal([['wider', 'UN']]);
      const by = await ask<Parameters>(`/ConceptMap/$translate?system=${AG}&code=female&targetsystem=${V3}`);
      expect(matches(by)).to.deep.equal([['equal', 'F']]);
      const back = await ask<Parameters>(
        `/ConceptMap/$translate?url=${map}&system=${V3}&code=UN&reverse=true`,
      );
      expect(matches(back)).to.deep.equal([['narrower', 'other']]);
    });

    it('says false for what no map translates, and 404 for a map that is not here', async () => {
      const answer = await ask<Parameters>(`/ConceptMap/$translate?system=${AG}&code=nonsense`);
      expect(valueIn(answer, 'result')).to.equal(false);
      await ask(`/ConceptMap/$translate?url=http://example.org/map&system=${AG}&code=male`, 404);
      await ask('/ConceptMap/$translate?code=male', 400);
    });
  });

  it('declares its operations', async () => {
    const { rest } = await ask<{ rest: { resource: { type: string; operation?: { name: string }[] }[] }[] }>(
      '/metadata',
    );
    const of = (type: string) =>
      rest[0]?.resource.find((each) => each.type === type)?.operation?.map(({ name }) => name);
    expect(of('CodeSystem')).to.include.members(['lookup', 'subsumes', 'validate-code']);
    expect(of('ValueSet')).to.include.members(['expand', 'validate-code']);
    expect(of('ConceptMap')).to.include.members(['translate']);
  });
});
