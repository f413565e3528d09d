/** A take-back: undoes what a source, a key, an application or an AI wrote (docs/take-back.md). */
import type { JsonObject } from '../json/json.ts';
import type { Micros } from '../time/time.ts';
import type { Environment } from './caller.ts';
import type { Person } from './member.ts';

export type TakebackState = 'planning' | 'planned' | 'running' | 'done' | 'undoing' | 'undone';

/** A take-back as stored. */
export interface Takeback {
  readonly id: string;
  readonly project: string;
  readonly environment: Environment;
  readonly selected: JsonObject;
  readonly since_at: Micros | null;
  readonly until_at: Micros;
  readonly reason: string | null;
  readonly state: TakebackState;
  readonly plan: JsonObject | null;
  readonly result: JsonObject | null;
  readonly undo_result: JsonObject | null;
  readonly planned_by: Person | null;
  readonly started_by: Person | null;
  readonly undone_by: Person | null;
  readonly created_at: Micros;
  readonly started_at: Micros | null;
  readonly finished_at: Micros | null;
  readonly undone_at: Micros | null;
}

/** A take-back to be planned; without `until_at`, it includes everything until now. */
export interface NewTakeback
  extends Pick<Takeback, 'project' | 'environment' | 'selected' | 'since_at' | 'reason' | 'planned_by'> {
  readonly until_at: Micros | null;
}
