/** Writes narratives: XHTML that a browser can show, https://hl7.org/fhir/R4/narrative.html */
import type { Coverage } from '#src/shared/access/coverage.ts';
import { mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { joined } from '../reading/words.ts';
import { BEFORE_AI } from './changed-tag.ts';
import { CHANGED_BY_AI } from './classify.ts';
import { type Beside, TABLES, type TableCells } from './columns.ts';
import { notListedText, ONLY_PAST, REFUTED } from './not-listed.ts';
import type { Section } from './section.ts';
import type { Source } from './source.ts';

/** A Narrative that the service generates. */
export interface Narrative {
  readonly status: 'generated';
  readonly div: string;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for XHTML. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
}

/** Returns a narrative from pieces of XHTML. */
export function narrative(pieces: readonly string[]): Narrative {
  return { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${pieces.join('')}</div>` };
}

/** Returns an XHTML paragraph. */
export function paragraph(text: string): string {
  return `<p>${escaped(text)}</p>`;
}

/** The content of a section's narrative. */
export interface Content {
  readonly section: Section;
  /** Its entries, newest first. */
  readonly sources: readonly Source[];
  /** Medicines that are no entries, which it takes into account. */
  readonly beside: readonly Source[];
  /** How many entries there were before the section was cut to its cap. */
  readonly found: number;
  /** The entries that it lacks because an AI changed them. */
  readonly changed: readonly unknown[];
  /** True if the record also has past entries of this kind. */
  readonly hasPast: boolean;
  /** How many past entries it doesn't list, besides medicines. */
  readonly past: number;
  /** The entries that it had before an AI changed them. */
  readonly earlier: readonly Source[];
  /** The grant's coverage of this section. */
  readonly coverage: ReturnType<Coverage>;
}

/** Returns a section's narrative, in steps. @param then as `around`, for entries before an AI changed them */
export function* sectionNarrative(content: Content, around: Beside, then: Beside): Steps<Narrative> {
  const { section, sources, beside, found, changed, coverage, hasPast, past } = content;
  const { name, empty } = section;
  const what = empty ?? 'this';
  if (coverage === 'none')
    return narrative([paragraph(`The grant of this application doesn't cover ${what}.`)]);
  const part =
    coverage === 'all'
      ? []
      : [
          paragraph(
            `The grant of this application covers a part of the record's ${what}: there may be more.`,
          ),
        ];
  const { columns, ids, left, absent, refuted } = yield* TABLES[name](sources, around, beside);
  const withdrawn = refuted.map((each) => `${REFUTED}${each}.`);
  const over = [...withdrawn, ...[notListedText(name, left + past) ?? []].flat()].map(paragraph);
  const isEmpty = columns.every(([, cells]) => cells.length === 0);
  const missing = changed.length === 0 ? [] : yield* changedParagraphs(content, then);
  const denied = absent.map((each) => paragraph(`${each}.`));
  if (isEmpty && denied.length > 0) return narrative([...missing, ...part, ...denied, ...over]);
  if (isEmpty) {
    const none = hasPast
      ? `This record holds no current ${what}, ${ONLY_PAST}`
      : `This record holds no ${changed.length === 0 ? '' : 'other '}information about ${what}. That does not mean that there are none.`;
    return narrative([...missing, ...part, ...(empty === undefined ? [] : [paragraph(none)]), ...over]);
  }
  const cut =
    found > sources.length
      ? [
          paragraph(
            `${sources.length} of ${found} entries: the newest of each kind first, then the newest of all.`,
          ),
        ]
      : [];
  return narrative([...missing, ...part, ...denied, ...cut, ...over, yield* table(columns, ids)]);
}

/**
 * Yields paragraphs on the number of entries that a section lacks because an AI changed them, and on their earlier
 * versions.
 */
function* changedParagraphs({ section, changed, earlier }: Content, around: Beside): Steps<string[]> {
  const number = changed.length;
  const { columns, absent } = yield* TABLES[section.name](earlier, around);
  const [[, first] = ['', []]] = columns;
  const rows = yield* mapSteps(first, (_, row) => {
    const cells = columns.map(([heading, texts], n) => {
      const text = texts[row] ?? '';
      return n === 0 ? text || 'not named' : text && `${heading}: ${text}`;
    });
    return paragraph(`${BEFORE_AI}${joined(cells, '; ')}`);
  });
  return [
    paragraph(
      `Not shown: ${number} ${number === 1 ? 'entry' : 'entries'} ${CHANGED_BY_AI}. Nobody has confirmed that.`,
    ),
    ...absent.map((each) => paragraph(`${BEFORE_AI}${each}`)),
    ...rows,
  ];
}

/** Returns the XHTML of a table. */
function* table(columns: TableCells['columns'], ids: TableCells['ids']): Steps<string> {
  // The first column names the entry, so it is always shown.
  const shown = columns.filter(([, cells], n) => n === 0 || cells.some((text) => text !== ''));
  const head = shown.map(([heading]) => `<th>${escaped(heading)}</th>`).join('');
  const [[, first] = ['', []]] = shown;
  const rows = yield* mapSteps(first, (_, row) => {
    const texts = shown.map(([, cells]) => cells[row] ?? '');
    const id = ids[row];
    const start = id === undefined ? '<tr>' : `<tr id="${id}">`;
    return `${start}${texts.map((text, n) => `<td>${escaped(text || (n === 0 ? 'not named' : ''))}</td>`).join('')}</tr>`;
  });
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}
