/**
 * Handles $subsumes, which returns how two codes in a system are related.
 * https://hl7.org/fhir/R4/codesystem-operation-subsumes.html
 */
import type { Operation } from '../operation.ts';
import { readCodeSystem } from './instance.ts';
import {
  answerParameters,
  badInput,
  ofTerminology,
  parseCoding,
  readObjectInput,
  readTextInput,
} from './terminology-inputs.ts';

/** Returns 200 with the relation; 404 for an unknown system or code. */
export const subsumes: Operation = {
  name: 'subsumes',
  definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-subsumes',
  types: ['CodeSystem'],
  instances: ['CodeSystem'],
  methods: ['GET', 'POST'],
  grantToken: ofTerminology('$subsumes'),
  parameters: ['codeA', 'codeB', 'system', 'version', 'codingA', 'codingB'],
  async run(request) {
    const ofInstance = await readCodeSystem(request);
    const side = (letter: 'A' | 'B') => {
      const coding = readObjectInput(request, `coding${letter}`);
      if (coding !== undefined) return parseCoding(coding, `coding${letter}`);
      const code = readTextInput(request, `code${letter}`);
      if (code === undefined)
        throw badInput(`code${letter}`, 'provide codeA and codeB, or codingA and codingB', 'required');
      return { system: ofInstance?.url ?? readTextInput(request, 'system'), code };
    };
    const [a, b] = [side('A'), side('B')];
    const { system } = a;
    if (system === undefined)
      throw badInput('system', 'provide system, the URL of the code system', 'required');
    if (b.system !== system) throw badInput('codingB.system', 'both codes must be from the same code system');
    const version = readTextInput(request, 'version');
    const outcome = await request.service.terminology.subsumes(system, a.code, b.code, version);
    return answerParameters([{ name: 'outcome', valueCode: outcome }]);
  },
};
