/** The table `needed.txt`: the facts that each record's contexts must contain. */
import { readFileSync } from 'node:fs';

/** One record and one task. */
export interface Needed {
  /** The record's name in the sandbox's cast. */
  readonly story: string;
  /** The task, in a caller's words. */
  readonly task: string;
  /** Names of facts (`fact.ts`). */
  readonly facts: readonly string[];
}

/** All of them. */
export function readNeeded(): Needed[] {
  const [, table = ''] = readFileSync(new URL('needed.txt', import.meta.url), 'utf8').split('\n=====\n');
  return table
    .trim()
    .split('\n\n')
    .flatMap((record) => {
      const [title = '', ...rest] = record.split('\n');
      const [, story = '', illness = ''] = /^(.*) \(([^)]*)\)$/.exec(title) ?? [];
      return rest
        .join('\n')
        .split(/^ {2}(?! )/m)
        .filter((part) => part.trim() !== '')
        .map((part) => {
          const [, task = '', facts = ''] = /^([^:]+): ([\s\S]*)$/.exec(part) ?? [];
          return {
            story,
            task: task === 'follow-up' ? `follow-up: ${illness}` : task,
            facts: facts.split(';').map((fact) => fact.replace(/\s+/g, ' ').trim()),
          };
        });
    });
}
