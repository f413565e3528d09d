/** Defines findings, which methods make from tracks, with the evidence for and against them. Pure. */
import { createHash } from 'node:crypto';
import { withoutIds } from '#src/fhir/search/text.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import type { Bound, Coded, Point } from './track.ts';

/** Kinds of findings (docs/spec/decisions.md, section 4 "Patterns"). */
export const FINDING_KINDS = ['trend', 'out_of_range', 'change_point', 'correlation', 'gap'] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];

/** Directions of findings; gaps and rhythms have none. */
export const DIRECTIONS = ['up', 'down', 'above', 'below', 'together', 'opposite'] as const;

export type Direction = (typeof DIRECTIONS)[number];

/** The size of a finding. */
export interface Effect {
  readonly value: number;
  readonly unit: string | null;
  /** Ends of the 95 % interval, if the method has one. */
  readonly low: number | null;
  readonly high: number | null;
  /** The slope of a trend. */
  readonly per_day?: number;
  /** The time of the first value after a change, or the start of a medication. */
  readonly since?: string;
  /** For a correlation, the number of days by which the second series lags behind the first. */
  readonly lag_days?: number;
}

/** A version on which a finding is based. */
export interface Evidence {
  readonly fhir: string;
  readonly version: number;
  readonly at: string;
  readonly value: number | null;
  /** Set if the value is only known to be below or above the stated number. */
  readonly comparator: Bound | null;
  readonly unit: string | null;
  readonly author_type: string;
  readonly role: 'supports' | 'contradicts';
}

/** A pattern that a method found. */
export interface Detected {
  readonly kind: FindingKind;
  readonly codes: readonly Coded[];
  readonly direction: Direction | null;
  readonly effect: Effect;
  /** 1 − p, rounded down to four decimals. It expresses how unlikely it is that such a pattern arises by chance alone. */
  readonly confidence: number;
  /** The method's name and variant. */
  readonly method: string;
  readonly window: { readonly from: string; readonly to: string };
  /**
   * Returns the evidence, in chronological order. Each piece is created from the track's points while it is being read: a
   * record may have hundreds of findings with thousands of values each, but only one finding is read at a time.
   */
  readonly pieces: () => Iterable<Evidence>;
}

export interface Finding extends Omit<Detected, 'pieces'> {
  readonly finding_id: string;
  /** Created again each time this property is read. */
  readonly evidence: readonly Evidence[];
}

/** Number of pieces of evidence hashed per step. */
const STEP = 1_000;

/**
 * Returns a finding with its id, in steps. The id is a hash of the finding's kind, method, codes and window, and of the
 * versions that are its evidence. Ids in codes are masked, because otherwise the hash would let someone confirm a suspected
 * id. The evidence is created for the hash, and again when it is read.
 */
export function* makeFinding({ pieces, ...detected }: Detected): Steps<Finding> {
  const { kind, codes, method, window } = detected;
  const hash = createHash('sha256');
  const about = [kind, method, codes.map(({ system, code }) => [system, code]), window];
  hash.update(withoutIds(JSON.stringify(about)));
  let part = '';
  let count = 0;
  for (const { fhir, version, role } of pieces()) {
    part += `\n${fhir}/_history/${version} ${role}`;
    count += 1;
    if (count % STEP !== 0) continue;
    hash.update(part);
    part = '';
    yield;
  }
  hash.update(part);
  return {
    ...detected,
    finding_id: `find_${hash.digest('base64url').slice(0, 24)}`,
    get evidence() {
      return [...pieces()];
    },
  };
}

/** Returns a point as evidence. */
export function makeEvidence(point: Point, unit: string | null, supports: boolean): Evidence {
  const { source, date, value, bound } = point;
  return {
    fhir: source.fhir,
    version: source.version,
    at: date,
    value,
    comparator: bound,
    unit,
    author_type: source.authorType,
    role: supports ? 'supports' : 'contradicts',
  };
}

/** Returns the confidence for a p-value: 1 only if p is 0. */
export function roundConfidence(p: number): number {
  const down = Math.floor((1 - p) * 10_000 + 1e-9) / 10_000;
  return Math.max(0, p > 0 ? Math.min(down, 0.9999) : down);
}

/** Returns a number rounded to six significant digits, for display. */
export function roundToSix(value: number): number {
  return Number(value.toPrecision(6));
}
