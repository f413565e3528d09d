/** Finds the name that was probably meant, for error messages. */

/**
 * The maximum length of a word to compare, in UTF-16 code units. Longer words aren't misspelt names, and the cost grows with
 * the square of the length.
 */
const LONGEST = 64;
/**
 * One difference is tolerated for each group of this many characters in the word. Shorter words match only if their letters
 * are the same.
 */
const CHARACTERS_PER_DIFFERENCE = 3;
/** The minimum number of letters that may be taken as the beginning of a name. */
const SHORTEST_BEGINNING = 3;

/**
 * Returns the candidate that is most similar to a misspelt word, spelt as the candidate is. A candidate with the same letters
 * wins, regardless of case and separators (`birthDate`, `birth-date`: `birth_date`). Otherwise, the candidate with the
 * smallest Damerau-Levenshtein distance wins (optimal string alignment: an insertion, a deletion, a substitution, or a swap of
 * two neighbours counts as 1), if that distance is at most a third of the word's length; if several are equal, the first of
 * them. If none is similar enough and no limit is given, the result is the only candidate that begins with the word (`lab`:
 * `laboratory`).
 * @param word the client's word, of any length; nothing is similar to a word of more than 64 characters
 * @param limit the maximum number of differences, if less than a third of the word's length
 * @returns undefined if no candidate is similar enough to be worth suggesting
 */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  limit = Number.POSITIVE_INFINITY,
): string | undefined {
  if (word.length > LONGEST) return undefined;
  const wanted = folded(word);
  let most = Math.min(limit, Math.floor(wanted.length / CHARACTERS_PER_DIFFERENCE));
  const mayBeCut = limit === Number.POSITIVE_INFINITY && wanted.length >= SHORTEST_BEGINNING;
  let found: string | undefined;
  const longer: string[] = [];
  for (const candidate of candidates) {
    if (candidate.length > LONGEST) continue;
    const letters = folded(candidate);
    if (letters === wanted) return candidate;
    if (mayBeCut && letters.startsWith(wanted)) longer.push(candidate);
    if (Math.abs(letters.length - wanted.length) > most) continue;
    const differences = distance(wanted, letters, most);
    if (differences > most || (found !== undefined && differences === most)) continue;
    most = differences;
    found = candidate;
  }
  return found ?? (longer.length === 1 ? longer[0] : undefined);
}

/**
 * Returns the end of an error message about an unknown name: `` ; did you mean `given`? ``, or an empty text if no candidate
 * is similar.
 * @param word the client's word, of any length
 */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const name = nearest(word, candidates);
  return name === undefined ? '' : `; did you mean \`${name}\`?`;
}

/** Returns a name's letters and digits in lower case, or the whole name if it has none. */
function folded(name: string): string {
  return name.replace(/[\s_.-]+/g, '').toLowerCase() || name;
}

/**
 * Returns the optimal string alignment distance between two texts: how many letters are extra, missing, different, or swapped
 * with their neighbour.
 * @param most if the distance is larger than this, any larger number may be returned. This saves time, because the first
 *   letters already distinguish nearly all pairs
 */
export function distance(one: string, other: string, most = Number.POSITIVE_INFINITY): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1];
      let least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        least = Math.min(least, at(beforeLast, j - 2) + 1);
      row.push(least);
    }
    // The distances never decrease from row to row; a swap looks two rows back.
    if (Math.min(...row) > most && Math.min(...last) > most) return most + 1;
    [beforeLast, last] = [last, row];
  }
  return at(last, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
