import { expect } from 'chai';
import { isAiLabelled, labelled, withAiLabel, withoutAiLabel } from '#src/shared/access/ai-label.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json/json.ts';

const LABEL =
  '{"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationValue","code":"AIAST","display":"Artificial Intelligence asserted"}';
const HEAD =
  '{"resourceType":"Observation","id":"0190","meta":{"versionId":"3","lastUpdated":"2026-01-01T00:00:00Z"';

const parsed = (text: string): JsonObject => {
  const { value } = parseJson(text);
  if (!isObject(value)) throw new TypeError(text);
  return value;
};

describe("HL7's label of what an AI wrote", () => {
  it('is added to the text, and all other characters stay', () => {
    const rest = '},"valueQuantity":{"value":1.50},"note":[{"text":"\\u0001 \\"meta\\":{"}]}';
    expect(withAiLabel(HEAD + rest)).to.equal(`${HEAD},"security":[${LABEL}]${rest}`);
    expect(withAiLabel(`${HEAD},"tag":[{"code":"x"}]}}`)).to.equal(
      `${HEAD},"security":[${LABEL}],"tag":[{"code":"x"}]}}`,
    );
  });

  it('follows labels that are there, also those of contained resources', () => {
    const security = `${HEAD},"security":[{"code":"R"}]},"valueQuantity":{"value":1.50}}`;
    expect(withAiLabel(security)).to.equal(security.replace('{"code":"R"}', `{"code":"R"},${LABEL}`));
    const contained = `${HEAD}},"contained":[{"resourceType":"Patient","meta":{"security":[{"code":"R"}]}}]}`;
    expect(withAiLabel(contained)).to.equal(
      contained
        .replace('"}}', '"}')
        .replace('},"contained"', `,"security":[${LABEL}]},"contained"`)
        .replace('"R"}]}]}', '"R"}]}}]}'),
    );
  });

  it('is there once', () => {
    const own = `${HEAD},"security":[{"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationValue","code":"AIAST"}]}}`;
    expect(withAiLabel(own)).to.equal(own);
    expect(withAiLabel(withAiLabel(`${HEAD}}}`))).to.equal(withAiLabel(`${HEAD}}}`));
    expect(labelled(parsed(own))).to.deep.equal(parsed(own));
  });

  it('is taken away with what it leaves empty, and nothing else', () => {
    for (const text of [`${HEAD}}}`, `${HEAD},"security":[{"code":"R"}]}}`, '{"resourceType":"Patient"}'])
      expect(withoutAiLabel(labelled(parsed(text)))).to.deep.equal(parsed(text));
    expect(withoutAiLabel(parsed(withAiLabel(`${HEAD}}}`)))).to.deep.equal(parsed(`${HEAD}}}`));
  });

  it('is another than that of other systems and codes', () => {
    for (const label of [
      '{"code":"AIAST"}',
      '{"system":"urn:x","code":"AIAST"}',
      '"AIAST"',
      LABEL.replace('AIAST', 'DICTAST'),
    ])
      expect(isAiLabelled(parsed(`${HEAD},"security":[${label}]}}`)), label).to.equal(false);
    expect(isAiLabelled(parsed(`${HEAD},"security":[${LABEL}]}}`))).to.equal(true);
  });
});
