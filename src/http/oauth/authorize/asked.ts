/**
 * Describes an application's request in a few sentences, so that a person who expands none of the groups of boxes still reads
 * all of it.
 */
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from '../../pages/texts.ts';
import { OFFLINE } from './choice.ts';
import type { Choosing } from './choosing.ts';
import { areSensitive, DAY_MS, shortName, sumUpItems } from './sentences.ts';

/** Returns the sentences about the items that the person has kept so far. */
export function askedPart(say: Texts, { client, offer, choice, now }: Omit<Choosing, 'faults'>): Html {
  const { items, scopes } = offer;
  const { kept, days } = choice;
  const allowed = items.filter(({ id }) => kept.has(id));
  const left = new Set(items.filter(({ id }) => !kept.has(id)).map((item) => shortName(say, item)));
  const sentences = [
    ...sumUpItems(say, allowed),
    ...(areSensitive(allowed) ? [say('asked.sensitive')] : []),
    ...(scopes.includes('offline_access') && kept.has(OFFLINE)
      ? [say('sentence.offline', { app: client.name })]
      : []),
    ...(days === undefined ? [] : [say('asked.until', { day: say.day(now + days * DAY_MS) })]),
  ].map(
    (sentence) => html`<li>${sentence}</li>
`,
  );
  return html`<section class="stack" aria-labelledby="asked">
<h2 id="asked">${say.html('asked.legend', { app: html`<bdi>${client.name}</bdi>` })}</h2>
<ul class="always">
${sentences}</ul>
${left.size === 0 ? html`` : html`<p class="quiet">${say('asked.left', { things: say.list([...left]) })}</p>`}
</section>`;
}
