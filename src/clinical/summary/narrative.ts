/** Writes narratives: XHTML that a browser can show, https://hl7.org/fhir/R4/narrative.html */
import type { Coverage } from '#src/shared/coverage.ts';
import { mapSteps, type Steps } from '#src/shared/slices.ts';
import { CHANGED_BY_AI } from './classify.ts';
import { COLUMNS, type Column, type Look } from './columns.ts';
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
  look: Look,
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
  return narrative([...missing, ...part, ...cut, yield* table(COLUMNS[name], sources, look)]);
}

function* table(columns: readonly Column[], sources: readonly Source[], look: Look): Steps<string> {
  const cells: string[][] = [];
  for (const [, cell] of columns) cells.push(yield* mapSteps(sources, (source) => cell(source, look) ?? ''));
  // The first column names the entry, so it is always shown.
  const shown = cells.flatMap((column, n) => (n === 0 || column.some((text) => text !== '') ? [n] : []));
  const head = shown.map((n) => `<th>${escaped(columns[n]?.[0] ?? '')}</th>`).join('');
  const rows = yield* mapSteps(sources, (_, row) => {
    const texts = shown.map((n) => cells[n]?.[row] ?? '');
    return `<tr>${texts.map((text, n) => `<td>${escaped(text || (n === 0 ? 'not named' : ''))}</td>`).join('')}</tr>`;
  });
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}
