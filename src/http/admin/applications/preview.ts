/** Previews the consent page that people will see for an application. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { ApplicationRow } from '#queries/admin/projects.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { route } from '../../api/route.ts';
import { PREVIEW_HEADERS, previewPage } from '../../oauth/authorize/preview.ts';
import { chooseLanguage, texts } from '../../pages/texts.ts';
import type { AskingClient } from '../../ports/authorize.ts';
import { applicationFor, organizationFor, projectFor } from '../access.ts';
import { organizationView } from '../organizations.ts';
import { ASKED, readScopes } from './scopes.ts';

/** Returns an application as the consent page shows it. */
function toAskingClient(
  row: ApplicationRow,
  { name, confirmed_domain }: ReturnType<typeof organizationView>,
): AskingClient {
  return {
    applicationId: row.id,
    project: row.project,
    environment: row.environment,
    organization: { name, domain: confirmed_domain ?? undefined },
    kind: row.kind,
    name: row.name,
    sector: row.sector ?? row.id,
    privacyUrl: row.privacy_url ?? undefined,
    branding: { logo: row.logo_sha256 === null ? undefined : { sha256: row.logo_sha256 } },
    redirectUris: row.redirect_uris,
    scopes: row.scopes,
    grantTypes: row.grant_types,
  };
}

/** The preview route. */
export const PREVIEW_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/applications/{application_id}/consent-page',
    operationId: 'previewConsentPage',
    summary: 'The consent page of an application, as people will see it',
    description:
      'Returns the consent page’s HTML for a made-up person, with the registered scopes or those in `scope`, which need not be registered. Its form has no target, and its policy allows no scripts: show it in a frame with `sandbox`. An application that isn’t registered for `authorization_code` returns 404.',
    tag: 'Applications',
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(ASKED),
    answers: { 200: { description: 'The page, `text/html`', bytes: true } },
    async run(request) {
      const { services, params, query, now } = request;
      const row = await applicationFor(request, params.application_id, 'member');
      if (!row.grant_types.includes('authorization_code')) {
        throw new Refusal('not_found', {
          code: 'not-found',
          diagnostics: 'this application has no consent page: it is not registered for authorization_code',
        });
      }
      const refreshes = row.grant_types.includes('refresh_token');
      const scopes = readScopes(query.scope, row.scopes).filter(
        (scope) =>
          (typeof scope === 'string' || scope.context === 'patient') &&
          (refreshes || scope !== 'offline_access'),
      );
      const project = await projectFor(request, row.project, 'member');
      const organization = await organizationFor(request, project.organization, 'member');
      const logo = row.logo_sha256 === null ? undefined : await services.logos.find(row.id, row.logo_sha256);
      const page = Buffer.from(
        previewPage(texts(chooseLanguage(query.lang)), toAskingClient(row, organizationView(organization)), {
          scopes,
          logo: logo && `data:${logo.contentType};base64,${logo.content.toString('base64')}`,
          now: now() / 1_000,
        }),
      );
      return {
        status: 200,
        headers: PREVIEW_HEADERS,
        content: { length: page.byteLength, open: async () => Readable.from([page]) },
      };
    },
  }),
];
