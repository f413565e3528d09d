/** Parses requests for contexts. */

/** A parsed request (docs/spec/decisions.md, section 4 "Context"). */
export interface ContextRequest {
  readonly task?: string | undefined;
  readonly question?: string | undefined;
  /** The most important first. */
  readonly needs: readonly string[];
  readonly budget_tokens: number;
  readonly format: 'structured' | 'text';
  readonly window_days?: number | undefined;
}

/** The sections of a context, in order. */
export const KINDS = [
  'patient',
  'allergies',
  'medications',
  'problems',
  'vitals',
  'labs',
  'observations',
  'social_history',
  'procedures',
  'encounters',
  'plans',
  'immunizations',
  'documents',
  'ai_notes',
] as const;

/** A section. */
export type Kind = (typeof KINDS)[number];

/** The facts that a need requests: a whole section, facts with a code, or recent facts. */
export interface Need {
  readonly text: string;
  readonly kinds: readonly Kind[];
  /** The code without its system. */
  readonly code?: string;
  readonly system?: string;
  readonly days?: number;
}

/** Other names for sections. */
const ALSO: Readonly<Record<string, readonly Kind[]>> = {
  conditions: ['problems'],
  documents: ['documents'],
  reports: ['documents'],
  care_plans: ['plans'],
  goals: ['plans'],
  results: ['labs', 'observations'],
};

/** Sections whose facts have codes that a need may name. */
const CODED = new Set<string>([
  'labs',
  'vitals',
  'observations',
  'results',
  'problems',
  'conditions',
  'medications',
  'allergies',
  'procedures',
  'immunizations',
  'social_history',
]);

const DAYS: Readonly<Record<string, number>> = { d: 1, w: 7, m: 30, y: 365 };

/** The valid forms of a need, for error messages. */
export const NEED_FORMS =
  'must be a section such as labs or medications, labs:4548-4, vitals:trend:85354-9, conditions:I10, or timeline:180d (d, w, m, y)';

/** Parses a need; undefined if it is invalid. A code may be `system|code`. */
export function parseNeed(text: string): Need | undefined {
  const [, span, unit = ''] = /^timeline:(\d{1,5})([dwmy])$/.exec(text) ?? [];
  if (span !== undefined) return { text, kinds: KINDS, days: Number(span) * (DAYS[unit] ?? 1) };
  const [, word = '', code] = /^([a-z_]+)(?::(?:trend:)?(\S{1,200}))?$/.exec(text) ?? [];
  const kinds = ALSO[word] ?? KINDS.filter((kind) => kind === word && kind !== 'ai_notes');
  if (kinds.length === 0 || (code !== undefined && !CODED.has(word))) return undefined;
  if (code === undefined || code === 'trend') return code === undefined ? { text, kinds } : undefined;
  const bar = code.lastIndexOf('|');
  // Laboratories may report vital signs, so the code of a measurement is searched in every section that contains measurements.
  const measured = kinds.some((kind) => kind === 'labs' || kind === 'vitals' || kind === 'observations');
  return {
    text,
    kinds: measured ? ['labs', 'vitals', 'observations', 'social_history'] : kinds,
    code: code.slice(bar + 1),
    ...(bar < 0 ? {} : { system: code.slice(0, bar) }),
  };
}
