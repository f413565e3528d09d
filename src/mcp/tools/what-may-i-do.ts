import { z } from 'zod';
import { askJson, objectsIn, readText, textsIn } from '../ask.ts';
import { defineTool } from '../tool.ts';

/** Says what the caller may do. */
export const whatMayIDo = defineTool({
  name: 'what_may_i_do',
  title: 'What the person allowed',
  description:
    'The access that you have: for which patient, what you may see and do in words, and until when. Call it when something is refused.',
  input: z.strictObject({}),
  output: z.object({
    acts_for: z.enum(['one patient', 'a project']),
    patient: z.string().nullable(),
    grants: z.array(z.looseObject({})).describe('Active grants of your application for this patient.'),
  }),
  async run(_, reach) {
    const grant = await reach.grant();
    if (grant === undefined)
      return {
        text: 'You act for a project and see all of its patients. Name the patient in each call; find_patient finds them. You can’t propose changes.',
        structured: { acts_for: 'a project', patient: null, grants: [] },
      };
    const { patient, grantId } = grant;
    const path = `/v1/patients/${encodeURIComponent(patient)}/grants`;
    const { data } = await askJson(reach, { path, query: { limit: 100 } });
    const own = objectsIn(data).filter(
      ({ id, status }) => status === 'active' && (grantId === undefined || id === grantId),
    );
    const lines = own.flatMap(({ scopes, scopes_text, expires_at, purpose }) => [
      `Until ${readText(expires_at)}:`,
      ...textsIn(scopes_text).map((each) => `- ${each}`),
      `Scopes: ${textsIn(scopes).join(' ')}`,
      ...(typeof purpose === 'string' ? [`Stated purpose: ${purpose}`] : []),
    ]);
    return {
      text: [`You act for one patient, ${patient}.`, ...lines].join('\n'),
      structured: { acts_for: 'one patient', patient, grants: own },
    };
  },
});
