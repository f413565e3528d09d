/** Recognises a full disk from an error, and remembers which disk was full. */

/** A disk, by its name as used in answers, logs and `/health/ready`. */
export type Disk = 'the database' | 'the document store' | 'DATA_DIR';

/** How long a disk is reported after it was found full, in ms. */
const REPORTED_MS = 60_000;

/** System error codes for a full disk or quota. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** The SQLSTATE disk_full (PostgreSQL documentation, Appendix A). */
const DISK_FULL = '53100';

/** An error that names the disk. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull';

  constructor(
    readonly disk: Disk,
    options?: ErrorOptions,
  ) {
    super(fullDisk(disk), options);
  }
}

/** Returns the sentence for a full disk. */
export function fullDisk(disk: Disk): string {
  return `the disk of ${disk} is full; an operator must free space on it`;
}

/** Returns the disk that an error, or one of its causes, reports as full; undefined if there is none. */
export function fullDiskIn(error: unknown): Disk | undefined {
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    if (one instanceof DiskFull) return one.disk;
    const code = 'code' in one ? String(one.code) : '';
    if (code === DISK_FULL) return 'the database';
    if (FULL.has(code)) return 'DATA_DIR';
  }
  return undefined;
}

/** Returns whether a system error code means that a disk or quota is full. */
export function isFull(code: string | undefined): boolean {
  return code !== undefined && FULL.has(code);
}

/** The disks that were recently full. */
export class FullDisks {
  readonly #seen = new Map<Disk, number>();
  /** When other processes on the machine last reported each disk. */
  readonly #heard = new Map<Disk, number>();

  /** Records the disk that an error reports as full. */
  note(error: unknown): void {
    const disk = fullDiskIn(error);
    if (disk !== undefined) this.#seen.set(disk, Date.now());
  }

  /**
   * Returns the disks that this process found to be full within the last minute, for reporting to the other processes on its
   * machine.
   */
  own(): readonly Disk[] {
    return lately(this.#seen);
  }

  /** Records disks that another process on the machine found to be full. */
  hear(disks: readonly Disk[]): void {
    for (const disk of disks) this.#heard.set(disk, Date.now());
  }

  /** Returns a sentence about the disks that were full within the last minute; undefined if there were none. */
  get notice(): string | undefined {
    const full = new Set([...lately(this.#seen), ...lately(this.#heard)]);
    return full.size === 0 ? undefined : [...full].map(fullDisk).join('; ');
  }
}

function lately(seen: ReadonlyMap<Disk, number>): Disk[] {
  return [...seen].filter(([, at]) => Date.now() - at < REPORTED_MS).map(([disk]) => disk);
}
