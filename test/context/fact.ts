/** The meaning of the facts that a context must contain: the names in `needed.txt`. */
import { DIAGNOSES, DRUGS, MEASURES } from '#src/sandbox/codes.ts';
import type { SyntheticRecord } from '#src/sandbox/synthetic.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

/** Parts that must all occur in one line of a context for the context to contain a fact. Strings are case-insensitive. */
export type Parts = readonly (string | RegExp)[];

/** Returns whether a text contains the fact with the given name in `needed.txt`. */
export function tells(text: string, name: string, record: SyntheticRecord): boolean {
  const parts = partsOf(name, record);
  return text
    .split('\n')
    .some((line) =>
      parts.every((part) =>
        typeof part === 'string' ? line.toLowerCase().includes(part.toLowerCase()) : part.test(line),
      ),
    );
}

/**
 * Returns the parts of the fact with the given name.
 * @throws TypeError for an unknown name
 */
function partsOf(name: string, record: SyntheticRecord): Parts {
  const [, word = '', rest = ''] =
    /^(age and sex|no allergy|died|last pressure|last visit|last stay|course of|allergic to|takes|took|has|had|says|last) ?(.*)$/.exec(
      name,
    ) ?? [];
  const [first = '', ...others] = rest.split(': ');
  switch (word) {
    case 'age and sex':
      return [sexOf(record), /\b\d+ (?:years|months)\b/];
    case 'no allergy':
      return [/no (?:known )?allerg|allerg[a-z]*:? none recorded/i];
    case 'died':
      return [/died|deceased/i];
    case 'has':
      return [named(DIAGNOSES, first)];
    case 'had':
      return [named(DIAGNOSES, first), /resolved/i];
    case 'takes':
      return [named(DRUGS, first), ...others, /\bactive/i];
    case 'took':
      return [named(DRUGS, first), /completed|stopped/i];
    case 'allergic to':
    case 'says':
      return [first, ...others];
    case 'last pressure':
      return pressure(record);
    case 'last visit':
      return visit(record, 'AMB');
    case 'last stay':
      return visit(record, 'IMP');
    case 'last': {
      const [latest] = values(record, first);
      return [displayOf(first), alone(latest?.value), String(latest?.at).slice(0, 10)];
    }
    case 'course of': {
      const [latest, before] = values(record, first);
      return [displayOf(first), alone(latest?.value), alone(before?.value)];
    }
    default:
      throw new TypeError(`"${name}" is no fact`);
  }
}

function named(table: Readonly<Record<string, string>>, code: string): string {
  const words = table[code];
  if (words === undefined) throw new TypeError(`${code} is not in the sandbox`);
  return words;
}

const TABLE: Readonly<Record<string, { readonly code: string; readonly display: string }>> = MEASURES;

function displayOf(measure: string): string {
  return named(
    Object.fromEntries(Object.entries(TABLE).map(([name, { display }]) => [name, display])),
    measure,
  );
}

function sexOf({ resources }: SyntheticRecord): RegExp {
  const patient = resources.find(({ type }) => type === 'Patient')?.resource;
  return new RegExp(`\\b${String(patient?.gender)}\\b`, 'i');
}

/** Returns a pattern for a number that is not part of another number. */
function alone(value: number | undefined): RegExp {
  return new RegExp(`(?<![\\d.])${String(value).replace('.', '\\.')}(?!\\d|\\.\\d)`);
}

/** Returns the Observations with the given code, except those written by an AI, latest first. */
function observed({ resources }: SyntheticRecord, code: string | undefined): JsonObject[] {
  return resources
    .filter(({ author, resource }) => author.type !== 'ai' && codeOf(resource) === code)
    .map(({ resource }) => resource)
    .sort((a, b) => (String(a.effectiveDateTime) < String(b.effectiveDateTime) ? 1 : -1));
}

function codeOf({ code }: JsonObject): string | undefined {
  return ((code ?? {}) as { coding?: readonly { code?: string }[] }).coding?.[0]?.code;
}

/** Returns a measure's values, latest first. */
function values(record: SyntheticRecord, measure: string): { value: number; at: string }[] {
  return observed(record, TABLE[measure]?.code).map(({ valueQuantity, effectiveDateTime }) => ({
    value: (valueQuantity as unknown as { value: number }).value,
    at: String(effectiveDateTime),
  }));
}

function pressure(record: SyntheticRecord): Parts {
  const [latest] = observed(record, '85354-9');
  const components = (latest?.component ?? []) as unknown as { valueQuantity: { value: number } }[];
  const both = components.map(({ valueQuantity }) => valueQuantity.value).join('/');
  return ['Blood pressure', both, String(latest?.effectiveDateTime).slice(0, 10)];
}

/** Returns the day and the reason of the last visit or the last hospital stay. */
function visit({ resources }: SyntheticRecord, kind: 'AMB' | 'IMP'): Parts {
  const [latest] = resources
    .filter(({ type, resource }) => type === 'Encounter' && (resource.class as JsonObject).code === kind)
    .map(
      ({ resource }) => resource as unknown as { period: { start: string }; reasonCode?: { text: string }[] },
    )
    .sort((a, b) => (a.period.start < b.period.start ? 1 : -1));
  return [String(latest?.period.start).slice(0, 10), ...(latest?.reasonCode ?? []).map(({ text }) => text)];
}
