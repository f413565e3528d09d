/** Handles $lookup, which returns the properties of a code. https://hl7.org/fhir/R4/codesystem-operation-lookup.html */
import type { CodeFacts } from '#src/terminology/codes.ts';
import type { Operation } from '../operation.ts';
import {
  answerParameters,
  badInput,
  type Output,
  ofTerminology,
  readCodes,
  readTextInput,
  stringOutput,
} from './terminology-inputs.ts';

/** Returns 200 with the code's properties; 404 for an unknown system or code. */
export const lookup: Operation = {
  name: 'lookup',
  definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-lookup',
  types: ['CodeSystem'],
  methods: ['GET', 'POST'],
  grantToken: ofTerminology('$lookup'),
  parameters: ['code', 'system', 'version', 'coding', 'date', 'displayLanguage', 'property'],
  async run(request) {
    const [coded] = readCodes(request, readTextInput(request, 'system'));
    if (coded?.system === undefined)
      throw badInput('system', 'provide system, the URL of the code system', 'required');
    const { system, facts } = await request.service.terminology.lookup(coded);
    const wanted = new Set(request.query.getAll('property').flatMap((each) => each.split(',')));
    const properties = listProperties(facts).filter(({ code }) => wanted.size === 0 || wanted.has(code));
    return answerParameters([
      { name: 'name', valueString: system.name },
      stringOutput('version', system.version),
      { name: 'display', valueString: facts.display ?? facts.code },
      ...properties.map(
        ({ code, value }): Output => ({ name: 'property', part: [{ name: 'code', valueCode: code }, value] }),
      ),
    ]);
  },
};

function listProperties(facts: CodeFacts): { code: string; value: Output }[] {
  const text = (code: string, value: string) => ({ code, value: { name: 'value', valueString: value } });
  const link = (code: string) => (value: string) => ({ code, value: { name: 'value', valueCode: value } });
  return [
    ...facts.parents.map(link('parent')),
    ...facts.children.map(link('child')),
    ...(facts.category === null ? [] : [link('category')(facts.category)]),
    ...(facts.unit === null ? [] : [text('unit', facts.unit)]),
    { code: 'inactive', value: { name: 'value', valueBoolean: !facts.active } },
    ...(facts.selectable ? [] : [{ code: 'notSelectable', value: { name: 'value', valueBoolean: true } }]),
    ...Object.entries(facts.properties ?? {}).flatMap(([code, said]) =>
      (typeof said === 'string' ? [said] : said).map((value) => text(code, value)),
    ),
  ];
}
