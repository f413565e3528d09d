/** Damages messages by removing, duplicating, swapping or replacing bytes, fields and lines. */

/** Returns numbers from 0 up to, but not including, 1. */
export type Random = () => number;

/** Returns a generator of numbers; the same seed gives the same numbers (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Texts that are inserted in the wrong places. */
const PIECES = [
  ...['|', '^', '~', '\\', '&', '\r', '\n', '\x00', '\x0b', '\x1c', '""', '\\X', '\\X00\\', '\\XD800\\'],
  ...['\\.br\\', '\\.sp999\\', '<', '>=', '1e999', '-', '99999999999999999999', '1,5', '20261399', '+0200'],
  ...['MSH|^~\\&|', 'PID|', 'OBR|1|', 'OBX|1|NM|', 'NTE|1||', 'SPM|1|', 'ADD|', 'DSC|', '\uFEFF', '\ud83d'],
  ...[
    'é',
    '\u0000',
    ' ',
    '   ',
    '\t',
    'LN',
    'NM',
    'SN',
    'ED',
    'RP',
    'TM',
    'CQ',
    'http://',
    'urn:oid:',
    '%',
    '/',
  ],
];

/** Returns a copy that has been damaged in one to eight ways. */
export function damaged(bytes: Buffer, random: Random): Buffer {
  let text = bytes.toString('latin1');
  const times = 1 + Math.floor(random() * 8);
  for (let at = 0; at < times; at += 1)
    text = (DAMAGES[Math.floor(random() * DAMAGES.length)] ?? cut)(text, random);
  return Buffer.from(text, 'latin1');
}

type Damage = (text: string, random: Random) => string;

const place = (text: string, random: Random): number => Math.floor(random() * (text.length + 1));
const piece = (random: Random): string =>
  Buffer.from(PIECES[Math.floor(random() * PIECES.length)] ?? '|').toString('latin1');

const insert: Damage = (text, random) => {
  const at = place(text, random);
  return text.slice(0, at) + piece(random) + text.slice(at);
};
const replace: Damage = (text, random) => {
  const at = place(text, random);
  return text.slice(0, at) + piece(random) + text.slice(at + 1 + Math.floor(random() * 6));
};
const lose: Damage = (text, random) => {
  const at = place(text, random);
  return text.slice(0, at) + text.slice(at + 1 + Math.floor(random() * 20));
};
const flip: Damage = (text, random) => {
  const at = place(text, random);
  return text.slice(0, at) + String.fromCharCode(Math.floor(random() * 256)) + text.slice(at + 1);
};
const cut: Damage = (text, random) => (random() < 0.2 ? text.slice(0, place(text, random)) : text);
/** Reorders the parts between delimiters, and duplicates one of the parts. */
const shuffle: Damage = (text, random) => {
  const by = ['\r', '|', '^', '~'][Math.floor(random() * 4)] ?? '|';
  const parts = text.split(by);
  const [from, to] = [place(parts.join(''), random) % parts.length, Math.floor(random() * parts.length)];
  const moved = parts[from] ?? '';
  if (random() < 0.5) parts.splice(from, 1);
  parts.splice(to, 0, moved);
  return parts.join(by);
};

const DAMAGES: readonly Damage[] = [
  insert,
  insert,
  replace,
  replace,
  lose,
  flip,
  flip,
  cut,
  shuffle,
  shuffle,
];
