/** Removes references from JSON text; everything else stays unchanged, including the digits of numbers. */
import type { Steps } from '#src/shared/load/slices.ts';

/** The number of characters processed in one step. */
const STEP = 200_000;
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [BRACE, BRACKET, END_BRACE, END_BRACKET] = [0x7b, 0x5b, 0x7d, 0x5d];

/** An object or list in the text that hasn't ended yet. */
interface Open {
  /** Undefined for a list. */
  readonly members: Member[] | undefined;
  /** The type that the object's reference names, if the reference is to be removed. */
  type: string | undefined;
}

/** A member: where its name and value begin and end together, and where its value begins and ends. */
interface Member {
  readonly from: number;
  readonly name: string;
  value: number;
  to: number;
}

/** A part of the text, and its replacement. */
type Edit = readonly [from: number, to: number, replacement: string];

/**
 * Returns the text without some references: an object loses its members `reference` and `_reference`, and gets `type` if
 * nothing else is left, because a Reference must not be empty.
 * @param text JSON, or part of a JSON text that begins and ends between values, such as some of a Bundle's entries
 * @param findLeftOutType returns the type that a reference names, if the reference is to be removed
 */
export function* withoutReferences(
  text: string,
  findLeftOutType: (reference: string) => string | undefined,
): Steps<string> {
  const edits: Edit[] = [];
  const open: Open[] = [];
  let top: Open | undefined;
  let stepped = 0;
  const endMember = (at: number): void => {
    const member = top?.members?.at(-1);
    if (top === undefined || member === undefined || member.to >= 0) return;
    member.to = at;
    if (member.name !== 'reference' || text.charCodeAt(member.value) !== QUOTE) return;
    const value: unknown = JSON.parse(text.slice(member.value, at));
    if (typeof value === 'string') top.type = findLeftOutType(value);
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const from = at;
      for (at += 1; at < text.length && text.charCodeAt(at) !== QUOTE; at += 1)
        if (text.charCodeAt(at) === BACKSLASH) at += 1;
      const last = top?.members?.at(-1);
      if (top?.members !== undefined && (last === undefined || last.to >= 0))
        top.members.push({ from, name: text.slice(from + 1, at), value: -1, to: -1 });
    } else if (code === COLON) {
      const member = top?.members?.at(-1);
      if (member?.value === -1) member.value = at + 1;
    } else if (code === COMMA) endMember(at);
    else if (code === BRACE || code === BRACKET) {
      if (top !== undefined) open.push(top);
      top = { members: code === BRACE ? [] : undefined, type: undefined };
    } else if (code === END_BRACE || code === END_BRACKET) {
      endMember(at);
      if (top?.members !== undefined && top.type !== undefined) edits.push(...leftOut(top.members, top.type));
      top = open.pop();
    }
    if (at - stepped < STEP) continue;
    stepped = at;
    yield;
  }
  return edited(text, edits);
}

const LEFT_OUT: ReadonlySet<string> = new Set(['reference', '_reference']);

/** Returns the edits that remove an object's reference, including the commas that are no longer needed between its members. */
function leftOut(members: readonly Member[], type: string): Edit[] {
  const [first, last] = [members[0], members.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (members.every(({ name }) => LEFT_OUT.has(name)))
    return [[first.from, last.to, `"type":${JSON.stringify(type)}`]];
  let kept = false;
  return members.flatMap((member, index): Edit[] => {
    if (!LEFT_OUT.has(member.name)) {
      kept = true;
      return [];
    }
    const [before, after] = [members[index - 1], members[index + 1]];
    if (kept && before !== undefined) return [[before.to, member.to, '']];
    return after === undefined ? [] : [[member.from, after.from, '']];
  });
}

/** Applies edits. An edit inside another one is dropped. */
function edited(text: string, edits: Edit[]): string {
  if (edits.length === 0) return text;
  edits.sort(([a], [b]) => a - b);
  const parts: string[] = [];
  let at = 0;
  for (const [from, to, replacement] of edits) {
    if (from < at) continue;
    parts.push(text.slice(at, from), replacement);
    at = to;
  }
  parts.push(text.slice(at));
  return parts.join('');
}
