/** Parses the patient's pages: the rows of lists, the overview, and the printed table of results. */
import { certaintyIn, clinicalState, medicineState, phrasesIn, type Said, withIsoDays } from './said.ts';
import { plainText } from './views.ts';

/** Lists, by the ids of their sections. */
export type ListId = 'allergies' | 'medicines' | 'problems';

/** Returns the text of HTML, without tags. */
export const textOf = (html: string): string =>
  plainText(html.replace(/<[^>]*>/g, ''))
    .replace(/\s+/g, ' ')
    .trim();

const isolatedIn = (html: string): string[] =>
  [...html.matchAll(/<bdi[^>]*>([\s\S]*?)<\/bdi>/g)].map(([, text = '']) => textOf(text));

const badgesIn = (html: string): string[] =>
  [...html.matchAll(/<span class="badge[^"]*">([\s\S]*?)<\/span>/g)].map(([, text = '']) => textOf(text));

/** Returns a list's rows: current rows, and past rows. */
export function rowsIn(page: string, list: ListId): readonly [now: readonly Said[], past: readonly Said[]] {
  const from = page.indexOf(`aria-labelledby="${list}"`);
  const section =
    page
      .slice(from)
      .split(/class="note warn"|class="bullets refuted| aria-labelledby="[a-z ]+-ai"|<\/section>/)[0] ?? '';
  const [now = '', past = ''] = section.split('<details class="past">');
  return [readRows(now, list), readRows(past, list)];
}

const readRows = (html: string, list: ListId): Said[] =>
  html
    .split('<p class="row-top">')
    .slice(1)
    .map((row): Said => {
      const [top = '', rest = ''] = row.split('</p>\n<p class="quiet small">');
      const [own = ''] = rest.split(/<span class="origin">|<\/p>/);
      const [name = ''] = isolatedIn(top);
      const [badges, details] = [badgesIn(top), isolatedIn(own)];
      const entries = [...row.matchAll(/\/entries\/(\w+\/[0-9a-f-]{36})/g)].map(([, entry = '']) => entry);
      return {
        name: name.toLowerCase(),
        text: [name, ...badges, ...details].join(' '),
        sources: [...new Set(entries)].sort().join(' '),
        ...stateIn(badges, list),
        says: phrasesIn(details),
      };
    });

function stateIn(badges: readonly string[], list: ListId): Pick<Said, 'state' | 'certainty'> {
  const read = list === 'medicines' ? medicineState : clinicalState;
  const state = badges.flatMap((badge) => read(badge) ?? [])[0] ?? '';
  // An active allergy shows its danger instead of its state.
  return {
    state: list === 'allergies' && state === '' ? 'active' : state,
    certainty: list === 'medicines' ? '' : certaintyIn(badges),
  };
}

/** Returns how severe the rows of active allergies are, in the page's order: true if a reaction may be life-threatening. */
export const areCritical = (rows: readonly Said[]): boolean[] =>
  rows.map(({ text }) => text.includes('May be life-threatening'));

/** Returns which items of each list the overview names, and how many more there are. */
export function overviewIn(
  page: string,
): Record<ListId, { readonly said: readonly Said[]; readonly more: number }> {
  const glance = page.slice(page.indexOf('id="glance"'));
  const [, facts = ''] = /<dl class="facts">([\s\S]*?)<\/dl>/.exec(glance) ?? [];
  const [allergies = '', medicines = '', problems = ''] = facts.split('</dd>');
  const read = (html: string, list: ListId) => ({
    said: html
      .split('<li>')
      .slice(1)
      .map((item): Said => {
        const [name = '', ...others] = isolatedIn(item);
        const badges = badgesIn(item);
        const text = [name, ...badges, ...others].join(' ');
        const isNameless = others.includes('(State not recorded)');
        const { state } = stateIn(badges, 'medicines');
        return {
          name: name.toLowerCase(),
          text,
          ...(list === 'medicines' ? { state: state === '' ? 'active' : state } : {}),
          ...(list === 'problems' && isNameless ? { state: '' } : {}),
          certainty: list === 'medicines' ? '' : certaintyIn(others),
        };
      }),
    more: Number(/(\d+) more/.exec(html)?.[1] ?? 0),
  });
  return {
    allergies: read(allergies, 'allergies'),
    medicines: read(medicines, 'medicines'),
    problems: read(problems, 'problems'),
  };
}

/** A row in the printed table of results. */
export interface PrintedResult {
  readonly name: string;
  readonly value: string;
  /** The day, as written in FHIR. */
  readonly day: string;
  /** The day of a later measurement without a result. */
  readonly failed: string | undefined;
}

/** Returns the rows of the printed table of results. */
export function printedResults(page: string): PrintedResult[] {
  const rows = page
    .slice(page.indexOf('<table role="table" class="printed"'))
    .split('<tr role="row">')
    .slice(2);
  return rows.map((row) => {
    const [, name = ''] = /<th[^>]*>([\s\S]*?)<\/th>/.exec(row) ?? [];
    const [value = '', , when = ''] = [...row.matchAll(/<td[^>]*>([\s\S]*?)<\/td>/g)].map(
      ([, cell = '']) => cell,
    );
    const [day = '', failed] = when.replace(/<span class="by[\s\S]*?<\/span>/, '').split('<small');
    const [, later] = /\(([^:]+): no value\)/.exec(withIsoDays(textOf(`<small${failed ?? ''}`))) ?? [];
    return { name: textOf(name), value: textOf(value), day: withIsoDays(textOf(day)), failed: later };
  });
}
