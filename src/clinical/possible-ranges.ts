/**
 * Reads `possible-ranges.json`: the values that are possible in a living person, by LOINC code. Each range names its source.
 */
import { readFileSync } from 'node:fs';

/** The range of possible values in one unit. */
export interface PossibleRange {
  /** The quantity that the codes measure. */
  readonly name: string;
  /** LOINC. */
  readonly codes: readonly string[];
  /** UCUM unit of both bounds. */
  readonly unit: string;
  readonly low: number;
  readonly high: number;
  /** True if values outside the range are impossible by definition, such as a percentage above 100 %. */
  readonly definition?: true;
  /** The publication that reports the most extreme values. */
  readonly source: string;
}

/** A range in the file. */
interface Entry extends PossibleRange {
  /** The same range in units that can't be converted by means of a molar mass, each with its conversion rule. */
  readonly also?: readonly (Pick<PossibleRange, 'unit' | 'low' | 'high'> & { readonly by: string })[];
}

/** Returns all ranges: one for each unit with its own bounds. */
export function readPossibleRanges(): readonly PossibleRange[] {
  const file = new URL('./possible-ranges.json', import.meta.url);
  const { ranges }: { ranges: Entry[] } = JSON.parse(readFileSync(file, 'utf8'));
  return ranges.flatMap(({ also = [], ...range }) => [
    range,
    ...also.map((other) => ({ ...range, ...other })),
  ]);
}
