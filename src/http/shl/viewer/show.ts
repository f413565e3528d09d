/** Shows a record using only elements and text, so that nothing in the data can become markup or a script. */
import { type Group, groupRows } from './groups.ts';
import {
  isAmong,
  type Kind,
  ORDER,
  type Part,
  REQUIRED,
  type RefutedRow,
  type Row,
  type Say,
  type ShownFile,
  type ShownPatient,
  type ShownRecord,
  type ToldBefore,
} from './rows.ts';
import { inWords, joined, phraseText } from './texts.ts';

/** Number of rows that a section shows at first. Flagged rows are always shown. */
const FIRST = 8;
/** Sections in which nothing current is collapsed, because overlooking an entry could do harm. */
const WHOLE = ['allergies', 'medications', 'problems'] as const;

/** Media types that browsers show without running anything. Files of other types can only be saved. */
const SAFE: readonly string[] = [
  'application/pdf',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'text/plain',
];

/** An element's attributes, and its text. */
type Options = Readonly<Record<string, string | undefined>>;

type Child = Node | string | undefined;

/**
 * Creates an element.
 * @param options `text` and attributes
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  options: Options = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
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
 * @param say returns the page's texts, and formats days in its language
 * @param isOwn whether this service shares the record; if so, the page says where the record comes from
 */
export function recordView(record: ShownRecord, say: Say, isOwn: boolean): HTMLElement[] {
  const { patient, hidden } = record;
  const shown = ORDER.filter(
    (kind) =>
      listRows(record, kind).length > 0 ||
      hidden.has(kind) ||
      (kind === 'allergies' && record.refuted.length > 0) ||
      // Only a collection from this service is certain to be a whole record.
      ((record.isSummary || (record.isRecord && isOwn)) && isAmong(REQUIRED, kind)),
  );
  return [
    patientView(patient, { ...record, isOwn }, say),
    ...changedView(record, say),
    shown.length > 3 ? contents(shown, record, say) : undefined,
    ...shown.map((kind) => sectionView(kind, record, say)),
  ].filter((each) => each !== undefined);
}

/** Returns the rows of a section. */
function listRows({ sections }: ShownRecord, kind: Kind): readonly Row[] {
  return sections.get(kind) ?? [];
}

/** Returns how many entries aren't shown because an AI changed them, and their earlier versions if the link contains them. */
function changedView({ changed, before }: ShownRecord, say: Say): (HTMLElement | undefined)[] {
  if (changed === 0) return [];
  const note = [
    say('shl.changed', { n: say.number(changed) }),
    before.length < changed ? say('shl.askbefore') : '',
  ];
  const isWhole = ({ kind }: Row | ToldBefore): boolean => kind === 'patient' || isAmong(WHOLE, kind);
  const [whole, others] = [before.filter(isWhole), before.filter((each) => !isWhole(each))];
  const open = [...whole, ...others.slice(0, FIRST)];
  const rest = others.slice(FIRST);
  const renderRows = (some: readonly (Row | ToldBefore)[]): HTMLElement =>
    element('ul', { class: 'rows before' }, ...some.map((each) => beforeView(each, say)));
  return [
    element('p', { class: 'note warn', text: note.filter((text) => text !== '').join(' ') }),
    open.length === 0 ? undefined : renderRows(open),
    rest.length === 0 ? undefined : moreView(rest.length, renderRows(rest), say),
  ];
}

/** Returns an entry as it was before an AI changed it. Each part is isolated from the text direction around it. */
function beforeView(row: Row | ToldBefore, say: Say): HTMLElement {
  if ('text' in row) return element('li', { lang: 'en', dir: 'ltr', text: row.text });
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
  const [lead = '', end = ''] = say('known.before', { text: PLACE }).split(PLACE);
  const shown = texts.flatMap((text, at) => [
    at === 0 ? '' : `${say('shl.comma')} `,
    element('bdi', { text }),
  ]);
  return element('li', {}, lead, ...shown, end);
}

/** A placeholder character that occurs in no text. */
const PLACE = '\ue002';

function patientView(
  patient: ShownPatient,
  { made, isOwn }: { readonly made: string; readonly isOwn: boolean },
  say: Say,
): HTMLElement {
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
      ...facts.map(([term = '', text = '']) =>
        element('div', {}, element('dt', { text: term }), element('dd', {}, element('bdi', { text }))),
      ),
    ),
    isOwn ? element('p', { class: 'quiet small', text: say('shl.source') }) : '',
  );
}

/** Returns the age, which is known only if the birth date is complete. */
function ageText({ birthDate, died }: ShownPatient, say: Say): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(birthDate)) return '';
  const [year = 0, month = 0, day = 0] = birthDate.split('-').map(Number);
  const now = new Date();
  const before = now.getMonth() + 1 < month || (now.getMonth() + 1 === month && now.getDate() < day);
  const age = now.getFullYear() - year - (before ? 1 : 0);
  return died !== undefined || age < 0 ? '' : ` (${say('shl.years', { n: age })})`;
}

function contents(kinds: readonly Kind[], record: ShownRecord, say: Say): HTMLElement {
  const entry = (kind: Kind): HTMLElement =>
    element(
      'li',
      {},
      element(
        'a',
        { href: `#section-${kind}`, 'data-section': kind },
        element('span', { text: say(`shl.section.${kind}`) }),
        element('span', { class: 'count', text: say.number(groupRows(listRows(record, kind)).length) }),
      ),
    );
  return element(
    'nav',
    { class: 'contents', 'aria-label': say('shl.contents') },
    element('ul', {}, ...kinds.map(entry)),
  );
}

function sectionView(kind: Kind, record: ShownRecord, say: Say): HTMLElement {
  const hidden = record.hidden.get(kind) ?? 0;
  const id = `section-${kind}`;
  const heading = element('h2', { id, tabindex: '-1', text: say(`shl.section.${kind}`) });
  const groups = groupRows(listRows(record, kind));
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
          : isAmong(REQUIRED, kind)
            ? element('p', { class: 'note warn', text: say(`shl.none.${kind}`) })
            : undefined),
      refuted,
    );
  const [over, current] = [groups.filter(isOver), groups.filter((group) => !isOver(group))];
  return element(
    'section',
    { class: 'part', 'aria-labelledby': id },
    heading,
    withheld,
    ...renderLists(current, say, isAmong(WHOLE, kind) ? current.length : Math.max(FIRST, flaggedIn(current))),
    over.length === 0 ? undefined : element('h3', { class: 'over', text: overText(kind, over, say) }),
    ...renderLists(over, say, FIRST),
    past === undefined
      ? undefined
      : element('p', { class: 'quiet small', text: say('shl.notlisted', { past }) }),
    refuted,
  );
}

/** Returns the entries that somebody refuted, each with the date of the refutation and its earlier text. */
function refutedView(rows: readonly RefutedRow[], say: Say): HTMLElement | undefined {
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

/** Names for past entries, by kind of section. */
const PAST: Readonly<Partial<Record<Kind, 'allergies' | 'medicines' | 'plans' | 'habits'>>> = {
  allergies: 'allergies',
  medications: 'medicines',
  plan: 'plans',
  social: 'habits',
};

/** Returns, in words, how many past entries a summary has left out of a section. */
function pastText(kind: Kind, record: ShownRecord, say: Say): string | undefined {
  // Past problems have their own section.
  const n = kind === 'problems' ? listRows(record, 'past').length : record.notListed.get(kind);
  const name = kind === 'problems' ? 'problems' : PAST[kind];
  const isListed = kind === 'problems' && listRows(record, 'problems').length > 0;
  return n === undefined || n === 0 || name === undefined || isListed
    ? undefined
    : say(`past.${name}`, { n });
}

/** Stopped medicines must not be listed among current medicines, nor past allergies among current ones. */
const isOver = ({ latest }: Group): boolean =>
  (latest.kind === 'medications' || latest.kind === 'allergies') && latest.isOver;

/** Returns the heading above past entries. For medicines, it says that they are no longer taken. */
function overText(kind: Kind, over: readonly Group[], say: Say): string {
  const name = PAST[kind];
  return kind === 'medications' || name === undefined
    ? say('shl.over')
    : say(`past.${name}`, { n: over.length });
}

/** Returns how many groups must be shown first so that every flagged group is among them. */
const flaggedIn = (groups: readonly Group[]): number =>
  groups.findLastIndex(({ flags }) => flags.length > 0) + 1;

/**
 * Returns the given groups as lists.
 * @param open the number of groups that aren't collapsed
 */
function renderLists(groups: readonly Group[], say: Say, open: number): (HTMLElement | undefined)[] {
  if (groups.length === 0) return [];
  const [first, rest] = [groups.slice(0, open), groups.slice(open)];
  const renderRows = (some: readonly Group[]): HTMLElement =>
    element('ul', { class: 'rows' }, ...some.map((group) => groupView(group, say)));
  return [renderRows(first), rest.length === 0 ? undefined : moreView(rest.length, renderRows(rest), say)];
}

/**
 * Returns a collapsed list.
 * @param n number of items in it
 */
function moreView(n: number, list: HTMLElement, say: Say): HTMLElement {
  return element(
    'details',
    { class: 'more' },
    element('summary', { text: say('shl.more', { n: say.number(n) }) }),
    list,
  );
}

/** Returns a row's day, with the time if another row in the group has the same day. */
function whenText({ date, means }: Row, group: readonly Row[], say: Say): string {
  const isAmongOthers = group.filter((other) => other.date.slice(0, 10) === date.slice(0, 10)).length > 1;
  const time = isAmongOthers ? say.time(date) : '';
  const day = time === '' ? say.day(date) : `${say.day(date)}${say('shl.comma')} ${time}`;
  return means === '' ? day : say(`known.${means}`, { day });
}

function groupView(group: Group, say: Say): HTMLElement {
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

function rowView({ latest: row, failed, beside, rows }: Group, say: Say): Child[] {
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

function valueView(row: Row, group: readonly Row[], say: Say): Child[] {
  const { parts = [] } = row;
  return [
    parts.length > 0
      ? partsView(parts, say)
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
          element('bdi', { dir: textDirection(row.range), text: inWords(row.range, say) }),
        ),
    row.date === ''
      ? undefined
      : element('span', { class: 'quiet small when', text: whenText(row, group, say) }),
  ];
}

/** Returns the other values recorded for the same time, because nothing says which value is right. */
function besideView(beside: readonly Row[], say: Say): HTMLElement | undefined {
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

/** Returns the day of a later measurement that has no result, with a note that says so and the reason given. */
function failedView(failed: Row | undefined, group: readonly Row[], say: Say): HTMLElement | undefined {
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

/** Returns the values of an observation's parts. Each value is isolated from the text direction around it. */
function partsView(parts: readonly Part[], say: Say): HTMLElement {
  const shown = parts.flatMap(({ name, value }, at) => [
    at === 0 ? '' : `${say('shl.comma')} `,
    element('bdi', { text: inWords(name, say) }),
    name === '' ? '' : ': ',
    element('bdi', { dir: textDirection(value), text: inWords(value, say) }),
  ]);
  return element('span', { class: 'value parts' }, ...shown);
}

/** Returns the text direction. Numbers run from left to right in every language, so that `4 – 6` doesn't become `6 – 4`. */
function textDirection(text: string): 'ltr' | 'auto' {
  return /^[\s<>≤≥=~+-]*\d/.test(text) ? 'ltr' : 'auto';
}

const flagText = ({ flagged, flaggedKey }: Row, say: Say): string =>
  flaggedKey === undefined ? flagged : say(flaggedKey);

function badge(row: Row, say: Say): HTMLElement {
  return element('span', {
    class: row.flag.startsWith('critical') ? 'badge fault' : 'badge warn',
    text: flagText(row, say),
  });
}

/** Returns a button that saves a file. The file is never opened as a page of this origin. */
function fileView({ contentType, data, title }: ShownFile, name: string, say: Say): HTMLElement {
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

const ENDINGS: Readonly<Record<string, string>> = {
  'application/pdf': '.pdf',
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'text/plain': '.txt',
};

function fileEnding(type: string): string {
  return ENDINGS[type] ?? '';
}
