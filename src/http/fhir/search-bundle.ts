/** Builds the Bundle for a search: matches, included resources, and messages. */

import { MAX_INCLUDED, MAX_ROUNDS } from '#queries/include/include.ts';
import type { CurrentResource } from '#queries/read.ts';
import { operationOutcome } from '#src/fhir/outcome.ts';
import type { Subset } from '#src/fhir/summary.ts';
import type { Issue } from '#src/shared/issue.ts';
import { type Answer, FHIR_JSON } from '../answer/answer.ts';
import { bundleText, type Pages, pageLinks } from './bundle/bundle-text.ts';
import { cut } from './subset.ts';

/** A page to answer. */
export interface FoundPage {
  readonly total?: number;
  readonly matches: readonly CurrentResource[];
  readonly included: readonly CurrentResource[];
  /** True if the page contains more resources than it shows. */
  readonly more: boolean;
  /** Cursors for other pages. */
  readonly pages: Pages;
  /** Effective parameters in order, without the cursor. */
  readonly used: readonly [key: string, text: string][];
  /** Ignored parameters, to report. */
  readonly ignored: readonly Issue[];
  readonly subset: Subset | undefined;
}

/**
 * Returns 200 with a searchset.
 * @param base the interface's base URL, with a trailing slash
 * @param path the search's path below the base
 */
export function answerSearch(base: string, path: string, page: FoundPage): Answer {
  const { subset } = page;
  const entry =
    (mode: 'match' | 'include', part: Subset | undefined) =>
    ({ type, id, body }: CurrentResource) => {
      const whole = body ?? '';
      const shown = part === undefined ? whole : cut({ type, body: whole }, part);
      return `{"fullUrl":"${base}${type}/${id}","resource":${shown},"search":{"mode":"${mode}"}}`;
    };
  const entries = [
    ...page.matches.map(entry('match', subset)),
    // `_elements` applies only to matches.
    ...page.included.map(entry('include', typeof subset === 'string' ? subset : undefined)),
  ];
  const issues = listOutcomeIssues(page);
  // The outcome comes first, so that readers learn about the problem before they read the matches.
  if (issues.length > 0) entries.unshift(outcomeEntry(issues));
  const self = new URLSearchParams([...page.used]);
  const links = pageLinks(base + path, self, page.pages);
  const total = page.total === undefined ? {} : { total: page.total };
  return {
    status: 200,
    headers: { 'Content-Type': FHIR_JSON },
    body: bundleText('searchset', entries, { ...total, links }),
    shown: page.matches.length + page.included.length,
  };
}

/** Returns the JSON text of the entry that contains messages about the search. */
export function outcomeEntry(issues: readonly Issue[]): string {
  return `{"resource":${operationOutcome(issues)},"search":{"mode":"outcome"}}`;
}

/** Returns an issue as a warning, because the request was carried out. */
export function asWarning(issue: Issue): Issue {
  return { ...issue, severity: 'warning' };
}

function listOutcomeIssues({ ignored, more }: FoundPage): readonly Issue[] {
  if (!more) return ignored;
  return [
    ...ignored,
    {
      code: 'informational',
      diagnostics: `some included resources are missing: a page has at most ${MAX_INCLUDED} included resources, and :iterate repeats at most ${MAX_ROUNDS} times; ask for fewer matches with _count`,
    },
  ];
}
