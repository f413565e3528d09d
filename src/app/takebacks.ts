/** Assembles take-backs: their rows and the jobs that carry them out. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { readPage } from '#queries/admin/page.ts';
import type { OperationServices } from '../http/ports/operations.ts';
import type { TakebackOrders, TakebackRow } from '../http/ports/takebacks.ts';
import { Takebacks } from '../operations/takebacks/takebacks.ts';
import type { Person } from '../shared/access/member.ts';
import type { TakebackState } from '../shared/access/takeback.ts';

/** How long to wait for a plan, and how often to check for it, in ms. */
const PLAN_MS = 5_000;
const LOOK_MS = 200;

/** The states in which a take-back can be started or undone. */
const FROM: Readonly<Record<'start' | 'undo', readonly TakebackState[]>> = {
  start: ['planned', 'running'],
  undo: ['done', 'undoing'],
};
const KINDS = { plan: 'takeback-plan', start: 'takeback', undo: 'takeback-undo' } as const;

// Index: job_of_kind (kind, created_at, id), backwards.
const ROWS = `
select t.*, j.job from operations.takeback t
left join lateral (
  select json_build_object('status', j.status, 'progress', j.progress, 'error', j.error) as job
    from operations.job j
   where j.kind = case t.state when 'planning' then '${KINDS.plan}' when 'planned' then '${KINDS.plan}'
                              when 'undoing' then '${KINDS.undo}' when 'undone' then '${KINDS.undo}' else '${KINDS.start}' end
     and j.subject = t.id
   order by j.created_at desc limit 1) j on true`;

/** Returns whether a take-back has failed: nothing is working on it any more. */
function hasFailed(row: TakebackRow | undefined): boolean {
  return row?.job?.status === 'failed';
}

/** Opens them. */
export function openTakebacks(pool: Pool, jobs: OperationServices['jobs']): TakebackOrders {
  const takebacks = new Takebacks(pool);
  const read = async (id: string): Promise<TakebackRow | undefined> => {
    const { rows } = await pool.query<TakebackRow>(`${ROWS} where t.id = $1`, [id]);
    return rows[0];
  };
  const work = (kind: keyof typeof KINDS, id: string, by: Person) =>
    jobs.start({ kind: KINDS[kind], subject: id, options: {}, started_by: by });
  return {
    async create(asked) {
      const made = await takebacks.create(asked);
      await work('plan', made.id, asked.planned_by);
      for (let waited = 0; ; waited += LOOK_MS) {
        const row = await read(made.id);
        if (row === undefined) throw new TypeError('the take-back is gone');
        if (row.state !== 'planning' || row.job?.status === 'failed' || waited >= PLAN_MS) return row;
        await delay(LOOK_MS);
      }
    },
    async find(project, id) {
      const row = await read(id);
      return row?.project === project ? row : undefined;
    },
    // Index: takeback_of_project (project, created_at, id).
    list: (project, asked) =>
      readPage(pool, { name: 'takebacks', rows: `${ROWS} where t.project = $1`, values: [project] }, asked),
    async carryOut(id, kind, by) {
      const from =
        kind === 'undo' && hasFailed(await read(id)) ? [...FROM.undo, 'running' as const] : FROM[kind];
      const begun = await takebacks.begin(id, kind, from, by);
      if (begun === undefined) return undefined;
      await work(kind, id, by);
      return read(id);
    },
  };
}
