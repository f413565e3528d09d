/**
 * Limits lists of faults: even a request with a million faults gets an answer that a process can build and a person can read.
 */
import type { Issue } from './issue.ts';

/** The maximum number of faults that one answer lists. */
export const MAX_FAULTS = 100;

/** Collects faults: keeps the first `most` and counts the rest. */
export class Faults {
  readonly #kept: Issue[] = [];
  #more = 0;

  constructor(private readonly most = MAX_FAULTS) {}

  /** Returns whether there are no faults. */
  get none(): boolean {
    return this.#kept.length === 0;
  }

  /** Returns whether further faults are only counted, so that their text needn't be made. */
  get full(): boolean {
    return this.#kept.length >= this.most;
  }

  /** Adds a fault. If it is a note about unlisted faults, their number is added to the count. */
  add(issue: Issue): void {
    if (issue.unlisted !== undefined) this.#more += issue.unlisted;
    else if (this.full) this.#more += 1;
    else this.#kept.push(issue);
  }

  /** Adds faults one by one, because there may be more than a function call can take as arguments. */
  addAll(issues: Iterable<Issue>): void {
    for (const issue of issues) this.add(issue);
  }

  /** Counts faults that are found after the list is full. */
  count(number: number): void {
    this.#more += number;
  }

  /** Returns the faults in the order in which they were found, followed by a note about unlisted faults. */
  list(): Issue[] {
    return this.#more === 0 ? [...this.#kept] : [...this.#kept, unlisted(this.#more)];
  }
}

/** Returns at most `MAX_FAULTS` issues and a note about the rest. Lists that are already limited stay unchanged. */
export function listed(issues: readonly Issue[]): readonly Issue[] {
  if (issues.length <= MAX_FAULTS) return issues;
  const faults = new Faults();
  faults.addAll(issues);
  return faults.list();
}

function unlisted(number: number): Issue {
  const diagnostics = `${number} more ${number === 1 ? 'fault is' : 'faults are'} not listed`;
  return { code: 'informational', diagnostics, unlisted: number };
}
