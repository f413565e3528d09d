/** Take-backs for the routes of projects. `src/app/takebacks.ts` implements them. */
import type { Page, PageAsked } from '#queries/admin/page.ts';
import type { Person } from '#src/shared/access/member.ts';
import type { NewTakeback, Takeback } from '#src/shared/access/takeback.ts';
import type { Job } from '#src/shared/job.ts';

/** A take-back, and the newest job that works on it. */
export interface TakebackRow extends Takeback {
  readonly job: Pick<Job, 'status' | 'progress' | 'error'> | null;
}

/** The services. */
export interface TakebackOrders {
  /** Makes one and plans it; waits some seconds for the plan. */
  readonly create: (asked: NewTakeback & { readonly planned_by: Person }) => Promise<TakebackRow>;
  readonly find: (project: string, id: string) => Promise<TakebackRow | undefined>;
  readonly list: (project: string, asked: PageAsked) => Promise<Page<TakebackRow>>;
  /** Starts or undoes one, or goes on with it; undefined if its state doesn't allow it. */
  readonly carryOut: (id: string, kind: 'start' | 'undo', by: Person) => Promise<TakebackRow | undefined>;
}
