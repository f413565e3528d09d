/** Findings of methods in tracks, with the evidence for and against them. Pure. */
import { createHash } from 'node:crypto';
import { withoutIds } from '#src/fhir/search/text.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import type { Bound, Coded, Point } from './track.ts';

/** Kinds of findings (docs/spec/decisions.md, section 4 "Patterns"). */
export const FINDING_KINDS = ['trend', 'out_of_range', 'change_point', 'correlation', 'gap'] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];

/** Directions of findings; a gap has none, nor has a rhythm. */
export const DIRECTIONS = ['up', 'down', 'above', 'below', 'together', 'opposite'] as const;

export type Direction = (typeof DIRECTIONS)[number];

/** The size of a finding. */
export interface Effect {
  readonly value: number;
  readonly unit: string | null;
  /** Ends of the 95 % interval, where the method has one. */
  readonly low: number | null;
  readonly high: number | null;
  /** The slope of a trend. */
  readonly per_day?: number;
  /** The time of the first value after a change, or the start of a medication. */
  readonly since?: string;
  /** For a correlation, the number of days by which the second series follows the first. */
  readonly lag_days?: number;
}

/** A version that a finding rests on. */
export interface Evidence {
  readonly fhir: string;
  readonly version: number;
  readonly at: string;
  readonly value: number | null;
  /** Set if the value is only known to be below or above this number. */
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
  /** 1 − p, rounded down to four digits: how rarely chance by itself would show as much. */
  readonly confidence: number;
  /** Its name and variant. */
  readonly method: string;
  readonly window: { readonly from: string; readonly to: string };
  /**
   * Returns the evidence, in the order of time. It is made of the track's points while it is read: a record may have
   * hundreds of findings with thousands of values each, of which one at a time is asked for.
   */
  readonly pieces: () => Iterable<Evidence>;
}

export interface Finding extends Omit<Detected, 'pieces'> {
  readonly finding_id: string;
  /** Made each time it is read. */
  readonly evidence: readonly Evidence[];
}

/** Pieces of evidence that a step hashes. */
const STEP = 1_000;

/**
 * Returns a finding with its id, in steps: a hash of its kind, method, codes, window and evidence by version. Ids in codes
 * are masked: the hash would confirm one that somebody suspects. The evidence
 * is made for the hash, and made again when it is asked for.
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

/** Returns the confidence for a p-value: 1 only if that is 0. */
export function roundConfidence(p: number): number {
  const down = Math.floor((1 - p) * 10_000 + 1e-9) / 10_000;
  return Math.max(0, p > 0 ? Math.min(down, 0.9999) : down);
}

/** Returns a number to six significant digits, for display. */
export function roundToSix(value: number): number {
  return Number(value.toPrecision(6));
}
