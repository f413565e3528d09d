/**
 * Reads units as people, devices and laboratories write them, for laboratory imports and REST v1. It first looks up the
 * spelling in a table, and then applies UCUM's grammar.
 */

import { createRequire } from 'node:module';
import { cut } from '#src/shared/cut.ts';
import { AMBIGUOUS, SPELLINGS, WORDS } from './unit-spellings.ts';

/** One-letter units that laboratories use with their UCUM meaning. Other letters are ambiguous: `C`, `F`, `S`, `a`. */
const LETTERS = new Set([...'gmsLlUJWNVhd%']);
/**
 * Units with a prefix above kilo that laboratories really use. In text in capitals, `M` usually means milli: `MG/L`, `MMOL/L`.
 */
const LARGE =
  /^[MGTPEZY](?![a-z]?(?:Pa|Hz|Bq|Gy|J|W|eV)$|(?:a|y)$)(?:[a-zA-Z]|mol|eq|osm|osmol|\[iu\]|\[IU\])$/;
/** Powers of ten: `10^9`, `10E9`, `x10e9`, `x10*9`, `10**9`, `10 9`. */
const POWER = /^[xX*]?10(?:\^|\*{1,2}|[eE])?(3|6|9|12)(?=\/)/;
/** Thousands and millions per microlitre, which equals a cubic millimetre: `K/cumm`, `Thousand/uL`. */
const THOUSANDS = /^(?:k|thou(?:s|sands?)?|tsd)\/(?:ul|cumm|cu\.?mm|mm3)$/i;
const MILLIONS = /^(?:m|mill?|mio|millions?)\/(?:ul|cumm|cu\.?mm|mm3)$/i;
/** `/24 hr`: per day of sample collection. */
const PER_24_HOURS = /\/24(?:h|hr|hrs|hours?|std)$/i;
/** `(calc)` says how a value was obtained, not its unit. */
const CALCULATED = /\((?:calc|calculated)\.?\)$/i;

/** `IU`, including its French and German forms. */
const INTERNATIONAL = /(^|\/)([mukM]?)(?:IU|UI|IE)(?=\/|$)/g;
/** `mcg`, `mcL`, `mcmol`. */
const MICRO = /(^|\/)mc(?=(?:g|mol|[lL])(?:\/|$))/g;

/**
 * Returns a unit in the form used for comparison: without blanks, and with one spelling for each sign that can be typed in
 * several ways.
 */
function compactUnit(text: string): string {
  return text
    .replaceAll(/\s+/g, '')
    .replaceAll(/[µμ]/g, 'u')
    .replaceAll('²', '2')
    .replaceAll('³', '3')
    .replaceAll('º', '°')
    .replaceAll('℃', '°C')
    .replaceAll('℉', '°F')
    .replaceAll(MICRO, '$1u')
    .replaceAll(INTERNATIONAL, '$1$2[IU]');
}

/**
 * Converts a laboratory's unit to UCUM; returns undefined if the unit is invalid or ambiguous.
 * @param named whether the message says that it is a UCUM unit
 */
export function toUcum(text: string, named = false): string | undefined {
  if (named && isUcum(text)) return text;
  const read = readUnit(text);
  if (read === undefined || !('ucum' in read)) return undefined;
  const ucum = read.ucum.replace(POWER, '10*$1');
  const isListed = SPELLINGS.has(compactUnit(text)) || spelled(compactUnit(text)) !== undefined;
  const isOneWord = !/[A-Za-z]\s+[A-Za-z]/.test(text.trim());
  return isListed || (isOneWord && isCertain(ucum)) ? withLitres(ucum) : undefined;
}

/** Returns whether a unit means the same in a laboratory's text as in UCUM. */
function isCertain(unit: string): boolean {
  if (/^\d/.test(unit) && !/^10\*\d+\//.test(unit)) return false;
  return unit
    .split(/[/.]/)
    .map((part) => part.replace(/\{[^}]*\}$/, ''))
    .every((part) => {
      if (AMBIGUOUS.has(part) || LARGE.test(part)) return false;
      return part.length !== 1 || LETTERS.has(part) || part === '1';
    });
}

/** Returns the unit for a spelling that matches a pattern; undefined if it matches none. */
function spelled(compact: string): string | undefined {
  if (THOUSANDS.test(compact)) return '10*3/uL';
  if (MILLIONS.test(compact)) return '10*6/uL';
  const calculated = compact.replace(CALCULATED, '');
  if (calculated !== compact) return calculated === '' ? '{calc}' : toUcum(calculated);
  const daily = compact.replace(PER_24_HOURS, '');
  const amount = daily === compact ? undefined : toUcum(daily);
  return amount === undefined ? WORDS.get(compact.toLowerCase()) : `${amount}/(24.h)`;
}

/**
 * Returns the warning about an uncertain unit, which gets no code. If the text could stand for several units, the warning
 * suggests them.
 */
export function unitKept(text: string): string {
  const said = `the unit ${cut(text, 60)} is kept as text`;
  const meant = AMBIGUOUS.get(compactUnit(text));
  return meant === undefined
    ? `${said}: it is not certain which UCUM unit it means`
    : `${said}: it is ambiguous; write ${meant.join(', or ')}`;
}

/**
 * The result for a unit that a person typed: the UCUM unit, or the units that the text could stand for; undefined if it isn't
 * a unit.
 */
type TypedUnit = { readonly ucum: string } | { readonly ambiguous: readonly string[] } | undefined;

/**
 * Reads a unit that a person or an app typed. Common spellings take precedence over UCUM, where some of them are units that
 * nobody uses (`pH` picohenry, `ft` femtotonnes); other UCUM units are returned unchanged.
 */
export function readUnit(text: string): TypedUnit {
  const compact = compactUnit(text);
  if (compact === '') return undefined;
  const ambiguous = AMBIGUOUS.get(compact);
  if (ambiguous !== undefined) return { ambiguous };
  const listed = SPELLINGS.get(compact);
  if (listed !== undefined) return { ucum: listed };
  if (isUcum(text)) return { ucum: text };
  const powered = compact.replace(POWER, '10*$1');
  const ucum = spelled(compact) ?? withLitres(powered.split('/').map(partToUcum).join('/'));
  return isUcum(ucum) ? { ucum } : undefined;
}

/** Converts part of a unit to UCUM if the part has a common spelling: `hr`, `day`. */
function partToUcum(part: string): string {
  const ucum = SPELLINGS.get(part) ?? WORDS.get(part.toLowerCase());
  return ucum === undefined || ucum.includes('/') ? part : ucum;
}

/** Returns a unit with `L` for litres, because UCUM has two symbols for the litre. */
function withLitres(unit: string): string {
  return unit.replaceAll(/(^|\/)([fpnumcd]?)l(?=\/|$)/g, '$1$2L');
}

type Library = typeof import('@lhncbc/ucum-lhc');

let library: Library | undefined;

/** Returns UCUM's library. It is loaded on first use, because loading takes a tenth of a second. */
export function ucumLibrary(): ReturnType<Library['UcumLhcUtils']['getInstance']> {
  library ??= createRequire(import.meta.url)('@lhncbc/ucum-lhc') as Library;
  return library.UcumLhcUtils.getInstance();
}

/** Maximum number of cached codes. A few hundred are in common use, but clients may invent any number. */
const REMEMBERED = 5_000;
const known = new Map<string, boolean>();

/** Returns whether the given code is a UCUM unit (case-sensitive). */
export function isUcum(code: string): boolean {
  const before = known.get(code);
  if (before !== undefined) return before;
  const valid = check(code);
  if (known.size >= REMEMBERED) known.clear();
  known.set(code, valid);
  return valid;
}

/** Checks a code before passing it to the library, because the library trims blanks and throws for some invalid codes. */
function check(code: string): boolean {
  if (!/^[!-~]{1,100}$/.test(code)) return false;
  try {
    return ucumLibrary().validateUnitString(code).status === 'valid';
  } catch {
    return false;
  }
}
