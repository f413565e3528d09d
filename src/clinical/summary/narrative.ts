/** Writes narratives: XHTML that a browser can show, https://hl7.org/fhir/R4/narrative.html */
import type { Coverage } from '#src/shared/coverage.ts';
import { mapSteps, type Steps } from '#src/shared/slices.ts';
import { CHANGED_BY_AI } from './classify.ts';
import { type Beside, TABLES } from './columns.ts';
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

/**
 * Returns a section's narrative, in steps.
 * @param sources its entries, newest first.
 * @param found how many there were before the section was cut to its cap
 * @param changed how many more there would be, had an AI not changed them
 * @param coverage how much of it the grant covers for which the summary is made
 */
export function* sectionNarrative(
  { name, empty }: Section,
  sources: readonly Source[],
  {
    found,
    changed,
    coverage,
  }: { readonly found: number; readonly changed: number; readonly coverage: ReturnType<Coverage> },
  beside: Beside,
): Steps<Narrative> {
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
  const missing =
    changed === 0
      ? []
      : [
          paragraph(
            `Not shown: ${changed} ${changed === 1 ? 'entry' : 'entries'} ${CHANGED_BY_AI}. The record itself has what was there before.`,
          ),
        ];
  if (sources.length === 0) {
    return narrative([
      ...missing,
      ...part,
      paragraph(`This record holds no information about ${what}. That does not mean that there are none.`),
    ]);
  }
  const cut =
    found > sources.length
      ? [
          paragraph(
            `${sources.length} of ${found} entries: the newest of each kind first, then the newest of all.`,
          ),
        ]
      : [];
  return narrative([...missing, ...part, ...cut, yield* table(yield* TABLES[name](sources, beside))]);
}

/** Returns the XHTML of a table. @param columns the heading and the cells of each */
function* table(columns: readonly (readonly [heading: string, cells: readonly string[]])[]): Steps<string> {
  // The first column names the entry, so it is always shown.
  const shown = columns.filter(([, cells], n) => n === 0 || cells.some((text) => text !== ''));
  const head = shown.map(([heading]) => `<th>${escaped(heading)}</th>`).join('');
  const [[, first] = ['', []]] = shown;
  const rows = yield* mapSteps(first, (_, row) => {
    const texts = shown.map(([, cells]) => cells[row] ?? '');
    return `<tr>${texts.map((text, n) => `<td>${escaped(text || (n === 0 ? 'not named' : ''))}</td>`).join('')}</tr>`;
  });
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}
