/** Counts the results of an import and prints them at the end. */
import { type FindImplausible, IMPLAUSIBLE, type ImplausibleCode } from '#src/shared/implausible.ts';
import { counted, table } from '../table.ts';
import type { Entry, Fault } from './entry.ts';
import type { Lost } from './references.ts';
import type { DoneSource } from './state.ts';

/** Maximum number of examples for each kind of implausible value, in the data and on the screen. */
const EXAMPLES = 20;
const EXAMPLES_SHOWN = 3;

interface TypeCounts {
  found: number;
  loaded: number;
  matched: number;
  already: number;
  /** Resources that weren't loaded, because their id occurs elsewhere in the sources and was loaded from there. */
  duplicate: number;
  skipped: number;
  failed: number;
}

/** The implausible values of one kind. */
interface ImplausibleCounts {
  count: number;
  /** The first examples, with place and element. */
  readonly examples: string[];
}

/** The final report as data. */
export interface ReportData {
  /** True if everything in every source was loaded or matched, or has an unsupported type. */
  readonly complete: boolean;
  readonly stopped: string | null;
  readonly types: Readonly<Record<string, Readonly<TypeCounts>>>;
  readonly references: Lost;
  readonly transactions: number;
  /** Records that exceeded a transaction's limits: place → number of transactions. */
  readonly split: Readonly<Record<string, number>>;
  readonly retries: number;
  readonly throttled_seconds: number;
  readonly seconds: number;
  readonly warnings: readonly string[];
  /** Implausible values that were loaded, by kind. */
  readonly implausible: { readonly [code in ImplausibleCode]?: Readonly<ImplausibleCounts> };
  readonly faults: readonly Fault[];
  /** The file to which this report was also written. */
  readonly report_file?: string;
}

/** Counts, warnings and faults of one import. */
export class Report {
  readonly #types = new Map<string, TypeCounts>();
  readonly #split = new Map<string, number>();
  readonly #lost = { dropped: 0, missing: 0 };
  readonly #implausible: { [code in ImplausibleCode]?: ImplausibleCounts } = {};
  readonly warnings: string[] = [];
  readonly faults: Fault[] = [];
  transactions = 0;
  retries = 0;
  throttledSeconds = 0;
  stopped: string | undefined;

  /** @param now milliseconds; used for the duration, and to detect dates in the future. */
  constructor(
    private readonly findImplausible: FindImplausible,
    private readonly now: () => number = Date.now,
  ) {
    this.#started = now();
  }
  readonly #started: number;

  #of(type: string): TypeCounts {
    const known = this.#types.get(type);
    if (known !== undefined) return known;
    const counts = { found: 0, loaded: 0, matched: 0, already: 0, duplicate: 0, skipped: 0, failed: 0 };
    this.#types.set(type, counts);
    return counts;
  }

  /** Counts resources of a type found in the sources. */
  found(type: string, count = 1): void {
    this.#of(type).found += count;
  }

  /** Counts resources of a type that the import doesn't load. */
  skipped(type: string, count = 1): void {
    this.#of(type).skipped += count;
  }

  /** Counts a resource that is now on the server, and its implausible values. */
  loaded({ type, resource, place }: Pick<Entry, 'type' | 'resource' | 'place'>): void {
    this.#of(type).loaded += 1;
    for (const { code, element, message } of this.findImplausible(resource, this.now() * 1_000)) {
      this.#implausible[code] ??= { count: 0, examples: [] };
      const { examples } = this.#implausible[code];
      this.#implausible[code].count += 1;
      if (examples.length < EXAMPLES) examples.push(`${place}, ${element}: ${message}`);
    }
  }

  /** Counts resources that match existing ones: directory entries, by their identifiers or content. */
  matched(type: string, count = 1): void {
    this.#of(type).matched += count;
  }

  /** Counts resources that an earlier run of this import loaded. */
  already(type: string, count = 1): void {
    this.#of(type).already += count;
  }

  /** Counts all resources of a source that an earlier run of this import loaded. */
  alreadyLoaded({ loaded, skipped }: DoneSource): void {
    for (const [type, count] of Object.entries(loaded)) {
      this.found(type, count);
      this.already(type, count);
    }
    for (const [type, count] of Object.entries(skipped)) {
      this.found(type, count);
      this.skipped(type, count);
    }
  }

  /** Counts resources whose ids occur elsewhere in the sources and were loaded from there. */
  duplicate(type: string, count = 1): void {
    this.#of(type).duplicate += count;
  }

  /** They were refused. */
  failed(type: string, count = 1): void {
    this.#of(type).failed += count;
  }

  /** Counts references that lost their targets. */
  lost({ dropped, missing }: Lost): void {
    this.#lost.dropped += dropped;
    this.#lost.missing += missing;
  }

  /** Notes that a record was split into several transactions. */
  cut(place: string, transactions: number): void {
    this.#split.set(place, transactions);
  }

  /** Adds a warning. */
  warn(text: string): void {
    this.warnings.push(text);
  }

  /** Notes that something wasn't loaded; `type` is given if it was exactly one resource. */
  fault(fault: Fault, type?: string): void {
    this.faults.push(fault);
    if (type !== undefined) this.failed(type);
  }

  data(): ReportData {
    return {
      complete: this.faults.length === 0 && this.stopped === undefined,
      stopped: this.stopped ?? null,
      types: Object.fromEntries([...this.#types].sort(([a], [b]) => (a < b ? -1 : 1))),
      references: { ...this.#lost },
      transactions: this.transactions,
      split: Object.fromEntries(this.#split),
      retries: this.retries,
      throttled_seconds: Math.round(this.throttledSeconds),
      seconds: Math.round((this.now() - this.#started) / 100) / 10,
      warnings: this.warnings,
      implausible: this.#implausible,
      faults: this.faults,
    };
  }
}

const COLUMNS = {
  found: 'in the files',
  loaded: 'loaded',
  matched: 'matched',
  already: 'loaded before',
  duplicate: 'duplicates',
  skipped: 'skipped',
  failed: 'failed',
} as const satisfies Record<keyof TypeCounts, string>;
const SHOWN = 20;

function keptAsIdentifiers(count: number, which: string): string {
  const kept = count === 1 ? 'was kept as an identifier' : 'were kept as identifiers';
  return `${counted(count, 'reference')} ${which} ${kept}.`;
}

/**
 * Returns the report as text for people.
 * @param skipInvalid whether the import left out invalid resources; if not, the report explains how to do that.
 */
export function printReport(report: ReportData, skipInvalid = false): string {
  const sum = (name: keyof TypeCounts): number =>
    Object.values(report.types).reduce((all, counts) => all + counts[name], 0);
  const shown = (Object.keys(COLUMNS) as (keyof TypeCounts)[]).filter(
    (name) => name !== 'duplicate' || sum(name) > 0,
  );
  const rows = Object.entries(report.types).map(([type, counts]) => [
    type,
    ...shown.map((name) => counts[name]),
  ]);
  const heading = ['Type', ...shown.map((name) => COLUMNS[name])];
  const lines = [table(heading, rows, ['All', ...shown.map(sum)]), ''];
  const loaded = sum('loaded');
  const rate = report.seconds > 0 ? `, ${Math.round(loaded / report.seconds)} resources/s` : '';
  lines.push(`${counted(report.transactions, 'transaction')} in ${report.seconds} s${rate}.`);
  const { dropped, missing } = report.references;
  if (dropped > 0) lines.push(keptAsIdentifiers(dropped, 'to skipped resources'));
  if (missing > 0) lines.push(keptAsIdentifiers(missing, 'to resources that are not in the files'));
  for (const [place, count] of Object.entries(report.split)) {
    lines.push(`${place}: too large for one transaction, loaded in ${count}.`);
  }
  if (report.retries > 0) {
    const waited =
      report.throttled_seconds > 0 ? `; ${report.throttled_seconds} s of waiting for the rate limit` : '';
    lines.push(
      `${counted(report.retries, 'request')} ${report.retries === 1 ? 'was' : 'were'} sent again${waited}.`,
    );
  }
  list(lines, 'Warnings', report.warnings);
  listImplausible(lines, report.implausible);
  list(
    lines,
    'Not loaded',
    report.faults.map(({ place, diagnostics }) => `${place}: ${diagnostics}`),
  );
  // The option doesn't help if a record's Patient is invalid.
  if (!skipInvalid && report.faults.some(({ type }) => type !== undefined && type !== 'Patient'))
    lines.push(
      '',
      'To load these records without their invalid resources, run the command again with --skip-invalid.',
    );
  if (report.report_file !== undefined) lines.push('', `The full report is in ${report.report_file}.`);
  if (report.stopped !== null) lines.push('', report.stopped);
  return lines.join('\n');
}

function list(lines: string[], heading: string, items: readonly string[]): void {
  if (items.length === 0) return;
  lines.push('', `${heading} (${items.length}):`, ...items.slice(0, SHOWN).map((item) => `  ${item}`));
  if (items.length > SHOWN) lines.push(`  … and ${items.length - SHOWN} more: --json shows all`);
}

function listImplausible(lines: string[], implausible: ReportData['implausible']): void {
  const kinds = Object.entries(implausible);
  if (kinds.length === 0) return;
  const sum = kinds.reduce((all, [, { count }]) => all + count, 0);
  lines.push('', `Implausible values (${sum}), loaded as they are:`);
  for (const [code, { count, examples }] of kinds) {
    lines.push(`  ${count} × ${IMPLAUSIBLE[code as ImplausibleCode]}, for example`);
    lines.push(...examples.slice(0, EXAMPLES_SHOWN).map((example) => `    ${example}`));
  }
}
