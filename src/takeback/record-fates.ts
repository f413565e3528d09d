/** Decides what to do with the resources in one record or directory. */
import type { Pool } from 'pg';
import { nameCause, nameUndoCause, type Selection } from '#commands/takeback/selection.ts';
import {
  decideFate,
  decideUndo,
  type Fate,
  type PastResource,
  type Staying,
  type Step,
} from '#commands/takeback/steps.ts';
import type { TakebackStream } from '#src/operations/takebacks/takebacks.ts';
import { countOthers, readResources } from './history.ts';

/** The order: take back the selected versions, or undo a take-back. */
export interface Asked {
  readonly id: string;
  readonly kind: 'start' | 'undo';
  readonly selection: Selection;
}

/** The decision about a stream. */
export interface StreamFate {
  /** Selected versions. */
  readonly selected: number;
  readonly steps: readonly Step[];
  readonly stays: readonly Staying[];
  /** Number of resources for which an earlier attempt has already written its step. */
  readonly written: number;
  /** Those of them that nobody has changed since, with their current versions. */
  readonly current: ReadonlyMap<string, number>;
}

/** Number of resources whose versions are read in one statement. */
const AT_A_TIME = 500;

/** Reads the versions of a stream's resources, and decides what to do with the resources. */
export async function decideStream(
  pool: Pool,
  { record, resources }: TakebackStream,
  asked: Asked,
): Promise<StreamFate> {
  const cause = asked.kind === 'undo' ? nameUndoCause(asked.id) : nameCause(asked.id);
  let [selected, written] = [0, 0];
  const current = new Map<string, number>();
  const steps: Step[] = [];
  const stays: Staying[] = [];
  for (let from = 0; from < resources.length; from += AT_A_TIME) {
    for (const resource of await readResources(pool, resources.slice(from, from + AT_A_TIME))) {
      const fate = decide(resource, asked);
      selected += fate.selected;
      if (fate.step !== undefined) steps.push(fate.step);
      else if (resource.versions.some(({ metadata }) => metadata.cause === cause)) written += 1;
      if (resource.versions.at(-1)?.metadata.cause === cause)
        current.set(resource.id, resource.versions.length);
      if (fate.stays !== undefined) stays.push(fate.stays);
    }
  }
  const kept =
    record === null ? steps : await withPatient(pool, record, { steps, stays, current, kind: asked.kind });
  return { selected, steps: kept, stays, written, current };
}

function decide(resource: PastResource, { id, kind, selection }: Asked): Fate {
  return kind === 'undo' ? decideUndo(resource, id) : decideFate(resource, selection, id);
}

/**
 * Returns the steps in an order in which the record always accepts them: its Patient is restored first and deleted last. The
 * Patient stays if others have data in the record. Everything stays if others have deleted the Patient. An undo deletes a
 * Patient that was deleted before the take-back, unless others have written to the record since the Patient was restored.
 */
async function withPatient(
  pool: Pool,
  record: string,
  {
    steps,
    stays,
    current,
    kind,
  }: Pick<StreamFate, 'steps' | 'current'> & { readonly stays: Staying[]; readonly kind: Asked['kind'] },
): Promise<readonly Step[]> {
  const own = steps.find(({ id }) => id === record);
  const others = steps.filter(({ id }) => id !== record);
  if (own === undefined) {
    if (others.length === 0 || !(await isDeleted(pool, record))) return others;
    stays.push(...others.map((step) => staying(step, 'patient_deleted')));
    return [];
  }
  if (!own.removes) return [own, ...others];
  const known = others.filter(({ removes }) => removes || kind === 'undo').map(({ id }) => id);
  if (kind === 'undo') known.push(...current.keys());
  const since = kind === 'undo' ? own.current : null;
  if ((await countOthers(pool, record, [record, ...known], since)) === 0) return [...others, own];
  stays.push(staying(own, 'record_in_use'));
  return others;
}

function staying({ type, id, current }: Step, because: Staying['because']): Staying {
  return { type, id, version: current, because };
}

// Index: the primary key of resources.resource.
async function isDeleted(pool: Pool, id: string): Promise<boolean> {
  const { rows } = await pool.query<{ deleted: boolean }>(
    'select deleted from resources.resource where id = $1',
    [id],
  );
  return rows[0]?.deleted === true;
}
