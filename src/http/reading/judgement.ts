/**
 * Judges a value: uses the laboratory's or device's judgement if there is one, and otherwise the value's position in the
 * reference range. Pure.
 */
import { resultName } from '../pages/result-names.ts';
import type { Texts } from '../pages/texts.ts';
import { codeLabel } from './code-label.ts';

/** A number, and the range that is normal for it. */
interface Ranged {
  /** A literal, like the ends of the range. */
  readonly value: string | null;
  readonly value_text: string | null;
  readonly reference_range?: { readonly low: string | null; readonly high: string | null } | null | undefined;
}

/** A part of a value, with its own range. */
type Part = Ranged & Parameters<typeof resultName>[1];

/** A value to judge. */
export interface Judged extends Ranged {
  readonly value_code?: object | null;
  readonly value_boolean?: boolean | null;
  readonly components?: readonly Part[];
  /** Codes of http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation. */
  readonly interpretations?: readonly string[] | undefined;
}

/**
 * The codes that judge a value, most severe first. All other codes say how the value changed, or whether something was found.
 */
const SAID = ['HH', 'LL', 'AA', 'HX', 'LX', 'HU', 'LU', 'H', 'L', 'A', 'N'];

/** A judgement: a code from a laboratory or device, or a value's position in its range. */
export interface Judgement {
  readonly by:
    | { readonly code: string }
    | {
        readonly range: 'results.above' | 'results.below' | 'results.within';
        /** The part of the value that is outside its own range. */
        readonly part?: Part;
      };
  readonly grade: 'critical' | 'out' | 'good';
}

/**
 * Returns the judgement; undefined if there is none. If a value is labelled normal but it, or one of its parts, is outside its
 * own range, the range decides.
 */
export function judge(judged: Judged): Judgement | undefined {
  const code = SAID.find((each) => judged.interpretations?.includes(each));
  const ranged = code === undefined || code === 'N' ? byRange(judged) : undefined;
  if (code === undefined || ranged?.grade === 'out') return ranged;
  return { by: { code }, grade: code === 'N' ? 'good' : CRITICAL.includes(code) ? 'critical' : 'out' };
}

const CRITICAL = ['HH', 'LL', 'AA'];

/** Returns the reference range for an observation's own value; undefined if there is none, or if the range has no limits. */
export function findRange(judged: Ranged): NonNullable<Ranged['reference_range']> | undefined {
  const { reference_range: range = null } = judged;
  const isNumber = readSpan(judged) !== undefined;
  return !isNumber || range === null || (range.low === null && range.high === null) ? undefined : range;
}

/** A number that follows a comparator, as REST v1 writes it: `> 200 mg/dL`. */
const BOUNDED = /^([<>]=?) (-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?: (.+))?$/;

/** Returns the parts of a value that has a comparator; undefined for any other text. */
export function splitBounded(
  text: string | null,
): { readonly sign: string; readonly number: string; readonly unit: string } | undefined {
  const [, sign, number, unit = ''] = BOUNDED.exec(text ?? '') ?? [];
  return sign === undefined || number === undefined ? undefined : { sign, number, unit };
}

/** The range in which a value lies; an end that isn't `closed` is excluded. */
interface Span {
  readonly least: number;
  readonly most: number;
  readonly closed: boolean;
}

function readSpan({ value, value_text }: Ranged): Span | undefined {
  if (value !== null) return { least: Number(value), most: Number(value), closed: true };
  const bounded = splitBounded(value_text);
  if (bounded === undefined) return undefined;
  const number = Number(bounded.number);
  const closed = bounded.sign.endsWith('=');
  return bounded.sign.startsWith('>')
    ? { least: number, most: Number.POSITIVE_INFINITY, closed }
    : { least: Number.NEGATIVE_INFINITY, most: number, closed };
}

function byRange({ components = [], ...own }: Judged): Judgement | undefined {
  const ranged = byOwnRange(own);
  if (ranged?.grade === 'out') return ranged;
  const parts = components.map((part) => ({ part, judgement: byOwnRange(part) }));
  const out = parts.find(({ judgement }) => judgement?.grade === 'out');
  if (out?.judgement !== undefined && 'range' in out.judgement.by)
    return { ...out.judgement, by: { ...out.judgement.by, part: out.part } };
  // Parts in their ranges don't make a value of its own normal, such as “atrial fibrillation” with a normal heart rate.
  const { value, value_text, value_code = null, value_boolean = null } = own;
  const hasOwn = [value, value_text, value_code, value_boolean].some((each) => each !== null);
  const areJudged = !hasOwn && parts.every(({ judgement }) => judgement !== undefined);
  return ranged ?? (areJudged ? parts[0]?.judgement : undefined);
}

function byOwnRange(judged: Ranged): Judgement | undefined {
  const [range, span] = [findRange(judged), readSpan(judged)];
  if (range === undefined || span === undefined) return undefined;
  const low = Number(range.low ?? Number.NEGATIVE_INFINITY);
  const high = Number(range.high ?? Number.POSITIVE_INFINITY);
  const { least, most, closed } = span;
  if (closed ? least > high : least >= high) return { by: { range: 'results.above' }, grade: 'out' };
  if (closed ? most < low : most <= low) return { by: { range: 'results.below' }, grade: 'out' };
  return least >= low && most <= high ? { by: { range: 'results.within' }, grade: 'good' } : undefined;
}

/** Returns a judgement in words; undefined if there is none. */
export function judgementText(say: Texts, judged: Judged): string | undefined {
  const by = judge(judged)?.by;
  if (by === undefined) return undefined;
  if ('code' in by) return codeLabel(say, 'interpretation', by.code);
  return by.part === undefined ? say(by.range) : `${resultName(say, by.part)}: ${say(by.range)}`;
}
