/** Builds the Bundle of a search: matches, included resources, and messages. */

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
  /** True if more resources belong to the page than are shown. */
  readonly more: boolean;
  /** Cursors of other pages. */
  readonly pages: Pages;
  /** Effective parameters in order, without the cursor. */
  readonly used: readonly [key: string, text: string][];
  /** Ignored parameters, to report. */
  readonly ignored: readonly Issue[];
  readonly subset: Subset | undefined;
}

/**
 * Answers 200 with a searchset.
 * @param base of the interface, with a trailing slash
 * @param path of the search below it
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
    // `_elements` are only those of the matches.
    ...page.included.map(entry('include', typeof subset === 'string' ? subset : undefined)),
  ];
  const issues = listOutcomeIssues(page);
  // First, so that readers know about the problem before the matches.
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

/** Returns the JSON text of the entry with messages about the search. */
export function outcomeEntry(issues: readonly Issue[]): string {
  return `{"resource":${operationOutcome(issues)},"search":{"mode":"outcome"}}`;
}

/** Returns an issue as a warning, because the request was answered. */
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
