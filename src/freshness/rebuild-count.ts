/** Counts the progress of the rebuild at a start. */
import type { RebuildProgress } from '#projections/rebuild/rebuild.ts';

/** The progress of a rebuild. */
export interface RebuildState {
  readonly projections: readonly string[];
  /** Events that the read models have taken in, each counting its own. */
  readonly events: number;
  /** Events that are left, estimated from those that were read. */
  readonly left: number;
  readonly per_second: number;
}

/** Adds up the progress of read models that are rebuilt together. */
export class RebuildCount {
  readonly #began = performance.now();
  readonly #last = new Map<string, RebuildProgress>();

  constructor(private readonly projections: readonly string[]) {}

  /** Notes the progress that a rebuild reports. */
  note(progress: RebuildProgress): void {
    this.#last.set(progress.name, progress);
  }

  /** Returns how far it is. */
  state(): RebuildState {
    let [events, left] = [0, 0];
    for (const { events: done, share } of this.#last.values()) {
      events += done;
      if (share > 0) left += Math.round(done / share) - done;
    }
    const seconds = (performance.now() - this.#began) / 1_000;
    return {
      projections: this.projections,
      events,
      left,
      per_second: Math.round(events / Math.max(seconds, 0.001)),
    };
  }
}

/** Returns the state as a sentence. */
export function describeRebuild({ projections, events, left, per_second: rate }: RebuildState): string {
  return `rebuilding ${projections.join(', ')}: ${events === 1 ? '1 event' : `${events} events`} done, about ${left} left, ${rate} per second`;
}
