/** Renders the frame of patients' pages: who is signed in, which page this is, and what has just happened. */
import { type Html, html } from '#src/shared/html.ts';
import type { Answer } from '../answer/answer.ts';
import { answerPage } from '../answer/security-headers.ts';
import type { TextKey } from '../pages/languages/language.ts';
import { shellNeeds, shellPage } from '../pages/shell.ts';
import { navigation, type Section } from './navigation.ts';
import { bornAndDied, type OpenRecord } from './records.ts';
import { PATIENT_STYLE } from './style.ts';
import { HOME, type Visit } from './visit.ts';

/** The content of a page. */
export interface PatientPage {
  readonly title: string;
  /** Default: the title. */
  readonly heading?: Html;
  /** A sentence under the heading. */
  readonly lead?: Html;
  readonly body: Html;
  /** Default: 200. */
  readonly status?: number;
  /** The record shown on the page. */
  readonly record?: OpenRecord;
  /** The person's identifiers, shown at the top of each printed sheet. */
  readonly numbers?: readonly string[];
  /** The section of the record; undefined for a page that isn't in the navigation list. */
  readonly section?: Section;
  /** The parent page. */
  readonly back?: { readonly path: string; readonly text: string };
}

/** The outcome of a page: the page itself, another page to go to (a path below BASE_URL), or bytes to download. */
export type Outcome = PatientPage | { readonly goTo: string } | { readonly download: Answer };

/** The text about what has just happened, by the value of `done` in the redirect after a form. */
const DONE = {
  revoked: 'done.revoked',
  approved: 'done.approved',
  denied: 'done.denied',
  muted: 'done.muted',
  unmuted: 'done.unmuted',
  unlinked: 'done.unlinked',
  erased: 'done.erased',
  linkended: 'done.linkended',
  accepted: 'done.accepted',
  rejected: 'done.rejected',
} as const satisfies Readonly<Record<string, TextKey>>;

/** A value of `done`. */
export type Done = keyof typeof DONE;

function isDone(value: string | undefined): value is Done {
  return value !== undefined && Object.hasOwn(DONE, value);
}

/** Responds with a page. */
export function answerPatientPage(visit: Visit, page: PatientPage): void {
  const { ctx, say } = visit;
  const { title, heading, lead, body, status = 200, record, numbers = [], section, back } = page;
  const { name, email, subject } = visit.session.person;
  const done = visit.asked('done');
  const again = new URLSearchParams(visit.query);
  again.delete('done');
  const here =
    ctx.method === 'POST' || status >= 400
      ? undefined
      : { url: visit.to(ctx.path, Object.fromEntries(again)), acceptLanguage: ctx.get('Accept-Language') };
  const above =
    back === undefined
      ? html``
      : html`<p><a class="back" href="${visit.to(back.path)}">${say('nav.back', { page: back.text })}</a></p>
`;
  const told = isDone(done)
    ? html`<p role="status" class="done">${say(DONE[done])}</p>
`
    : html``;
  const text = shellPage({
    lang: say.lang,
    title: record === undefined ? title : `${title} – ${record.name}`,
    heading: heading ?? html`${title}`,
    here,
    body: html`${
      lead === undefined
        ? html``
        : html`<p class="lead">${lead}</p>
`
    }${told}${body}
${above}${record === undefined ? html`` : runningHead(visit, record, numbers)}`,
    around: {
      home: visit.to(HOME),
      account: html`<a href="${visit.to(`${HOME}/account`)}"><span class="visually-hidden">${say('nav.account')}: </span><bdi>${name ?? email ?? subject}</bdi></a>`,
      navigation: record === undefined ? html`` : navigation(visit, record, section),
      style: PATIENT_STYLE,
    },
  });
  answerPage(ctx, status, text, shellNeeds(["'self'"], [], PATIENT_STYLE));
  if (!visit.query.has('lang')) ctx.vary('Accept-Language');
  ctx.vary('Cookie');
}

/**
 * Returns the header of each sheet of a printed page, which says whose record it is and when it was printed. It isn't shown on
 * screens.
 */
function runningHead({ say, now }: Visit, record: OpenRecord, numbers: readonly string[]): Html {
  const details = [...bornAndDied(say, record), ...numbers];
  return html`<div class="running"><p><strong><bdi>${record.name}</bdi></strong>${details.map((detail) => html` · <bdi>${detail}</bdi>`)} · ${say('print.printed', { day: say.day(now) })}</p></div>
`;
}
