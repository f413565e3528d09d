/**
 * Runs the page that opens a SMART Health Link. It asks who is opening the link, and for the passcode, and then shows the
 * link's content.
 */
import { dayInWords } from '#src/clinical/reading/day-words.ts';
import type { WordLanguage } from '#src/clinical/reading/names/code-words.ts';
import { fillWording } from '#src/clinical/reading/wording.ts';
import type { JsonObject } from '#src/shared/json/json-value.ts';
import type { TextKey } from '../../pages/languages/language.ts';
import {
  decodeBase64url,
  inflated,
  type Link,
  LinkFault,
  type LinkFile,
  openLink,
  parseLink,
} from './link.ts';
import { parseFile, readRecord } from './record.ts';
import type { Say } from './rows.ts';
import { element, recordView } from './show.ts';
import { list, object, string } from './texts.ts';

const root = find<HTMLElement>('#viewer');
/** Texts by key, in the page's language, which is one of the languages in which the page is served. */
const texts: Readonly<Record<string, string>> = JSON.parse(root.dataset.texts ?? '{}');
const lang = document.documentElement.lang as WordLanguage;
/** The key under which this tab stores the origins that the reader has chosen. Other sites can't write to this storage. */
const CHOSEN = 'shl.chosen';
let kept = keptOrigins();

const say: Say = Object.assign(
  (key: TextKey, values: Readonly<Record<string, unknown>> = {}) =>
    fillWording<unknown>(texts[key] ?? key, values, lang, (value) => say.number(Number(value))).join(''),
  {
    number: (number: number) => new Intl.NumberFormat(lang).format(number),
    day: (date: string) => dayInWords(lang, date),
    /** Returns the time as written in the data, so that it matches the written day; an empty string if there is none. */
    time(text: string) {
      const [, time = '', zone = ''] = /T(\d\d:\d\d)(?::[\d.]+)?(Z?)/.exec(text) ?? [];
      return zone === 'Z' ? `${time} UTC` : time;
    },
    moment(text: string) {
      if (!/T\d\d:\d\d/.test(text)) return dayInWords(lang, text);
      const at = new Date(text);
      return Number.isNaN(at.getTime())
        ? text
        : new Intl.DateTimeFormat(lang === 'en' ? 'en-GB' : lang, {
            dateStyle: 'medium',
            timeStyle: 'short',
          }).format(at);
    },
  },
);

/**
 * Returns an element on the page.
 * @throws Error if it doesn't exist
 */
function find<Of extends Element>(selector: string): Of {
  const found = document.querySelector<Of>(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
}

/** Replaces the page's content, and moves the focus to the new content. */
function show(...children: (Node | string)[]): void {
  root.replaceChildren(...children);
  root.querySelector('h1')?.focus();
}

const paragraph = (text: string, className?: string): HTMLElement =>
  element('p', { text, ...(className === undefined ? {} : { class: className }) });
const heading = (text: string): HTMLElement => element('h1', { tabindex: '-1' }, element('bdi', { text }));

/** Says why a link can't be opened, and lets the reader enter a different link. */
function explain(key: TextKey): void {
  show(heading(say('shl.cannot')), element('p', { role: 'alert', text: say(key) }), linkForm());
}

/** Returns the form for entering a link's address. */
function linkForm(): HTMLElement {
  const input = element('input', { id: 'link', required: '', autocomplete: 'off', dir: 'ltr' });
  const form = element(
    'form',
    { class: 'stack' },
    element('div', { class: 'field' }, element('label', { for: 'link', text: say('shl.another') }), input),
    element('p', { class: 'actions' }, element('button', { class: 'button', text: say('shl.open') })),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const given = input.value.trim();
    const fragment = `#${given.slice(given.indexOf('#') + 1)}`;
    // If the reader enters the same link again, try again, because it may open this time.
    if (fragment === location.hash) start();
    else location.hash = fragment;
  });
  return form;
}

function keptOrigins(): readonly string[] {
  try {
    return list(JSON.parse(sessionStorage.getItem(CHOSEN) ?? '[]')).map(string);
  } catch {
    return []; // The browser allows no storage: the reader is asked again.
  }
}

function keep(origins: readonly string[]): void {
  kept = origins;
  try {
    sessionStorage.setItem(CHOSEN, JSON.stringify(origins));
  } catch {}
}

/** Returns the origins that the reader has chosen in this tab and that are also in the page's policy. */
function chosen(): string[] {
  return new URLSearchParams(location.search).getAll('from').filter((origin) => kept.includes(origin));
}

/** Returns the origins that the page may contact: its own, and the origins that the reader has chosen. */
const allowed = (): string[] => [location.origin, ...chosen()];

/**
 * Returns the HTML link with which the reader continues to another server. The page's policy depends on the `from` parameter,
 * which any link can contain, so only the click counts as the reader's choice.
 */
function elsewhere(origin: string): HTMLElement {
  const origins = [...new Set([...chosen(), origin])];
  const query = new URLSearchParams(location.search);
  query.delete('from');
  for (const each of origins) query.append('from', each);
  const link = element('a', { class: 'button', href: `?${query}${location.hash}`, text: say('shl.goon') });
  link.addEventListener('click', (event) => {
    keep(origins);
    if (link.href !== location.href) return;
    event.preventDefault(); // This page's policy names the origin already.
    start();
  });
  return link;
}

function start(): void {
  let link: Link;
  try {
    link = parseLink(decodeURIComponent(location.hash.slice(1)));
  } catch (fault) {
    if (location.hash === '') show(heading(say('shl.title')), paragraph(say('shl.nolink')), linkForm());
    else explain(fault instanceof LinkFault ? fault.reason : 'shl.invalid');
    return;
  }
  if (link.expires !== undefined && link.expires < Date.now()) explain('shl.gone');
  else if (allowed().includes(link.origin)) ask(link);
  else showElsewhere(link.origin);
}

/** Says that another server hosts the content, and asks the reader to confirm it. */
function showElsewhere(origin: string): void {
  const { host } = new URL(origin);
  show(
    heading(say('shl.elsewheretitle', { host })),
    paragraph(say('shl.elsewhere', { host })),
    element('p', { class: 'actions' }, elsewhere(origin)),
  );
}

function ask(link: Link): void {
  const field = (
    id: string,
    label: string,
    attributes: Readonly<Record<string, string>>,
    hint: string,
  ): HTMLElement =>
    element(
      'div',
      { class: 'field' },
      element('label', { for: id, text: label }),
      element('p', { class: 'quiet small', id: `${id}-hint`, text: hint }),
      element('input', { id, name: id, required: '', 'aria-describedby': `${id}-hint`, ...attributes }),
    );
  const fault = element('div', { 'aria-live': 'assertive' });
  const button = element('button', { class: 'button', text: say('shl.open') });
  const form = element(
    'form',
    { class: 'stack' },
    fault,
    field(
      'recipient',
      say('shl.recipient'),
      { autocomplete: 'name', maxlength: '200' },
      say('shl.recipienthint'),
    ),
    link.flag.includes('P')
      ? field(
          'passcode',
          say('shl.passcode'),
          { autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', maxlength: '200' },
          say('shl.passcodehint'),
        )
      : undefined,
    element('p', { class: 'actions' }, button),
  );
  form.noValidate = true;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const recipient = fieldIn(form, 'recipient')?.value.trim() ?? '';
    const passcode = fieldIn(form, 'passcode')?.value.trim();
    const missing = recipient === '' ? 'recipient' : passcode === '' ? 'passcode' : undefined;
    for (const name of ['recipient', 'passcode'] as const)
      fieldIn(form, name)?.setAttribute('aria-invalid', String(name === missing));
    if (missing !== undefined) {
      fault.replaceChildren(element('p', { role: 'alert', text: say(`shl.missing.${missing}`) }));
      fieldIn(form, missing)?.focus();
      return;
    }
    button.disabled = true;
    button.textContent = say('shl.opening');
    fault.replaceChildren();
    try {
      await showFiles(await openLink(link, { recipient, passcode, allowed: allowed() }), link);
    } catch (error) {
      tell(error, fault, form);
    } finally {
      button.disabled = false;
      button.textContent = say('shl.open');
    }
  });
  show(
    heading(link.label || say('shl.title')),
    paragraph(say('shl.intro')),
    link.expires === undefined
      ? ''
      : paragraph(say('shl.until', { day: say.moment(new Date(link.expires).toISOString()) }), 'quiet small'),
    form,
  );
}

/** Returns a field of the form that asks who is opening a link; null if the form has no field with that name. */
function fieldIn(form: HTMLFormElement, name: 'recipient' | 'passcode'): HTMLInputElement | null {
  return form.querySelector<HTMLInputElement>(`[name=${name}]`);
}

/** Says why a link could not be opened; shown next to the form if another attempt may help. */
function tell(error: unknown, fault: HTMLElement, form: HTMLFormElement): void {
  if (!(error instanceof LinkFault)) explain('shl.damaged');
  else if (error.origin !== undefined) showElsewhere(error.origin);
  else if (error.left === 0) explain('shl.closed');
  else if (error.reason === 'shl.gone') explain(error.reason);
  else {
    const { reason, left } = error;
    const isWrong = reason === 'shl.wrong';
    const text = isWrong && left !== undefined ? say('shl.wrongleft', { n: left }) : say(reason);
    fault.replaceChildren(element('p', { role: 'alert', text }));
    if (isWrong) fieldIn(form, 'passcode')?.setAttribute('aria-invalid', 'true');
    fieldIn(form, isWrong ? 'passcode' : 'recipient')?.focus();
  }
}

async function resourcesIn({ contentType = '', text }: LinkFile): Promise<JsonObject[]> {
  if (contentType.startsWith('application/smart-health-card')) {
    const cards = list(object(JSON.parse(text)).verifiableCredential);
    return Promise.all(
      cards.map(async (card) => {
        const [, payload = ''] = String(card).split('.');
        const { vc } = object(JSON.parse(await inflated(decodeBase64url(payload))));
        return readResource(object(object(vc).credentialSubject).fhirBundle);
      }),
    );
  }
  return contentType.startsWith('application/smart-api-access') ? [] : [readResource(parseFile(text))];
}

/**
 * Returns a value as a resource.
 * @throws LinkFault if it isn't one
 */
function readResource(value: unknown): JsonObject {
  const resource = object(value);
  if (typeof resource.resourceType !== 'string') throw new LinkFault('shl.damaged');
  return resource;
}

/** Shows the content of a link's files. */
async function showFiles(files: readonly LinkFile[], { origin }: Link): Promise<void> {
  const resources = (await Promise.all(files.map(resourcesIn))).flat();
  if (resources.length === 0) {
    explain('shl.unsupported');
    return;
  }
  const isCard = files.some(({ contentType = '' }) =>
    contentType.startsWith('application/smart-health-card'),
  );
  show(
    ...recordView(readRecord(resources, undefined, lang), say, origin === location.origin),
    isCard ? paragraph(say('shl.unverified'), 'note warn') : '',
  );
  document.title = `${find('#viewer h1').textContent} – Annal`;
}

// The links in the table of contents scroll within the page instead of changing the URL, because its fragment is the SMART
// Health Link itself.
root.addEventListener('click', (event) => {
  const target =
    event.target instanceof Element ? event.target.closest<HTMLElement>('a[data-section]') : null;
  if (target === null) return;
  event.preventDefault();
  const section = document.getElementById(`section-${target.dataset.section}`);
  section?.scrollIntoView();
  section?.focus({ preventScroll: true });
});
for (const each of document.querySelectorAll<HTMLAnchorElement>('nav a[hreflang]'))
  each.addEventListener('click', () => {
    each.href = each.href.replace(/#.*$/, '') + location.hash;
  });
addEventListener('hashchange', start);
start();
