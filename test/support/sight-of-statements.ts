/**
 * Finds the read-model rows that a statement reads without the condition on what a caller sees. To recognise the condition,
 * `queries/sight.ts` is used to build it for each alias, and the statement's text is searched for it.
 */
import { andSeen, findHome, type Needs, seenByKey } from '#queries/sight.ts';
import { recordKey, searchKey } from '#src/fhir/search/keys.ts';
import { isResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { type Access, categoriesFor } from '#src/shared/access/access.ts';
import type { SentStatement } from './sent-statements.ts';

/** The grant that statements are sent under. */
export interface SentUnder {
  /** The granted record. */
  readonly record: string;
  readonly access: Access;
}

const TABLE =
  /\b((?:resources|history|search|timeline)\.(?:resource|version|client_provenance|entry|string|period|quantity|place|tally))\b(?:\s+(?!(?:where|join|left|cross|on|order|limit|group|union|offset)\b)([a-z]\w*))?/g;
const ALL_NEEDS: readonly Needs[] = ['r', 's', 'rs', 'c', 'u', 'd', 'cu'];
const TOKEN = /'(?:[^']|'')*'|--[^\n]*|\(|\)|\bunion(?:\s+all)?\b/gi;

/**
 * Returns the reads that lack the condition and aren't limited to fully visible types. Each consists of the table, and the
 * query without the queries nested in it, on one line. In the query, `$` stands for values, `seen(alias)` for conditions, and
 * `within(alias)` for conditions on only the place.
 */
export function unseenReads({ text, values }: SentStatement, under: SentUnder): string[] {
  if (text.search(TABLE) < 0) return [];
  const queries = queriesIn(withMarks(text, under));
  const bound = [under.record, searchKey(recordKey(under.record))];
  const namesRecord = values.flat().some((value) => bound.includes(String(value)));
  /** Returns whether a query compares types, by value or literally, and every such type is fully visible. */
  const isWhole = (query: string): boolean => {
    const compared = [...query.matchAll(/\.type = (?:\$(\d+)|'(\w+)')/g)].map(([, n, word]) =>
      n === undefined ? word : values[Number(n) - 1],
    );
    return (
      compared.length > 0 && compared.every((type) => isAllSeen(String(type), under.access, namesRecord))
    );
  };
  // Rows in `search` contain hashes of ids, and bodies are read only for ids that the statement has found.
  const follows = (table: string, query: string) =>
    table.startsWith('search.') || /\br\.id = p\.id\b/.test(query);
  const leads = queries.filter((query) => !/\br\.id = p\.id\b/.test(query));
  const isLed = leads.some((query) => query.includes('seen(')) || queries.some(isWhole);
  const isKeyed = (table: string) =>
    table === 'search.entry' && namesRecord && !/\bfrom resources\.resource\b/.test(text);
  return queries.flatMap((query) =>
    [...query.matchAll(TABLE)].flatMap(([, table = '', alias = '']) => {
      if (query.includes(`seen(${alias})`) || isWhole(query) || isKeyed(table)) return [];
      if (isLed && follows(table, query)) return [];
      return [`${table} in: ${query.replace(/\$\d+/g, '$').replace(/\s+/g, ' ').trim()}`];
    }),
  );
}

/** Returns whether a grant covers all resources of a type that a statement can find. */
function isAllSeen(type: string, access: Access, namesRecord: boolean): boolean {
  if (!isResourceType(type)) return false;
  if (findHome(type) === 'directory') return true;
  return namesRecord && [...'rs'].every((letter) => categoriesFor(access, type, letter) === 'all');
}

/** Replaces the conditions for all aliases, longest alias first, because some aliases contain others. */
function withMarks(text: string, under: SentUnder): string {
  const aliases = new Set([...text.matchAll(TABLE)].map(([, , alias = '']) => alias));
  return [...aliases]
    .flatMap((alias) => conditionsOf(alias, under))
    .sort((one, other) => other.text.length - one.text.length)
    .reduce((marked, { pattern, mark }) => marked.replaceAll(pattern, mark), text);
}

interface Condition {
  readonly text: string;
  readonly pattern: RegExp;
  readonly mark: string;
}

const known = new WeakMap<SentUnder, Map<string, readonly Condition[]>>();

/** Returns all conditions on the rows of an alias. */
function conditionsOf(alias: string, under: SentUnder): readonly Condition[] {
  const ofGrant = known.get(under) ?? new Map<string, readonly Condition[]>();
  known.set(under, ofGrant);
  const before = ofGrant.get(alias);
  if (before !== undefined) return before;
  const sees = { ownerId: '', within: under };
  const bind = (_: unknown, type: string) => `§::${type}`;
  const texts = new Set([seenByKey(alias)]);
  for (const of of ['version', 'current', 'item'] as const)
    for (const type of [undefined, ...TYPE_NAMES])
      for (const needs of ALL_NEEDS)
        texts.add(andSeen(sees, needs, { as: alias, of, type }, bind).replace(/^and /, ''));
  const made = [...texts].filter((text) => text !== 'false').map((text) => conditionOf(alias, text));
  ofGrant.set(alias, made);
  return made;
}

function conditionOf(alias: string, text: string): Condition {
  const isPlace = !/categories|\.type = any/.test(text);
  const pattern = text
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\s+/g, '\\s+')
    .replaceAll('§', `(?:\\$\\d+|'[^']*'|array\\[[^\\]]*\\])`);
  return {
    text,
    pattern: new RegExp(`(?<![\\w.]|or )${pattern}${isPlace ? '(?!\\s+or\\b)' : ''}`, 'g'),
    mark: isPlace ? `within(${alias})` : `seen(${alias})`,
  };
}

/**
 * Returns a statement's queries, each without the queries nested in it: the statement, queries in brackets, and each part of a
 * union.
 */
function queriesIn(text: string): string[] {
  const found: { text: string }[] = [];
  const open = (): { text: string } => {
    const query = { text: '' };
    found.push(query);
    return query;
  };
  const outer: { text: string }[] = [];
  let [at, last] = [open(), 0];
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    at.text += text.slice(last, match.index);
    last = match.index + token.length;
    if (token.startsWith('--')) continue;
    if (token === '(') {
      outer.push(at);
      at.text += '(';
      if (/^\s*(?:select|with|values)\b/i.test(text.slice(last, last + 200))) at = open();
    } else if (token === ')') {
      at = outer.pop() ?? at;
      at.text += ')';
    } else if (/^union/i.test(token)) at = open();
    else at.text += token;
  }
  at.text += text.slice(last);
  return found.map((query) => query.text);
}
