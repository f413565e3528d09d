/** Checks whether synthetic patients are plausible, using forty rules. Used by tests, not by the service. */
import type { SyntheticData } from '#src/sandbox/synthetic.ts';
import { CODE_RULES } from './code-rules.ts';
import { PEOPLE_RULES } from './people-rules.ts';
import { TIME_RULES } from './time-rules.ts';
import { VALUE_RULES } from './value-rules.ts';
import { type Rule, View } from './view.ts';
import { WHOLE_RULES } from './whole-rules.ts';

/** The rules, numbered from 1. */
export const RULES: readonly Rule[] = [
  ...TIME_RULES,
  ...VALUE_RULES,
  ...CODE_RULES,
  ...PEOPLE_RULES,
  ...WHOLE_RULES,
];

/**
 * Returns the faults by rule number; empty if everything is plausible.
 * @param today `YYYY-MM-DD`
 */
export function implausible(data: SyntheticData, today: string): ReadonlyMap<number, readonly string[]> {
  const view = new View(data, today);
  const faults = new Map<number, readonly string[]>();
  RULES.forEach((rule, index) => {
    const found = rule.check(view);
    if (found.length > 0) faults.set(index + 1, found);
  });
  return faults;
}
