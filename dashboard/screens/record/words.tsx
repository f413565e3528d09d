/** Two texts side by side, with the differing words highlighted. */
import { say } from '../../texts/texts.ts';

/** A run of words in a text; `isOwn`: the other text doesn't contain these words at this place. */
export interface Run {
  readonly text: string;
  readonly isOwn: boolean;
}

/** The maximum number of words to compare; longer texts are compared line by line instead. */
const MOST = 2_000;

/** Compares two texts word by word, by their longest common subsequence. */
export function compareWords(
  before: string,
  after: string,
): { readonly before: Run[]; readonly after: Run[] } {
  const words = (text: string): string[] => text.match(/\s+|[^\s]+/g) ?? [];
  const lines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const [one, other] = [words(before), words(after)];
  return one.length > MOST || other.length > MOST
    ? compareParts(lines(before), lines(after))
    : compareParts(one, other);
}

function compareParts(one: readonly string[], other: readonly string[]): { before: Run[]; after: Run[] } {
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (
    end < one.length - start &&
    end < other.length - start &&
    one[one.length - 1 - end] === other[other.length - 1 - end]
  )
    end += 1;
  const [mine, theirs] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  const kept = findCommon(mine, theirs);
  const runs = (all: readonly string[], middle: readonly string[], side: 0 | 1): Run[] => {
    const common = new Set(kept.map((pair) => pair[side]));
    return joinRuns([
      ...all.slice(0, start).map((text) => ({ text, isOwn: false })),
      ...middle.map((text, n) => ({ text, isOwn: !common.has(n) })),
      ...all.slice(all.length - end).map((text) => ({ text, isOwn: false })),
    ]);
  };
  return { before: runs(one, mine, 0), after: runs(other, theirs, 1) };
}

/** Returns the positions of the longest common subsequence; empty for texts that are too long. */
function findCommon(
  one: readonly string[],
  other: readonly string[],
): readonly (readonly [number, number])[] {
  if (one.length * other.length > 4_000_000) return [];
  const width = other.length + 1;
  const lengths = new Uint32Array((one.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = one.length - 1; i >= 0; i -= 1)
    for (let j = other.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < one.length && j < other.length; )
    if (one[i] === other[j]) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  return pairs;
}

function joinRuns(parts: readonly Run[]): Run[] {
  const runs: Run[] = [];
  for (const { text, isOwn } of parts) {
    const last = runs.at(-1);
    if (last?.isOwn === isOwn) runs[runs.length - 1] = { text: last.text + text, isOwn };
    else runs.push({ text, isOwn });
  }
  return runs;
}

/** The two texts, earlier one first. */
export function Compared({
  before,
  after,
  isCode = false,
}: {
  readonly before: string;
  readonly after: string;
  readonly isCode?: boolean;
}) {
  const compared = compareWords(before, after);
  return (
    <div class={`compared ${isCode ? 'code' : ''}`}>
      <Side runs={compared.before} name={say('record.before')} tag="del" isCode={isCode} />
      <Side runs={compared.after} name={say('record.after')} tag="ins" isCode={isCode} />
    </div>
  );
}

function Side({
  runs,
  name,
  tag: Tag,
  isCode,
}: {
  readonly runs: readonly Run[];
  readonly name: string;
  readonly tag: 'ins' | 'del';
  readonly isCode: boolean;
}) {
  if (runs.length === 0) return null;
  const shown = runs.map(({ text, isOwn }, n) =>
    isOwn ? <Tag key={n}>{text}</Tag> : <span key={n}>{text}</span>,
  );
  return (
    <div>
      <span class="quiet small">{name}</span>
      {isCode ? (
        <section tabIndex={0} aria-label={name}>
          <pre>{shown}</pre>
        </section>
      ) : (
        <p>{shown}</p>
      )}
    </div>
  );
}
