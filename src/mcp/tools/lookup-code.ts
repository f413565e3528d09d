import { z } from 'zod';
import { askJson, objectsIn } from '../ask.ts';
import { defineTool } from '../tool.ts';

const system = z
  .enum(['concepts', 'loinc', 'atc'])
  .default('concepts')
  .describe(
    '`concepts`: symptoms, conditions and treatments in everyday words, with their codes. `loinc`: measurements. `atc`: medicines.',
  );

/** Finds codes by words. Shows nothing from a record. */
export const lookupCode = defineTool({
  name: 'lookup_code',
  title: 'Find codes by words',
  description:
    'Finds codes for words that people use (`blood sugar`, `aspirin`), or the names of a code. Shows nothing from a record.',
  input: z.strictObject({
    text: z.string().min(1).max(80).describe('Words, the beginning of a name, or a code.'),
    system,
    limit: z.int().min(1).max(50).default(10).describe('Maximum number of codes in the answer.'),
    lang: z.string().max(40).default('en').describe('Language of concepts, a BCP 47 tag.'),
  }),
  output: z.object({ codes: z.array(z.looseObject({})) }),
  async run({ text, system, limit, lang }, reach) {
    const query = { q: text, limit };
    const { data } = await askJson(
      reach,
      system === 'concepts'
        ? { path: '/v1/search', query: { ...query, lang } }
        : { path: `/v1/terminology/${system}`, query },
    );
    const codes = objectsIn(data);
    const lines = codes.map(({ display, code, codes: own }) =>
      [
        String(display),
        code ?? objectsIn(own).map((each) => `${String(each.system)}|${String(each.code)}`),
      ].join(': '),
    );
    return { text: [`${codes.length} found.`, ...lines].join('\n'), structured: { codes } };
  },
});
