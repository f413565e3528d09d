/** Shows a record: only elements and texts, so that nothing in the data can become markup or a script. */
import { groupRows } from './groups.js';
import { ORDER, REQUIRED } from './record.js';
import { inWords, joined, phraseText } from './texts.js';

/** Rows of a section that are shown before the rest is asked for; of those with a flag, all. */
const FIRST = 8;
/** Sections of which nothing that holds now is folded: a missing entry could harm. */
const WHOLE = ['allergies', 'medications', 'problems'];

/** Media types that browsers show without running anything; others are only saved. */
const SAFE = ['application/pdf', 'image/png', 'image/jpeg', 'image/gif', 'image/webp', 'text/plain'];

/** Makes an element. @param options `class`, `text`, `dir` and attributes */
export function element(tag, options = {}, ...children) {
  const { text, ...attributes } = options;
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/**
 * Returns the elements that show a record.
 * @param say texts of the page, and days in its language
 * @param isOwn whether this service shares it, which can then say where it comes from
 */
export function recordView(record, say, isOwn) {
  const { patient, sections, hidden } = record;
  const shown = ORDER.filter(
    (kind) =>
      sections.get(kind).length > 0 ||
      hidden.has(kind) ||
      (kind === 'allergies' && record.refuted.length > 0) ||
      // Only this service's own collections are certain to be a whole record.
      ((record.isSummary || (record.isRecord && isOwn)) && REQUIRED.includes(kind)),
  );
  return [
    patientView(patient, { ...record, isOwn }, say),
    ...changedView(record, say),
    shown.length > 3 ? contents(shown, sections, say) : undefined,
    ...shown.map((kind) => sectionView(kind, sections.get(kind), record, say)),
  ].filter((each) => each !== undefined);
}

/**
 * Returns how many entries aren't shown because an AI changed them, and their earlier versions as far as the link has
 * them.
 */
function changedView({ changed, before }, say) {
  if (changed === 0) return [];
  const note = [
    say('shl.changed', { n: say.number(changed) }),
    before.length < changed ? say('shl.askbefore') : '',
  ];
  const isWhole = ({ kind }) => kind === 'patient' || WHOLE.includes(kind);
  const [whole, others] = [before.filter(isWhole), before.filter((each) => !isWhole(each))];
  const open = [...whole, ...others.slice(0, FIRST)];
  const rest = others.slice(FIRST);
  const renderRows = (some) =>
    element('ul', { class: 'rows before' }, ...some.map((each) => beforeView(each, say)));
  return [
    element('p', { class: 'note warn', text: note.filter((text) => text !== '').join(' ') }),
    open.length === 0 ? undefined : renderRows(open),
    rest.length === 0 ? undefined : moreView(rest.length, renderRows(rest), say),
  ];
}

/** Returns an entry before an AI changed it, each part isolated from the direction of the text around it. */
function beforeView(row, say) {
  if (row.text !== undefined) return element('li', { lang: 'en', dir: 'ltr', text: row.text });
  const { parts = [], value, flag } = row;
  const texts = [
    row.name || say('shl.untitled'),
    ...parts.map((part) => joined([part.name, part.value], ': ')),
    value,
    flag === '' ? '' : flagText(row, say),
    ...row.details,
    row.date === '' ? '' : whenText(row, [row], say),
    ...row.says.map((each) => phraseText(each, say)),
  ]
    .map((text) => inWords(text, say))
    .filter((text) => text !== '');
  const [lead, end] = say('known.before', { text: PLACE }).split(PLACE);
  const shown = texts.flatMap((text, at) => [
    at === 0 ? '' : `${say('shl.comma')} `,
    element('bdi', { text }),
  ]);
  return element('li', {}, lead, ...shown, end);
}

/** A character that no text has. */
const PLACE = '\ue002';

function patientView(patient, { made, isOwn }, say) {
  const facts = [
    patient.birthDate === ''
      ? undefined
      : [say('shl.born'), `${say.day(patient.birthDate)}${ageText(patient, say)}`],
    patient.gender === '' ? undefined : [say('shl.gender'), patient.gender],
    patient.identifiers.length === 0 ? undefined : [say('shl.identifiers'), patient.identifiers.join(' · ')],
    patient.phone === '' ? undefined : [say('shl.phone'), patient.phone],
    patient.address === '' ? undefined : [say('shl.address'), inWords(patient.address, say)],
    made === '' ? undefined : [say('shl.made'), say.moment(made)],
  ].filter((fact) => fact !== undefined);
  const name = element(
    'h1',
    { tabindex: '-1' },
    element('bdi', { text: patient.name || say('shl.unnamed') }),
  );
  return element(
    'section',
    { class: 'patient', 'aria-label': say('shl.patient') },
    name,
    patient.died === undefined
      ? ''
      : element('p', {
          class: 'note',
          text:
            patient.died.date === undefined
              ? say('record.dead')
              : say('record.died', { day: say.day(patient.died.date) }),
        }),
    element(
      'dl',
      { class: 'facts' },
      ...facts.map(([term, text]) =>
        element('div', {}, element('dt', { text: term }), element('dd', {}, element('bdi', { text }))),
      ),
    ),
    isOwn ? element('p', { class: 'quiet small', text: say('shl.source') }) : '',
  );
}

/** Returns the age: only with a whole birth date is it known. */
function ageText({ birthDate, died }, say) {
  if (!/^\d{4}-\d\d-\d\d$/.test(birthDate)) return '';
  const [year, month, day] = birthDate.split('-').map(Number);
  const now = new Date();
  const before = now.getMonth() + 1 < month || (now.getMonth() + 1 === month && now.getDate() < day);
  const age = now.getFullYear() - year - (before ? 1 : 0);
  return died !== undefined || age < 0 ? '' : ` (${say('shl.years', { n: age })})`;
}

function contents(kinds, sections, say) {
  const entry = (kind) =>
    element(
      'li',
      {},
      element(
        'a',
        { href: `#section-${kind}`, 'data-section': kind },
        element('span', { text: say(`shl.section.${kind}`) }),
        element('span', { class: 'count', text: say.number(groupRows(sections.get(kind)).length) }),
      ),
    );
  return element(
    'nav',
    { class: 'contents', 'aria-label': say('shl.contents') },
    element('ul', {}, ...kinds.map(entry)),
  );
}

function sectionView(kind, rows, record, say) {
  const hidden = record.hidden.get(kind) ?? 0;
  const id = `section-${kind}`;
  const heading = element('h2', { id, tabindex: '-1', text: say(`shl.section.${kind}`) });
  const groups = groupRows(rows);
  const withheld =
    hidden === 0
      ? undefined
      : element('p', { class: 'note warn', text: say('shl.hidden', { n: say.number(hidden) }) });
  const past = pastText(kind, record, say);
  const refuted = kind === 'allergies' ? refutedView(record.refuted, say) : undefined;
  if (groups.length === 0)
    return element(
      'section',
      { class: 'part', 'aria-labelledby': id },
      heading,
      withheld ??
        (record.onlyPast.has(kind) || past !== undefined
          ? element('p', {
              class: 'quiet',
              text: past === undefined ? say('known.nonenow') : say('known.nonenowpast', { past }),
            })
          : element('p', { class: 'note warn', text: say(`shl.none.${kind}`) })),
      refuted,
    );
  const [over, current] = [groups.filter(isOver), groups.filter((group) => !isOver(group))];
  return element(
    'section',
    { class: 'part', 'aria-labelledby': id },
    heading,
    withheld,
    ...renderLists(current, say, WHOLE.includes(kind) ? current.length : Math.max(FIRST, flaggedIn(current))),
    over.length === 0 ? undefined : element('h3', { class: 'over', text: overText(kind, over, say) }),
    ...renderLists(over, say, FIRST),
    past === undefined
      ? undefined
      : element('p', { class: 'quiet small', text: say('shl.notlisted', { past }) }),
    refuted,
  );
}

/** Returns the entries that somebody refuted, each with since when and with what it said before. */
function refutedView(rows, say) {
  if (rows.length === 0) return undefined;
  return element(
    'ul',
    { class: 'refuted quiet small' },
    ...rows.map(({ name, state, since, by, before }) => {
      const day = since === undefined ? '' : `${by}${phraseText(since, say)}`;
      const was = before === undefined ? '' : ` (${phraseText(before, say)})`;
      return element(
        'li',
        {},
        element('bdi', { text: `${name || say('shl.untitled')}: ${state}${day}${was}` }),
      );
    }),
  );
}

/** The names of past entries by the kind of their section. */
const PAST = { allergies: 'allergies', medications: 'medicines', plan: 'plans', social: 'habits' };

/** Returns in words how many past entries a summary has left out of a section. */
function pastText(kind, { notListed, sections }, say) {
  // Past problems have their own section.
  const n = kind === 'problems' ? sections.get('past').length : notListed.get(kind);
  const name = kind === 'problems' ? 'problems' : PAST[kind];
  const isListed = kind === 'problems' && sections.get('problems').length > 0;
  return n === undefined || n === 0 || name === undefined || isListed
    ? undefined
    : say(`past.${name}`, { n });
}

/** Stopped medicines must not be among those that are taken, nor past allergies among the others. */
const isOver = ({ latest }) => ['medications', 'allergies'].includes(latest.kind) && latest.isOver;

/** Returns the heading above past entries; only for medicines it says that they aren't taken. */
function overText(kind, over, say) {
  return kind === 'medications' ? say('shl.over') : say(`past.${PAST[kind]}`, { n: over.length });
}

/** Returns how many groups come first because they are flagged: up to the last of these. */
const flaggedIn = (groups) => groups.findLastIndex(({ flags }) => flags.length > 0) + 1;

/** Returns the list of some groups. @param open how many of them aren't folded */
function renderLists(groups, say, open) {
  if (groups.length === 0) return [];
  const [first, rest] = [groups.slice(0, open), groups.slice(open)];
  const renderRows = (some) =>
    element('ul', { class: 'rows' }, ...some.map((group) => groupView(group, say)));
  return [renderRows(first), rest.length === 0 ? undefined : moreView(rest.length, renderRows(rest), say)];
}

/** Returns a folded list. @param n how many it has */
function moreView(n, list, say) {
  return element(
    'details',
    { class: 'more' },
    element('summary', { text: say('shl.more', { n: say.number(n) }) }),
    list,
  );
}

/** Returns the day of a row, with the time if others of its group are of the same day. */
function whenText({ date, means }, group, say) {
  const isAmongOthers = group.filter((other) => other.date.slice(0, 10) === date.slice(0, 10)).length > 1;
  const time = isAmongOthers ? say.time(date) : '';
  const day = time === '' ? say.day(date) : `${say.day(date)}${say('shl.comma')} ${time}`;
  return means === '' ? day : say(`known.${means}`, { day });
}

function groupView(group, say) {
  const { rows, flags, earlier } = group;
  const before =
    earlier.length === 0
      ? undefined
      : element(
          'details',
          { class: 'earlier' },
          element('summary', { text: say('shl.earlier', { n: say.number(earlier.length) }) }),
          element(
            'ul',
            { class: 'values' },
            ...earlier.map((row) => element('li', {}, ...valueView(row, rows, say))),
          ),
        );
  return element(
    'li',
    {
      class:
        flags.length === 0
          ? 'row'
          : flags.some((flag) => flag.startsWith('critical'))
            ? 'row flagged critical'
            : 'row flagged',
    },
    ...rowView(group, say),
    before,
  );
}

function rowView({ latest: row, failed, beside, rows }, say) {
  const name = inWords(row.name, say) || say('shl.untitled');
  const title = element(
    'div',
    { class: 'title' },
    element('span', { class: 'name', dir: 'auto', text: name }),
  );
  if (row.key === undefined && row.flag !== '') title.append(badge(row, say));
  for (const mark of row.marks ?? [])
    title.append(element('span', { class: 'badge warn', text: phraseText(mark, say) }));
  const details = row.details.map((text) => inWords(text, say)).filter((text) => text !== '');
  const said = row.says
    .map((each) => phraseText(each, say))
    .filter((text) => text !== '')
    .join(' · ');
  return [
    title,
    row.key === undefined
      ? undefined
      : element(
          'div',
          { class: 'measured' },
          ...valueView(row, rows, say),
          besideView(beside, say),
          failedView(failed, rows, say),
        ),
    ...details.map((text) => element('p', { class: 'detail' }, element('bdi', { text }))),
    ...(row.changes ?? []).map((change) =>
      element('p', { class: 'detail changed' }, element('bdi', { text: phraseText(change, say) })),
    ),
    row.key === undefined && row.date !== ''
      ? element('p', { class: 'quiet small', text: whenText(row, rows, say) })
      : undefined,
    said === '' ? undefined : element('p', { class: 'quiet small', text: said }),
    ...row.files.map((file) => fileView(file, name, say)),
  ];
}

function valueView(row, group, say) {
  return [
    row.parts?.length > 0
      ? partsView(row.parts, say)
      : row.value === ''
        ? element('span', { class: 'value quiet', text: say('shl.novalue') })
        : element('span', { class: 'value', dir: textDirection(row.value), text: inWords(row.value, say) }),
    row.flag === '' ? undefined : badge(row, say),
    row.range === ''
      ? undefined
      : element(
          'span',
          { class: 'quiet small range' },
          `${say('shl.range')} `,
          element('bdi', { dir: textDirection(row.range), text: row.range }),
        ),
    row.date === ''
      ? undefined
      : element('span', { class: 'quiet small when', text: whenText(row, group, say) }),
  ];
}

/** Returns the other values of the same moment: nothing says which of them is right. */
function besideView(beside, say) {
  if (beside.length === 0) return undefined;
  const values = beside.map(({ value, parts = [] }) =>
    parts.length === 0
      ? inWords(value, say)
      : parts.map((part) => `${inWords(part.name, say)}: ${inWords(part.value, say)}`).join(', '),
  );
  return element(
    'span',
    { class: 'badge warn' },
    element('bdi', { text: say('known.beside', { values: values.join(', ') }) }),
  );
}

/** Returns the day of a later measurement without a result, the note that it has none, and the reason that it gives. */
function failedView(failed, group, say) {
  if (failed === undefined) return undefined;
  const said = [say('shl.novalue'), ...failed.details.map((text) => inWords(text, say))];
  const text = said.filter((each) => each !== '').join(`${say('shl.comma')} `);
  const when = failed.date === '' ? [] : [whenText(failed, group, say), ': '];
  return element(
    'span',
    { class: 'failed' },
    element('span', { class: 'quiet small' }, '(', ...when, element('bdi', { text }), ')'),
    failed.flag === '' ? '' : badge(failed, say),
  );
}

/** Returns the values of an observation's parts, each apart from the direction of the text around it. */
function partsView(parts, say) {
  const shown = parts.flatMap(({ name, value }, at) => [
    at === 0 ? '' : `${say('shl.comma')} `,
    element('bdi', { text: inWords(name, say) }),
    name === '' ? '' : ': ',
    element('bdi', { dir: textDirection(value), text: inWords(value, say) }),
  ]);
  return element('span', { class: 'value parts' }, ...shown);
}

/** Numbers read from the left in every language: `4 – 6` must not become `6 – 4`. */
function textDirection(text) {
  return /^[\s<>≤≥=~+-]*\d/.test(text) ? 'ltr' : 'auto';
}

const flagText = ({ flagged, flaggedKey }, say) => (flaggedKey === undefined ? flagged : say(flaggedKey));

function badge(row, say) {
  return element('span', {
    class: row.flag.startsWith('critical') ? 'badge fault' : 'badge warn',
    text: flagText(row, say),
  });
}

/** Returns a button that saves a file; its bytes never become a page of this origin. */
function fileView({ contentType, data, title }, name, say) {
  if (data === '') return element('p', { class: 'quiet small', text: say('shl.nofile') });
  const type = SAFE.includes(contentType) ? contentType : 'application/octet-stream';
  const button = element('button', {
    type: 'button',
    class: 'button second',
    text: say('shl.save', { file: title || name }),
  });
  button.addEventListener('click', () => {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    const href = URL.createObjectURL(new Blob([bytes], { type }));
    element('a', {
      href,
      download: `${(title || name).replace(/[^\p{L}\p{N} ._-]/gu, '_').slice(0, 80)}${fileEnding(type)}`,
    }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  });
  return element('p', {}, button);
}

const ENDINGS = {
  'application/pdf': '.pdf',
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'text/plain': '.txt',
};

function fileEnding(type) {
  return ENDINGS[type] ?? '';
}
