/** Parses what contexts, `$summary` and the shared-links page say about an item. */
import { certaintyIn, clinicalState, medicineState, phrasesIn, type Said } from './said.ts';

/** A line in a context. */
export interface Line {
  readonly text: string;
  readonly sources: string;
  readonly name: string;
}

const statesIn = (parts: readonly string[], read: (part: string) => string | undefined): string | undefined =>
  parts.flatMap((part) => read(part.trim()) ?? [])[0];

/** Returns what a context says about an allergy. */
export function allergyLine({ text, sources, name }: Line): Said {
  const parts = text.split('; ');
  const own = parts[0]?.split(': ')[0]?.toLowerCase();
  return {
    ...{ text, sources, certainty: certaintyIn(parts), says: phrasesIn(parts) },
    name: name === 'substance not recorded' ? '' : name,
    ...(own === name ? {} : { name: `${own} is not ${name}` }),
  };
}

/** Returns what a context says about a medicine. */
export function medicineLine({ text, sources, name }: Line): Said {
  const parts = text.split('; ');
  const isNamed = text.toLowerCase().startsWith(name);
  return {
    ...{ text, sources, name: isNamed ? name : `${text} is not ${name}` },
    ...{ state: statesIn(parts, medicineState) ?? 'none', says: phrasesIn(parts) },
  };
}

/** Returns what a context says about a problem. */
export function problemLine({ text, sources, name }: Line): Said {
  const isNamed = text.toLowerCase().startsWith(name);
  const [head = '', ...parts] = text.slice(name.length).split('; ');
  // The name may be followed by a body site.
  const [, status = '', since = ''] =
    /^(?:, [^:]*)?: (status not recorded|recorded as [a-z ]+ \(person deceased\)|active|came back|relapse|not active|in remission|resolved)?,? ?(.*)$/.exec(
      head,
    ) ?? [];
  return {
    ...{ text, sources, certainty: certaintyIn(parts), state: clinicalState(status) ?? '' },
    name: isNamed ? name : `${text} is not ${name}`,
    says: phrasesIn([...since.split(', '), ...parts]),
  };
}

/** The cells of a row, by heading. */
export type Cells = Readonly<Record<string, string>>;

/** Returns what a row of `$summary` says about an allergy. */
export function allergyCells({
  Substance = '',
  Status = '',
  Since = '',
  'Last reaction': last = '',
}: Cells): Said {
  return {
    ...{ text: Substance, name: Substance.toLowerCase(), certainty: certaintyIn(Status.split(', ')) },
    state: statesIn(Status.split(', '), clinicalState) ?? '',
    says: [
      ...changeCell(Since, 'since', 'onset'),
      ...phrasesIn(last === '' ? [] : [`last reaction ${last}`]),
    ],
  };
}

/** Returns how severe an allergy is according to a row: a higher number is more severe. */
export function riskIn({ Criticality = '' }: Cells): number {
  return ['low risk', '', 'may be life-threatening'].indexOf(
    Criticality === 'risk can’t be assessed' ? '' : Criticality,
  );
}

/** Returns what a row of `$summary` says about a medicine. */
export function medicineCells({ Medication = '', Dosage = '', Status = '' }: Cells): Said {
  const parts = Status.split('; ');
  return {
    text: `${Medication} ${Dosage}`,
    name: Medication.toLowerCase().replace(/^must not be given: /, ''),
    ...{ state: statesIn(parts, medicineState) ?? 'none', says: phrasesIn(parts) },
  };
}

/** Returns what a row of `$summary` says about a problem. */
export function problemCells({
  Problem = '',
  Status = '',
  Since = '',
  Until = '',
  Recorded = '',
}: Cells): Said {
  const parts = Status.split(', ');
  return {
    // The name may be followed by a body site.
    text: Problem,
    ...{ certainty: certaintyIn(parts.length > 1 ? parts.slice(1) : parts) },
    state: statesIn(parts.slice(0, 1), clinicalState) ?? '',
    says: [
      ...changeCell(Since, 'since', 'onset'),
      ...changeCell(Until, 'until', 'end'),
      ...phrasesIn(Recorded === '' ? [] : [`recorded ${Recorded}`]),
    ],
  };
}

/** Returns what a cell says about a beginning or an end: a day, an age, or words. */
function changeCell(cell: string, word: string, label: string): string[] {
  if (cell === '') return [];
  const said = phrasesIn([/^\d{4}/.test(cell) ? `${word} ${cell}` : cell]);
  return said.length > 0 ? said : [`${label} ${cell}`];
}

/** A row on the shared-links page. */
export interface ViewerRow {
  readonly name: string;
  readonly isOver: boolean;
  readonly flag: string;
  readonly details: readonly string[];
  readonly standing?: string | undefined;
  readonly says: readonly {
    readonly key: string;
    readonly days?: Readonly<Record<string, string>> | undefined;
    readonly times?: number | undefined;
    readonly state?: string | undefined;
    readonly values?: Readonly<Record<string, string>> | undefined;
  }[];
}

/** The English meanings of the page's texts, without the days. */
const VIEWER: Readonly<Record<string, string>> = {
  'known.taken': 'taken {from} to {until}',
  'known.takenfrom': 'taken from {day}',
  'known.takensince': 'taken since {day}',
  'known.takenuntil': 'taken until {day}',
  'known.takenon': 'taken on {day}',
  'known.takenplanned': 'taken from {from}, planned until {until}',
  'known.planned': 'planned from {from} to {until}',
  'known.plannedfrom': 'planned from {day}',
  'known.planneduntil': 'planned until {day}',
  'known.alsoplanned': 'also planned',
  'known.alsoplannedfrom': 'also planned from {day}',
  'known.prescribed': 'prescribed {day}',
  'known.prescribedtwice': 'prescribed {from} and {until}',
  'known.prescribedsame': 'prescribed {times} times on {day}',
  'known.prescribedtimes': 'prescribed {times} times, {from} to {until}',
  'known.ordered': 'ordered {day}',
  'known.contradicted': 'also recorded as {state}',
  'known.contradictedon': 'also recorded as {state} on {day}',
  'known.contradictedorder': 'also recorded as {state} (prescription of {day})',
  'known.contradictedorderon': 'also recorded as {state} on {day} (prescription)',
  'known.recorded': 'recorded {day}',
  'known.lastreaction': 'last reaction {day}',
  'known.since': 'since {day}',
  'days.until': 'until {day}',
  'known.times': 'recorded {times} times',
  'known.timesfirst': 'recorded {times} times, first began {day}',
  'known.timeslast': 'recorded {times} times, last began {day}',
  'known.onsetage': 'age at onset: {age}',
  'known.endage': 'age at end: {age}',
  'known.onset': 'onset: {text}',
  'known.end': 'end: {text}',
};

/**
 * Returns what a row on the shared-links page says.
 * @param as how to read the row's states
 */
export function viewerRow(row: ViewerRow, as: 'medicine' | 'stated'): Said {
  const { name, details, says } = row;
  const parts = says.map(({ key, days = {}, values = {}, times, state }) =>
    (VIEWER[key] ?? '').replace(/\{([a-z]+)\}/g, (_, of: string) =>
      String({ ...days, ...values, times, state }[of] ?? '').replace(/^(\d{4}-\d\d-\d\d)T.*/, '$1'),
    ),
  );
  const all = details.flatMap((detail) => detail.split('\ue000shl.comma\ue001 '));
  const marked = says.find(({ key }) => key === 'known.unclear' || key === 'known.ofdeceased');
  const medicine = (): string => {
    if (row.standing === 'forbidden') return 'forbidden';
    const state = medicineState(marked?.state ?? details[0] ?? '') ?? 'active';
    if (marked === undefined) return state;
    return `${marked.key === 'known.unclear' ? 'unclear' : 'before death'} ${state}`;
  };
  return {
    ...{ name: name.toLowerCase(), text: [name, ...details].join(' '), says: phrasesIn(parts) },
    state:
      as === 'medicine'
        ? medicine()
        : all.includes('\ue000known.nostate\ue001')
          ? ''
          : `${marked === undefined ? '' : 'before death '}${statesIn(marked?.state === undefined ? all : [marked.state], clinicalState) ?? 'active'}`,
    certainty: as === 'medicine' ? '' : certaintyIn(all),
  };
}
