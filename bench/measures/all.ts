/** The rows of the performance table, in its order. */
import type { Measure } from '../measure.ts';
import { beside } from './beside.ts';
import { codes } from './codes.ts';
import { cold } from './cold.ts';
import { context } from './context.ts';
import { create } from './create.ts';
import { grants } from './grants.ts';
import { growth } from './growth.ts';
import { history } from './history.ts';
import { hostile } from './hostile.ts';
import { insight } from './insight.ts';
import { limits } from './limits.ts';
import { lists } from './lists.ts';
import { instances } from './machine/instances.ts';
import { processes } from './machine/processes.ts';
import { slowDisk } from './machine/slow-disk.ts';
import { projected } from './projected.ts';
import { projects } from './projects.ts';
import { read } from './read.ts';
import { rebuild } from './rebuild.ts';
import { receipts } from './receipts.ts';
import { everything, summary } from './record.ts';
import { search } from './search.ts';
import { tokens } from './tokens.ts';
import { transaction } from './transaction.ts';
import { visible } from './visible.ts';
import { webhooks } from './webhooks.ts';
import { writes } from './writes.ts';

/** All measures. */
export const MEASURES: readonly Measure[] = [
  create,
  read,
  transaction,
  writes,
  history,
  visible,
  rebuild,
  beside,
  growth,
  cold,
  instances,
  processes,
  slowDisk,
  search,
  projected,
  lists,
  codes,
  everything,
  summary,
  context,
  receipts,
  insight,
  limits,
  tokens,
  grants,
  projects,
  webhooks,
  hostile,
];
