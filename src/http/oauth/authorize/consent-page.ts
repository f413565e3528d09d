/**
 * Renders the consent page (docs/spec/interface.md, section 5; docs/consent-page.md): who is asking, for what, for which
 * record, and until when. It is a single form that works without scripts (WCAG 2.2 AA), and it loads nothing from the
 * application's server.
 */
import { type Html, html } from '#src/shared/html.ts';
import { shellPage } from '../../pages/shell.ts';
import type { Texts } from '../../pages/texts.ts';
import { FORM_TOKEN } from '../../signin/form-origin.ts';
import { nameTarget } from './answer.ts';
import { askedPart } from './asked.ts';
import { askerPart } from './asker.ts';
import { alwaysPart, daysPart, decidePart, faultsPart, itemsPart, recordPart } from './choosing.ts';
import type { ConsentView } from './view.ts';

/** Returns the page. */
export function consentPage(say: Texts, view: ConsentView): string {
  const { client, redirectUri, faults, preview } = view;
  const app = html`<bdi>${client.name}</bdi>`;
  const title = say('consent.title', { app: client.name });
  return shellPage({
    lang: say.lang,
    title: faults.length === 0 ? title : `${say('fault.heading')} – ${title}`,
    heading: say.html('consent.heading', { app }),
    here: view.here,
    ...(preview === undefined ? {} : { head: preview.head }),
    body: html`<form class="consent"${preview === undefined ? html` method="post" action="${view.root}/oauth/consent?lang=${say.lang}"` : html``}>
${faultsPart(say, faults)}
${askerPart(say, view, askedPart(say, view))}
${hiddenPart(view)}
${recordPart(say, view)}
${itemsPart(say, view)}
${alwaysPart(say, view)}
${daysPart(say, view)}
<section class="stack" aria-labelledby="decision">
<h2 id="decision">${say('consent.decide')}</h2>
<p>${say.html('consent.target', { target: html`<bdi>${nameTarget(redirectUri)}</bdi>` })}</p>
<p>${say('consent.revoke')}</p>
</section>
${decidePart(say)}
</form>`,
  });
}

/** Returns the hidden fields that the form sends in addition to the choice. */
function hiddenPart({ handle, session, preview }: ConsentView): Html {
  if (preview !== undefined) return html``;
  return html`<input type="hidden" name="request" value="${handle}">
<input type="hidden" name="${FORM_TOKEN}" value="${session.formToken}">
<button class="visually-hidden" name="decision" value="review" tabindex="-1" aria-hidden="true" formnovalidate></button>`;
}
