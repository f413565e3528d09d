/** Decides, based on a resource's versions, how a take-back or its undo changes the resource. Pure. */
import type { EventMetadata } from '#src/events/metadata.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { isOfTakeback, isSelected, nameCause, nameUndoCause, type Selection } from './selection.ts';

/** A version without its body. */
export interface PastVersion {
  readonly version: number;
  readonly isDeletion: boolean;
  readonly at: Micros;
  readonly metadata: EventMetadata;
}

/** A resource with all its versions, starting at 1. */
export interface PastResource {
  readonly type: string;
  readonly id: string;
  readonly versions: readonly PastVersion[];
}

/** A write that is valid only while the resource still has the version on which the write was decided. */
export interface Step {
  readonly type: string;
  readonly id: string;
  readonly current: number;
  /** The version whose content becomes the next version; 0 if there is none, in which case the resource is deleted. */
  readonly restores: number;
  /** True if the restored version was a deletion, or if there is none. */
  readonly removes: boolean;
  /** The author of the restored version, who stays the author of its content. */
  readonly author?: NonNullable<EventMetadata['author']>;
}

/** The reason why a selected resource stays as it is. */
export type StaysBecause = 'changed_since' | 'record_in_use' | 'patient_deleted';

/** A resource that stays as it is. */
export interface Staying {
  readonly type: string;
  readonly id: string;
  /** The resource's current version. */
  readonly version: number;
  readonly because: StaysBecause;
}

/** The decision on a resource. */
export interface Fate {
  /** Number of selected versions that haven't been taken back yet. */
  readonly selected: number;
  readonly step?: Step;
  readonly stays?: Staying;
}

const UNTOUCHED: Fate = { selected: 0 };

/**
 * Decides what to take back: the last version that isn't selected is restored, unless others have changed the resource since
 * then.
 * @param takeback the take-back's id: a resource that it has already changed is left alone
 */
export function decideFate(resource: PastResource, selection: Selection, takeback: string): Fate {
  const history = new Meanings(resource);
  const { last } = history;
  const chosen = (version: number): boolean => {
    const found = history.at(version);
    return found !== undefined && isSelected(selection, found);
  };
  // Each of these versions was written on top of the previous one; versions that were taken back in between aren't included.
  const standing: number[] = [];
  for (let version = history.meaning(last); version > 0; version = history.meaning(version - 1))
    standing.push(version);
  const selected = standing.filter(chosen).length;
  if (!chosen(standing[0] ?? 0)) {
    const isDone = history.at(last)?.metadata.cause === nameCause(takeback);
    return selected === 0 || isDone ? UNTOUCHED : { selected, stays: stays(resource, 'changed_since') };
  }
  const step = history.restore(standing.find((version) => !chosen(version)) ?? 0);
  return step === undefined ? UNTOUCHED : { selected, step };
}

/**
 * Decides how to undo a take-back: the version before the take-back is restored, unless others have changed the resource since
 * then. Later take-backs that have been undone don't count, except before a Patient is deleted: the record may have been used
 * since then.
 */
export function decideUndo(resource: PastResource, takeback: string): Fate {
  const history = new Meanings(resource);
  const causes = resource.versions.map(({ metadata }) => metadata.cause);
  const taken = causes.lastIndexOf(nameCause(takeback)) + 1;
  if (taken === 0 || causes.includes(nameUndoCause(takeback))) return UNTOUCHED;
  const step = history.restore(history.meaning(taken - 1));
  const isUnchanged =
    taken === history.last ||
    (history.isRestored(taken) && !(step?.removes === true && resource.type === 'Patient'));
  if (!isUnchanged) return { selected: 1, stays: stays(resource, 'changed_since') };
  return step === undefined ? UNTOUCHED : { selected: 1, step };
}

/** Returns a resource that stays as it is. */
export function stays({ type, id, versions }: PastResource, because: StaysBecause): Staying {
  return { type, id, version: versions.length, because };
}

/** Maps versions that take-backs wrote to the versions that they restored. */
class Meanings {
  readonly last: number;

  constructor(private readonly resource: PastResource) {
    this.last = resource.versions.length;
  }

  at(version: number): PastVersion | undefined {
    return this.resource.versions[version - 1];
  }

  /** Returns the version whose content and author the given version has; 0 means the state before the first version. */
  meaning(version: number): number {
    const found = this.at(version);
    if (found === undefined || !isOfTakeback(found.metadata)) return version;
    const restored = Number(/\/_history\/(\d+)$/.exec(found.metadata.origin_id ?? '')?.[1] ?? 0);
    return restored < version ? this.meaning(restored) : version;
  }

  /** Returns whether only take-backs have written since a version, and the current content is that version's again. */
  isRestored(version: number): boolean {
    return (
      this.resource.versions.slice(version).every(({ metadata }) => isOfTakeback(metadata)) &&
      this.meaning(this.last) === this.meaning(version)
    );
  }

  /** Returns the step that restores a version; undefined if the resource is deleted and stays deleted. */
  restore(version: number): Step | undefined {
    const { type, id } = this.resource;
    const found = this.at(version);
    const removes = found?.isDeletion ?? true;
    if (removes && this.at(this.last)?.isDeletion === true) return undefined;
    const author = found?.metadata.author;
    return {
      type,
      id,
      current: this.last,
      restores: version,
      removes,
      ...(author === undefined ? {} : { author }),
    };
  }
}
