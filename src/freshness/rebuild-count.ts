/** Counts the progress of the rebuild at startup. */
import type { RebuildProgress } from '#projections/rebuild/rebuild.ts';

/** The progress of a rebuild. */
export interface RebuildState {
  readonly projections: readonly string[];
  /** Number of events that the read models have processed; each event is counted once per model. */
  readonly events: number;
  /** Number of events left, estimated from the number processed so far. */
  readonly left: number;
  readonly per_second: number;
}

/** Adds up the progress of read models that are being rebuilt together. */
export class RebuildCount {
  readonly #began = performance.now();
  readonly #last = new Map<string, RebuildProgress>();

  constructor(private readonly projections: readonly string[]) {}

  /** Records the progress that a rebuild reports. */
  note(progress: RebuildProgress): void {
    this.#last.set(progress.name, progress);
  }

  /** Returns the progress so far. */
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

/** Returns the rebuild state as a sentence. */
export function describeRebuild({ projections, events, left, per_second: rate }: RebuildState): string {
  return `rebuilding ${projections.join(', ')}: ${events === 1 ? '1 event' : `${events} events`} done, about ${left} left, ${rate} per second`;
}
