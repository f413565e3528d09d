/** Shows the judgement of a value. */
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from '../../pages/texts.ts';
import { type Judged, judge, judgementText } from '../../reading/judgement.ts';

const BADGES = { critical: 'fault', out: 'warn', good: 'good' } as const;

/** Returns the judgement as a badge; empty if there is none. */
export function judgementBadge(say: Texts, judged: Judged): Html {
  const judgement = judge(judged);
  if (judgement === undefined) return html``;
  return html`<span class="badge ${BADGES[judgement.grade]}">${judgementText(say, judged) ?? ''}</span>`;
}
