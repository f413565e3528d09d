/** Defines take-backs for the routes of projects. `src/app/takebacks.ts` implements them. */
import type { Page, PageAsked } from '#queries/admin/page.ts';
import type { Person } from '#src/shared/access/member.ts';
import type { NewTakeback, Takeback } from '#src/shared/access/takeback.ts';
import type { Job } from '#src/shared/job.ts';

/** A take-back, and its newest job. */
export interface TakebackRow extends Takeback {
  readonly job: Pick<Job, 'status' | 'progress' | 'error'> | null;
}

/** The services. */
export interface TakebackOrders {
  /** Creates a take-back and plans it. Waits a few seconds for the plan. */
  readonly create: (asked: NewTakeback & { readonly planned_by: Person }) => Promise<TakebackRow>;
  readonly find: (project: string, id: string) => Promise<TakebackRow | undefined>;
  readonly list: (project: string, asked: PageAsked) => Promise<Page<TakebackRow>>;
  /** Starts, undoes or resumes a take-back; undefined if the take-back's state doesn't allow that. */
  readonly carryOut: (id: string, kind: 'start' | 'undo', by: Person) => Promise<TakebackRow | undefined>;
}
