import { z } from 'zod';
import type { Access } from '#src/shared/access/access.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { askJson, objectsIn, readText, textsIn } from '../ask.ts';
import { defineTool } from '../tool.ts';

/** Tells callers what they may do. */
export const whatMayIDo = defineTool({
  name: 'what_may_i_do',
  title: 'What the person allowed',
  description:
    'Describes your access in words: for which patient, what you may see and do, and until when. Call this tool when something is refused.',
  input: z.strictObject({}),
  output: z.object({
    acts_for: z.enum(['one patient', 'a project']),
    patient: z.string().nullable(),
    access: z
      .array(z.looseObject({ type: z.string(), letters: z.string() }))
      .describe(
        'What this access token allows, which can be less than the grants: c create, r read, u update, d delete, s search.',
      ),
    grants: z.array(z.looseObject({})).describe('Active grants of your application for this patient.'),
  }),
  async run(_, reach) {
    const grant = await reach.grant();
    if (grant === undefined)
      return {
        text: 'You act for a project and see all of its patients. Name the patient in each call; find_patient finds them. You can’t propose changes.',
        structured: { acts_for: 'a project', patient: null, access: [], grants: [] },
      };
    const { patient, grantId, access } = grant;
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
      text: [
        `You act for one patient, ${patient}.`,
        'This access token opens (c create, r read, u update, d delete, s search):',
        ...accessLines(access),
        'The person allowed, of which this token may have less:',
        ...lines,
      ].join('\n'),
      structured: { acts_for: 'one patient', patient, access: listAccess(access), grants: own },
    };
  },
});

/** Lists the letters that are allowed for each type. */
function listAccess({ types }: Access): JsonObject[] {
  return [...types].flatMap(([type, own]) =>
    own.map(({ letters, category }) => ({
      ...{ type, letters },
      ...(category === undefined ? {} : { category: category.code }),
    })),
  );
}

/** Returns one line for each set of letters, listing its types. */
function accessLines(access: Access): string[] {
  const byLetters = new Map<string, string[]>();
  for (const { type, letters, category } of listAccess(access)) {
    const named = category === undefined ? String(type) : `${String(type)} (category ${String(category)})`;
    byLetters.set(String(letters), [...(byLetters.get(String(letters)) ?? []), named]);
  }
  return [...byLetters].map(([letters, types]) => `- ${letters}: ${types.join(', ')}`);
}
