/** $translate: a code in another system. https://hl7.org/fhir/R4/conceptmap-operation-translate.html */
import { parseConceptMap } from '#src/terminology/parse-resources.ts';
import type { Operation } from '../operation.ts';
import { conceptMapOf } from './instance.ts';
import {
  answerParameters,
  badInput,
  codesOf,
  type Output,
  objectOf,
  ofTerminology,
  stringOutput,
  textOf,
  truthOf,
} from './terminology-inputs.ts';

/** Answers 200 with the matches, even if there are none; 404 for an unknown map. */
export const translate: Operation = {
  name: 'translate',
  definition: 'http://hl7.org/fhir/OperationDefinition/ConceptMap-translate',
  types: ['ConceptMap'],
  instances: ['ConceptMap'],
  methods: ['GET', 'POST'],
  grantToken: ofTerminology('$translate'),
  parameters: [
    ...['url', 'conceptMap', 'conceptMapVersion', 'code', 'system', 'version', 'source', 'coding'],
    ...['codeableConcept', 'target', 'targetsystem', 'reverse'],
  ],
  async run(request) {
    const codes = codesOf(request, textOf(request, 'system'));
    if (codes.some(({ system }) => system === undefined))
      throw badInput('system', 'provide system, the URL of the code system', 'required');
    const sent = objectOf(request, 'conceptMap');
    const map = (await conceptMapOf(request)) ?? (sent === undefined ? undefined : parseConceptMap(sent));
    const url = textOf(request, 'url');
    const version = textOf(request, 'conceptMapVersion');
    const { result, matches } = await request.service.terminology.translate({
      codes,
      url: url !== undefined && version !== undefined ? `${url}|${version}` : url,
      map,
      source: textOf(request, 'source'),
      target: textOf(request, 'target'),
      targetSystem: textOf(request, 'targetsystem'),
      reverse: truthOf(request, 'reverse') === true,
    });
    return answerParameters([
      { name: 'result', valueBoolean: result },
      result ? undefined : stringOutput('message', 'no stored concept map translates this code'),
      ...matches.map(
        ({ equivalence, concept, map: source }): Output => ({
          name: 'match',
          part: [
            { name: 'equivalence', valueCode: equivalence },
            { name: 'concept', valueCoding: concept },
            ...(source === undefined ? [] : [{ name: 'source', valueUri: source }]),
          ],
        }),
      ),
    ]);
  },
};
