/** Recognises a full disk in an error, and remembers which one was full. */

/** A disk, as answers, logs and `/health/ready` call it. */
export type Disk = 'the database' | 'the document store' | 'DATA_DIR';

/** For how long a disk that was full is reported, in ms. */
const REPORTED_MS = 60_000;

/** Codes of system errors for a full disk or quota. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** SQLSTATE disk_full (PostgreSQL documentation, Appendix A). */
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

/** Returns the disk that an error, or one of its causes, says is full; undefined if none does. */
export function fullDiskIn(error: unknown): Disk | undefined {
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    if (one instanceof DiskFull) return one.disk;
    const code = 'code' in one ? String(one.code) : '';
    if (code === DISK_FULL) return 'the database';
    if (FULL.has(code)) return 'DATA_DIR';
  }
  return undefined;
}

/** Tells whether a system error means a full disk or quota. */
export function isFull(code: string | undefined): boolean {
  return code !== undefined && FULL.has(code);
}

/** The disks that were full lately. */
export class FullDisks {
  readonly #seen = new Map<Disk, number>();
  /** When other processes of the machine last said so. */
  readonly #heard = new Map<Disk, number>();

  /** Takes note of an error. */
  note(error: unknown): void {
    const disk = fullDiskIn(error);
    if (disk !== undefined) this.#seen.set(disk, Date.now());
  }

  /** Returns the disks that this process found full within the last minute, to tell the others of its machine. */
  own(): readonly Disk[] {
    return lately(this.#seen);
  }

  /** Takes note of disks that another process of the machine found full. */
  hear(disks: readonly Disk[]): void {
    for (const disk of disks) this.#heard.set(disk, Date.now());
  }

  /** Returns a sentence on the disks that were full within the last minute; undefined if there were none. */
  get notice(): string | undefined {
    const full = new Set([...lately(this.#seen), ...lately(this.#heard)]);
    return full.size === 0 ? undefined : [...full].map(fullDisk).join('; ');
  }
}

function lately(seen: ReadonlyMap<Disk, number>): Disk[] {
  return [...seen].filter(([, at]) => Date.now() - at < REPORTED_MS).map(([disk]) => disk);
}
