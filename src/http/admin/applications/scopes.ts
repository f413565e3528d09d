/**
 * Returns sentences that describe an application's scopes. The consent page uses the same sentences, which are defined only
 * there.
 */
import { z } from 'zod';
import { knownScopes, MAX_SCOPE_LENGTH, parseScopes, type Scope, scopeText } from '#src/oauth/scopes.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { route } from '../../api/route.ts';
import { scopeSentences } from '../../oauth/authorize/sentences.ts';
import { chooseLanguage, LANGUAGES, texts } from '../../pages/texts.ts';
import { applicationFor } from '../access.ts';

const shown = z.object({
  lang: z.string().describe('Language of the sentences.'),
  languages: z
    .array(
      z.object({
        lang: z.string(),
        name: z.string().describe('The language’s name in the language itself.'),
      }),
    )
    .describe('All languages that the consent page has.'),
  scopes: z.array(
    z.object({
      scope: z.string().describe('The scope in SMART v2 form.'),
      sentences: z
        .array(z.string())
        .describe('What the consent page says about it; empty if people don’t decide about it.'),
    }),
  ),
});

/** Query parameters for a language and for scopes, which may differ from the registered ones. */
export const ASKED = {
  scope: z
    .string()
    .max(MAX_SCOPE_LENGTH)
    .optional()
    .describe('Scopes separated by spaces. Default: the registered ones.'),
  lang: z.string().max(35).optional().describe('A BCP 47 tag. Default: `en`.'),
};

/**
 * Returns the scopes in the query or, if there are none, the registered scopes.
 * @throws Refusal invalid (422) for a scope that applications can't have
 */
export function readScopes(asked: string | undefined, registered: readonly string[]): readonly Scope[] {
  if (asked === undefined) return knownScopes(registered);
  const parsed = parseScopes(asked);
  if ('scopes' in parsed) return parsed.scopes;
  const { fault: diagnostics } = parsed;
  throw new Refusal('invalid', { code: 'value', diagnostics, expression: 'query.scope' });
}

/** The route that returns the sentences about scopes. */
export const SCOPE_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/applications/{application_id}/scopes',
    operationId: 'describeScopes',
    summary: 'The scopes of an application in plain sentences, as the consent page words them',
    description:
      'Describes the registered scopes, or those of `scope`, which need not be registered, for example before they are. A scope that no application can have returns 422.',
    tag: 'Applications',
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(ASKED),
    answers: { 200: { description: 'The scopes with their sentences', schema: shown } },
    async run(request) {
      const { params, query } = request;
      const row = await applicationFor(request, params.application_id, 'member');
      const say = texts(chooseLanguage(query.lang));
      const body: z.input<typeof shown> = {
        lang: say.lang,
        languages: Object.entries(LANGUAGES).map(([lang, name]) => ({ lang, name })),
        scopes: readScopes(query.scope, row.scopes).map((scope) => ({
          scope: scopeText(scope),
          sentences: scopeSentences(say, scope, row.name),
        })),
      };
      return { status: 200, body };
    },
  }),
];
