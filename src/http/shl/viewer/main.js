/** The page that opens a SMART Health Link: asks who opens it and for the passcode, then shows what the link has. */
import { dayInWords } from '../../../clinical/reading/day-words.ts';
import { fillWording } from '../../../clinical/reading/wording.ts';
import { decodeBase64url, inflated, LinkFault, openLink, parseLink } from './link.js';
import { parseFile, readRecord } from './record.js';
import { element, recordView } from './show.js';

const root = document.querySelector('#viewer');
const texts = JSON.parse(root.dataset.texts);
const { lang } = document.documentElement;
/** Where this tab keeps the origins that the reader chose: no other site can write there. */
const CHOSEN = 'shl.chosen';
let kept = keptOrigins();

const say = Object.assign(
  (key, values = {}) => fillWording(texts[key] ?? key, values, lang, (value) => say.number(value)).join(''),
  {
    number: (number) => new Intl.NumberFormat(lang).format(number),
    day: (date) => dayInWords(lang, date),
    /** Returns the time as written, so that it belongs to the written day; an empty text if there is none. */
    time(text) {
      const [, time = '', zone = ''] = /T(\d\d:\d\d)(?::[\d.]+)?(Z?)/.exec(text) ?? [];
      return zone === 'Z' ? `${time} UTC` : time;
    },
    moment(text) {
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

/** Replaces the page's content, and moves the focus to it. */
function show(...children) {
  root.replaceChildren(...children);
  root.querySelector('h1')?.focus();
}

const paragraph = (text, className) =>
  element('p', { text, ...(className === undefined ? {} : { class: className }) });
const heading = (text) => element('h1', { tabindex: '-1' }, element('bdi', { text }));

/** Says why a link can't be opened, and takes another one. */
function explain(key) {
  show(heading(say('shl.cannot')), element('p', { role: 'alert', text: say(key) }), linkForm());
}

/** Returns the form for the address of a link. */
function linkForm() {
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

function keptOrigins() {
  try {
    return JSON.parse(sessionStorage.getItem(CHOSEN) ?? '[]');
  } catch {
    return []; // The browser allows no storage: the reader is asked again.
  }
}

function keep(origins) {
  kept = origins;
  try {
    sessionStorage.setItem(CHOSEN, JSON.stringify(origins));
  } catch {}
}

/** Returns the origins that the reader chose in this tab and that the page's policy names. */
function chosen() {
  return new URLSearchParams(location.search).getAll('from').filter((origin) => kept.includes(origin));
}

/** Returns the origins that the page may ask: its own, and those that the reader chose. */
const allowed = () => [location.origin, ...chosen()];

/**
 * Returns the link that continues with another server. The page's policy follows its `from`, which any link can have:
 * only the click is the reader's choice.
 */
function elsewhere(origin) {
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

function start() {
  let link;
  try {
    link = parseLink(decodeURIComponent(location.hash.slice(1)));
  } catch (fault) {
    if (location.hash === '')
      return show(heading(say('shl.title')), paragraph(say('shl.nolink')), linkForm());
    return explain(fault instanceof LinkFault ? fault.reason : 'shl.invalid');
  }
  if (link.expires !== undefined && link.expires < Date.now()) return explain('shl.gone');
  if (!allowed().includes(link.origin)) {
    const { host } = new URL(link.origin);
    return show(
      heading(say('shl.elsewheretitle', { host })),
      paragraph(say('shl.elsewhere', { host })),
      element('p', { class: 'actions' }, elsewhere(link.origin)),
    );
  }
  ask(link);
}

function ask(link) {
  const field = (id, label, attributes, hint) =>
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
    const [recipient, passcode] = ['recipient', 'passcode'].map((name) =>
      form.elements.namedItem(name)?.value.trim(),
    );
    const missing = recipient === '' ? 'recipient' : passcode === '' ? 'passcode' : undefined;
    for (const name of ['recipient', 'passcode'])
      form.elements.namedItem(name)?.setAttribute('aria-invalid', String(name === missing));
    if (missing !== undefined) {
      fault.replaceChildren(element('p', { role: 'alert', text: say(`shl.missing.${missing}`) }));
      form.elements.namedItem(missing).focus();
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

/** Says why a link could not be opened: beside the form while another try may help. */
function tell(error, fault, form) {
  if (!(error instanceof LinkFault)) return explain('shl.damaged');
  const { reason, left, origin } = error;
  if (reason === 'shl.elsewhere') {
    const { host } = new URL(origin);
    return show(
      heading(say('shl.elsewheretitle', { host })),
      paragraph(say('shl.elsewhere', { host })),
      element('p', { class: 'actions' }, elsewhere(origin)),
    );
  }
  if (reason === 'shl.gone' || left === 0) return explain(left === 0 ? 'shl.closed' : reason);
  const text =
    reason === 'shl.wrong'
      ? say(left === undefined ? 'shl.wrong' : 'shl.wrongleft', { n: left })
      : say(reason);
  fault.replaceChildren(element('p', { role: 'alert', text }));
  if (reason === 'shl.wrong') form.elements.namedItem('passcode')?.setAttribute('aria-invalid', 'true');
  form.elements.namedItem(reason === 'shl.wrong' ? 'passcode' : 'recipient')?.focus();
}

async function resourcesIn({ contentType = '', text }) {
  if (contentType.startsWith('application/smart-health-card')) {
    const cards = JSON.parse(text).verifiableCredential;
    return Promise.all(
      cards.map(async (card) => {
        const { vc } = JSON.parse(await inflated(decodeBase64url(card.split('.')[1])));
        return vc.credentialSubject.fhirBundle;
      }),
    );
  }
  return contentType.startsWith('application/smart-api-access') ? [] : [parseFile(text)];
}

/** Shows what the files of a link hold. */
async function showFiles(files, { origin }) {
  const resources = (await Promise.all(files.map(resourcesIn))).flat();
  if (resources.length === 0) return explain('shl.unsupported');
  const isCard = files.some(({ contentType = '' }) =>
    contentType.startsWith('application/smart-health-card'),
  );
  show(
    ...recordView(readRecord(resources, undefined, lang), say, origin === location.origin),
    isCard ? paragraph(say('shl.unverified'), 'note warn') : '',
  );
  document.title = `${root.querySelector('h1').textContent} – Annal`;
}

// The links of the contents move within the page: the fragment is the link itself.
root.addEventListener('click', (event) => {
  const target = event.target.closest('a[data-section]');
  if (target === null) return;
  event.preventDefault();
  const section = document.getElementById(`section-${target.dataset.section}`);
  section?.scrollIntoView();
  section?.focus({ preventScroll: true });
});
for (const each of document.querySelectorAll('nav a[hreflang]'))
  each.addEventListener('click', () => {
    each.href = each.href.replace(/#.*$/, '') + location.hash;
  });
addEventListener('hashchange', start);
start();
