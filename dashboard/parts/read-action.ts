/** The actions in access logs, in words (docs/access-log.md). */
import { say, type TextKey } from '../texts/texts.ts';

const WORDS: Readonly<Record<string, TextKey>> = {
  read: 'reads.entry',
  vread: 'reads.entry',
  'search-type': 'reads.list',
  'search-compartment': 'reads.list',
  'history-instance': 'reads.history',
  'history-type': 'reads.history',
  'history-system': 'reads.history',
  provenance: 'reads.history',
  timeline: 'reads.timeline',
  series: 'reads.values',
  patterns: 'reads.values',
  context: 'reads.context',
  overview: 'reads.overview',
  changes: 'reads.changes',
  $everything: 'reads.whole',
  $summary: 'reads.summary',
  summary: 'reads.summary',
  export: 'reads.export',
  content: 'reads.document',
  grants: 'reads.consents',
  terminology: 'reads.terms',
  'list-proposals': 'reads.proposals',
  'read-proposal': 'reads.proposals',
  // Occurs only in entries from earlier versions: reading the access log no longer leaves an entry.
  listAccessLog: 'reads.accessLog',
  'open-link': 'reads.link',
  'open-link-file': 'reads.link',
  'link-file-sent': 'reads.link',
  receipt: 'reads.accessLog',
  create: 'reads.write',
  update: 'reads.write',
  patch: 'reads.write',
  delete: 'reads.write',
  bundle: 'reads.write',
  propose: 'reads.write',
  'labs-import': 'reads.write',
  condition: 'reads.condition',
  token_reuse: 'reads.reuse',
  get_context: 'reads.context',
  search_record: 'reads.list',
  read_resource: 'reads.entry',
  list_documents: 'reads.list',
  read_document: 'reads.document',
  find_patterns: 'reads.values',
  compare_periods: 'reads.values',
  what_may_i_do: 'reads.consents',
};

/** Returns an action in words; an unknown action is returned unchanged. */
export function sayAction(action: string): string {
  const word = Object.hasOwn(WORDS, action) ? WORDS[action] : undefined;
  return word === undefined ? action : say(word);
}

/** Returns the options of a drop-down of known actions: each word, with its actions separated by commas. */
export function listActions(): (readonly [actions: string, word: string])[] {
  return [...new Set(Object.values(WORDS))].map((word) => [
    Object.keys(WORDS)
      .filter((action) => WORDS[action] === word)
      .join(','),
    say(word),
  ]);
}
