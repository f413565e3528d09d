/** The page that opens a SMART Health Link: asks who opens it and for the passcode, then shows what the link has. */
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
/** Texts by their keys, in the language of the page, which is one of those that it is served in. */
const texts: Readonly<Record<string, string>> = JSON.parse(root.dataset.texts ?? '{}');
const lang = document.documentElement.lang as WordLanguage;
/** Where this tab keeps the origins that the reader chose: no other site can write there. */
const CHOSEN = 'shl.chosen';
let kept = keptOrigins();

const say: Say = Object.assign(
  (key: TextKey, values: Readonly<Record<string, unknown>> = {}) =>
    fillWording<unknown>(texts[key] ?? key, values, lang, (value) => say.number(Number(value))).join(''),
  {
    number: (number: number) => new Intl.NumberFormat(lang).format(number),
    day: (date: string) => dayInWords(lang, date),
    /** Returns the time as written, so that it belongs to the written day; an empty text if there is none. */
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

/** Returns an element of the page. @throws Error if there is none */
function find<Of extends Element>(selector: string): Of {
  const found = document.querySelector<Of>(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
}

/** Replaces the page's content, and moves the focus to it. */
function show(...children: (Node | string)[]): void {
  root.replaceChildren(...children);
  root.querySelector('h1')?.focus();
}

const paragraph = (text: string, className?: string): HTMLElement =>
  element('p', { text, ...(className === undefined ? {} : { class: className }) });
const heading = (text: string): HTMLElement => element('h1', { tabindex: '-1' }, element('bdi', { text }));

/** Says why a link can't be opened, and takes another one. */
function explain(key: TextKey): void {
  show(heading(say('shl.cannot')), element('p', { role: 'alert', text: say(key) }), linkForm());
}

/** Returns the form for the address of a link. */
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
    // The same link again: it may open now.
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

/** Returns the origins that the reader chose in this tab and that the page's policy names. */
function chosen(): string[] {
  return new URLSearchParams(location.search).getAll('from').filter((origin) => kept.includes(origin));
}

/** Returns the origins that the page may ask: its own, and those that the reader chose. */
const allowed = (): string[] => [location.origin, ...chosen()];

/**
 * Returns the link that continues with another server. The page's policy follows its `from`, which any link can have:
 * only the click is the reader's choice.
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

/** Says that another server keeps the contents, which the reader has to confirm. */
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

/** Returns a field of the form that asks who opens a link; null if it has none with the name. */
function fieldIn(form: HTMLFormElement, name: 'recipient' | 'passcode'): HTMLInputElement | null {
  return form.querySelector<HTMLInputElement>(`[name=${name}]`);
}

/** Says why a link could not be opened: beside the form while another try may help. */
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

/** @throws LinkFault if a value isn't a resource */
function readResource(value: unknown): JsonObject {
  const resource = object(value);
  if (typeof resource.resourceType !== 'string') throw new LinkFault('shl.damaged');
  return resource;
}

/** Shows what the files of a link hold. */
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

// The links of the contents move within the page: the fragment is the link itself.
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
