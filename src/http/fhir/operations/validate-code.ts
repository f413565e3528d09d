/**
 * Handles $validate-code for code systems and value sets. https://hl7.org/fhir/R4/codesystem-operation-validate-code.html
 * https://hl7.org/fhir/R4/valueset-operation-validate-code.html
 */

import { cut } from '#src/shared/cut.ts';
import type { Coded, Validity } from '#src/terminology/codes.ts';
import type { Answer } from '../../answer/answer.ts';
import type { Operation, OperationRequest } from '../operation.ts';
import { requestedSet } from './expand.ts';
import { readCodeSystem } from './instance.ts';
import {
  answerParameters,
  badInput,
  ofTerminology,
  readBooleanInput,
  readCodes,
  readTextInput,
  stringOutput,
} from './terminology-inputs.ts';

const COMMON = [
  'url',
  'code',
  'display',
  'coding',
  'codeableConcept',
  'date',
  'abstract',
  'displayLanguage',
  'version',
];

/** Returns whether a code belongs to a code system; 404 for an unknown code system. */
export const validateCodeInSystem: Operation = {
  name: 'validate-code',
  definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-validate-code',
  types: ['CodeSystem'],
  instances: ['CodeSystem'],
  methods: ['GET', 'POST'],
  grantToken: ofTerminology('$validate-code'),
  parameters: COMMON,
  async run(request) {
    const url = (await readCodeSystem(request))?.url ?? readTextInput(request, 'url');
    const codes = readCodes(request, url, 'code system as url').map((coded) => ({
      ...coded,
      system: coded.system ?? url,
    }));
    for (const { system } of codes) {
      if (system === undefined) throw badInput('url', 'provide url, the URL of the code system', 'required');
      if (url !== undefined && codes.length === 1 && system !== url)
        throw badInput(
          'coding.system',
          `it is ${cut(system, 200)}, but url is ${cut(url, 200)}; they must be the same`,
        );
    }
    const { terminology } = request.service;
    const ofSystem = url === undefined ? codes : codes.filter(({ system }) => system === url);
    return answerAny(request, ofSystem, (coded, abstract) => terminology.validateInSystem(coded, abstract));
  },
};

/** Returns whether a code is in a value set; 404 for an unknown value set, or for an unknown code system that it uses. */
export const validateCodeInSet: Operation = {
  name: 'validate-code',
  definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-validate-code',
  types: ['ValueSet'],
  instances: ['ValueSet'],
  methods: ['GET', 'POST'],
  grantToken: ofTerminology('$validate-code'),
  parameters: [...COMMON, 'context', 'valueSet', 'valueSetVersion', 'system', 'systemVersion', 'inferSystem'],
  async run(request) {
    const infer = readBooleanInput(request, 'inferSystem') === true;
    const codes = readCodes(request, readTextInput(request, 'system'));
    if (!infer && codes.some(({ system }) => system === undefined))
      throw badInput('system', 'provide system, the URL of the code system, or inferSystem=true', 'required');
    const set = await requestedSet(request);
    const { terminology } = request.service;
    return answerAny(request, codes, (coded, abstract) => terminology.validateInSet(set, coded, abstract));
  },
};

/** Returns the response for a concept, which is valid if any of its codings is valid. */
async function answerAny(
  request: OperationRequest,
  codes: readonly Coded[],
  validate: (coded: Coded, abstract: boolean | undefined) => Promise<Validity>,
): Promise<Answer> {
  const abstract = readBooleanInput(request, 'abstract');
  const found: Validity[] = [];
  for (const coded of codes) {
    const validity = await validate(coded, abstract);
    found.push(validity);
    if (validity.result) break;
  }
  const valid = found.find(({ result }) => result);
  const told = valid ??
    found[0] ?? { result: false, message: 'none of the codings is from this code system' };
  const message = valid === undefined ? found.flatMap((each) => each.message ?? []).join('; ') : '';
  return answerParameters([
    { name: 'result', valueBoolean: told.result },
    stringOutput('message', message === '' ? told.message : message),
    stringOutput('display', told.display),
  ]);
}
