/** All read models of the service. To add a read model, list it here. */
import { consents } from './consents/project.ts';
import { history } from './history/project.ts';
import type { Projection } from './projection.ts';
import { projects } from './projects/project.ts';
import { resources } from './resources/project.ts';
import { search } from './search/project.ts';
import { timeline } from './timeline/project.ts';
import { webhooks } from './webhooks/project.ts';

/** All projections, in the order in which `annal rebuild` without a name rebuilds them. */
export const PROJECTIONS: readonly Projection[] = [
  resources,
  search,
  history,
  timeline,
  projects,
  webhooks,
  consents,
];
