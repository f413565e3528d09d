/** Finds the periods during which a medicine was taken and prescribed, according to its sources, for bars on a time axis. */
import { isFuture } from './dates.ts';
import type { Medicine } from './medicines.ts';
import type { Told } from './told.ts';

/** A period that a source states. A day of prescribing, or a single day on which a medicine was taken, has no length. */
export interface MedicinePeriod<Of extends Told = Told> {
  readonly told: Of;
  readonly means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
  /** A FHIR date with its own precision; undefined if only the end is known. */
  readonly from: string | undefined;
  /** Undefined if the end isn't known. */
  readonly until: string | undefined;
  /** True if, according to its source, the medicine is still being taken. */
  readonly isCurrent: boolean;
}

/** Returns a medicine's periods; a source without dates adds none. */
export function medicinePeriods<Of extends Told>({
  sources,
}: Pick<Medicine<Of>, 'sources'>): MedicinePeriod<Of>[] {
  return sources.flatMap(
    ({ told, standing, isForbidden, from, until, takenOn, prescribed, today }): MedicinePeriod<Of>[] => {
      const isToCome = (date: string | undefined): boolean => date !== undefined && isFuture(date, today);
      const isCurrent = standing === 'current';
      if (prescribed !== undefined) {
        const means = isForbidden ? 'ordered' : 'prescribed';
        return [{ told, means, from: prescribed, until: prescribed, isCurrent }];
      }
      if (from !== undefined || until !== undefined)
        return [{ told, means: isToCome(from) ? 'planned' : 'taken', from, until, isCurrent }];
      if (takenOn === undefined) return [];
      return [
        { told, means: isToCome(takenOn) ? 'planned' : 'taken_on', from: takenOn, until: takenOn, isCurrent },
      ];
    },
  );
}
