/** Builds the SQL statement for one step of a plan. */
import type { Binds } from '../database/binds.ts';
import type { Step } from './plan.ts';
import type { Source } from './selection.ts';
import { entrySort } from './statements/entry-sort.ts';
import { candidates, resourceWalk, total, type Wanted } from './statements/page.ts';
import { valueWalk } from './statements/value-walk.ts';

/**
 * Returns a step's SQL with its values bound. The SQL returns one row with the columns of `framed`.
 * @param all the selection that a walk's total counts; default: the walk's own selection
 */
export function stepStatement(wanted: Wanted, step: Step, binds: Binds, all = wanted.selection): string {
  const counted = (source: Source | undefined) => (wanted.total ? total(all, source, binds) : undefined);
  switch (step.kind) {
    case 'sort':
      return candidates(wanted, step.source, step.most, binds);
    case 'sort-entries':
      return entrySort(wanted, step.source, counted(step.source), binds);
    case 'walk-resources':
      return resourceWalk(wanted, counted(step.counted), step.most, binds);
    case 'walk-values':
      return valueWalk(wanted, step.path, counted(step.counted), binds);
  }
}
