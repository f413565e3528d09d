/** Handles $translate, which finds a code in another system. https://hl7.org/fhir/R4/conceptmap-operation-translate.html */

import type { Operation } from '../operation.ts';
import { readConceptMap } from './instance.ts';
import { parseConceptMap } from './terminology-bodies.ts';
import {
  answerParameters,
  badInput,
  type Output,
  ofTerminology,
  readBooleanInput,
  readCodes,
  readObjectInput,
  readTextInput,
  stringOutput,
} from './terminology-inputs.ts';

/** Returns 200 with the matches, even if there are none; 404 for an unknown map. */
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
    const codes = readCodes(request, readTextInput(request, 'system'));
    if (codes.some(({ system }) => system === undefined))
      throw badInput('system', 'provide system, the URL of the code system', 'required');
    const sent = readObjectInput(request, 'conceptMap');
    const map = (await readConceptMap(request)) ?? (sent === undefined ? undefined : parseConceptMap(sent));
    const url = readTextInput(request, 'url');
    const version = readTextInput(request, 'conceptMapVersion');
    const { result, matches } = await request.service.terminology.translate({
      codes,
      url: url !== undefined && version !== undefined ? `${url}|${version}` : url,
      map,
      source: readTextInput(request, 'source'),
      target: readTextInput(request, 'target'),
      targetSystem: readTextInput(request, 'targetsystem'),
      reverse: readBooleanInput(request, 'reverse') === true,
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
