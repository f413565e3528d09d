/** Loads one patient's record: in one transaction, or in several if it exceeds a transaction's limits. */
import { contentHash, type Entry, type Fault, makeFault } from './entry.ts';
import { isUnnamed } from './identity.ts';
import { cutIntoParts, inReferenceOrder, LIMITS, type Limits } from './parts.ts';
import { countTypes, type RecordUnit } from './plan.ts';
import { type Lost, listReferences } from './references.ts';
import type { Report } from './report.ts';
import type { Scope } from './scope.ts';
import { Refused, type RefusedIssue, type Sender } from './send.ts';
import type { ImportState } from './state.ts';
import { prepare, printTransaction, readAnswer } from './transaction.ts';

/** The data that loading a record needs. */
export interface ImportContext {
  readonly scope: Scope;
  /** Maps the keys of entries outside this record to their `Type/id` on the server. */
  readonly known: (key: string) => string | undefined;
  /** Returns the reason why a key that this record may refer to isn't on the server. */
  readonly refused: (key: string) => string | undefined;
  /** Entries in this record that an earlier run loaded: key → `Type/id`. */
  readonly before: ReadonlyMap<string, string>;
  /** The record's name in the report. */
  readonly place: string;
  /** The headers for the record's requests. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Loads records. */
export class Records {
  /** Hashes of units that this run loaded without their invalid entries. */
  readonly #partial = new Set<string>();

  constructor(
    private readonly state: ImportState,
    private readonly sender: Sender,
    private readonly report: Report,
    private readonly limits: Limits = LIMITS,
    /** True to load records without the entries that the service reports as invalid. */
    private readonly skipInvalid = false,
  ) {}

  /** Returns true if an earlier run, or another file in this run, loaded exactly these entries. */
  isDone(unit: RecordUnit): boolean {
    const { entries } = unit;
    const { doneUnits } = this.state;
    if (doneUnits.has(contentHash(entries))) return true;
    // Journals before 0.3.0 identify entries without an id by their places.
    if (!entries.some(({ key }) => isUnnamed(key))) return false;
    return doneUnits.has(
      contentHash(entries.map((one) => (isUnnamed(one.key) ? { ...one, key: one.place } : one))),
    );
  }

  /** Returns true if an earlier run began to load these entries in parts. */
  isBegun(unit: RecordUnit): boolean {
    return this.state.parts.has(contentHash(unit.entries));
  }

  /** Returns true if this run left out some of the unit's entries because they are invalid. */
  isPartial(unit: RecordUnit): boolean {
    return this.#partial.has(contentHash(unit.entries));
  }

  /**
   * Loads a record, except the entries in `before` and, if invalid entries are skipped, the entries that the service refuses.
   * @returns the new ids by key; undefined if the record was refused, in which case the report contains it.
   */
  async load(
    unit: RecordUnit,
    circumstances: ImportContext,
  ): Promise<ReadonlyMap<string, string> | undefined> {
    const { entries } = unit;
    const hash = contentHash(entries);
    const ids = new Map<string, string>();
    for (const { key, type } of entries) {
      const reference = circumstances.before.get(key);
      if (reference === undefined) continue;
      ids.set(key, reference);
      this.report.already(type);
    }
    const refused = this.#refusedTarget(entries, circumstances);
    if (refused !== undefined) {
      this.#fail(entries, ids, [refused]);
      return undefined;
    }
    const links = (entry: Entry): string[] => listKeys(entry, circumstances.scope);
    const parts = this.#splitParts(hash, entries, links);
    if (parts.length > 1) await this.#noteParts(hash, parts);
    let lost: Lost = { dropped: 0, missing: 0 };
    let sent = 0;
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const fresh = part.filter(({ key }) => !ids.has(key));
      if (fresh.length === 0 && parts.length > 0) continue;
      try {
        // A record with missing entries is never marked as done, so the same command tries those entries again.
        const left = parts.length + (this.#partial.has(hash) ? 1 : 0);
        lost = sum(lost, await this.#send(fresh, left, hash, unit.patient, ids, circumstances));
        sent += fresh.length > 0 ? 1 : 0;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (error.status === 413 && fresh.length > 1) {
          const order = inReferenceOrder(entries, links).flat();
          const ordered = order.filter((entry) => fresh.includes(entry));
          const half = Math.ceil(ordered.length / 2);
          parts.unshift(ordered.slice(0, half), ordered.slice(half));
          const loaded = order.filter(({ key }) => ids.has(key));
          await this.#noteParts(hash, [...(loaded.length > 0 ? [loaded] : []), ...parts]);
          continue;
        }
        const rest = this.#withoutInvalid(error, fresh, unit);
        if (rest !== undefined) {
          // Marked as begun, so that a later run knows which parts were loaded.
          if (!this.#partial.has(hash) && !this.isBegun(unit)) await this.#noteParts(hash, [entries]);
          this.#partial.add(hash);
          parts.unshift(rest);
          continue;
        }
        this.#fail(entries, ids, listFaults(error, fresh, circumstances.place, sent > 0));
        await this.state.note({ unit: hash, failed: error.message });
        return undefined;
      }
    }
    if (sent > 1) this.report.cut(circumstances.place, sent);
    this.report.lost(lost);
    return ids;
  }

  /**
   * Returns the entries that the service didn't name as invalid; the invalid ones are added to the report.
   * @returns undefined if the whole part is refused: the service named no entry, or the Patient itself.
   */
  #withoutInvalid(
    { status, issues }: Refused,
    part: readonly Entry[],
    unit: RecordUnit,
  ): Entry[] | undefined {
    if (!this.skipInvalid || (status !== 400 && status !== 422)) return undefined;
    const named = new Map<Entry, string[]>();
    for (const issue of issues) {
      const entry = issue.entry === undefined ? undefined : part[issue.entry];
      if (entry !== undefined) named.set(entry, [...(named.get(entry) ?? []), writeIssue(issue)]);
    }
    if (named.size === 0 || [...named.keys()].some(({ key }) => key === unit.patient)) return undefined;
    for (const [entry, diagnostics] of named) {
      this.report.fault(makeFault(entry, diagnostics.join('; ')), entry.type);
    }
    return part.filter((entry) => !named.has(entry));
  }

  #splitParts(hash: string, entries: readonly Entry[], links: (entry: Entry) => string[]): Entry[][] {
    const sizes = this.state.parts.get(hash);
    if (sizes === undefined) return cutIntoParts(entries, links, this.limits);
    const order = inReferenceOrder(entries, links).flat();
    return sizes.map((size) => order.splice(0, size));
  }

  async #noteParts(hash: string, parts: readonly (readonly Entry[])[]): Promise<void> {
    await this.state.note({ unit: hash, parts: parts.map(({ length }) => length) });
  }

  async #send(
    part: readonly Entry[],
    left: number,
    unit: string,
    patient: string,
    ids: Map<string, string>,
    { scope, known, headers }: ImportContext,
  ): Promise<Lost> {
    let lost: Lost = { dropped: 0, missing: 0 };
    const loaded: Record<string, string> = {};
    if (part.length > 0) {
      const together = new Map(part.map(({ key, urn }) => [key, urn]));
      const surroundings = { scope, together, known: (key: string) => ids.get(key) ?? known(key) };
      const prepared = part.map((entry) => {
        const { resource, lost: references } = prepare(entry, surroundings);
        lost = sum(lost, references);
        const { urn, condition } = entry;
        return { urn, resource, ...(condition === undefined ? {} : { condition }) };
      });
      const body = printTransaction(prepared);
      const answer = readAnswer(
        await this.sender.post(body, this.sender.makeKey(body, headers), headers),
        part.length,
      );
      for (const [i, entry] of part.entries()) {
        const now = answer[i];
        if (now === undefined) continue;
        const { key, type, resource } = entry;
        loaded[key] = now.reference;
        // NDJSON may use the old id to refer to a patient that was loaded from a bundle.
        if (type === 'Patient' && typeof resource.id === 'string')
          loaded[`Patient/${resource.id}`] ??= now.reference;
        ids.set(key, now.reference);
        if (now.created) this.report.loaded(entry);
        else this.report.matched(type);
      }
      this.report.transactions += 1;
    }
    await this.state.note({ unit, left, patient, ids: loaded });
    return lost;
  }

  /** If a record needs a directory entry that was refused, the record isn't loaded, because the gap would never be filled. */
  #refusedTarget(entries: readonly Entry[], { scope, refused }: ImportContext): Fault | undefined {
    for (const entry of entries) {
      const key = listKeys(entry, scope).find((target) => refused(target) !== undefined);
      if (key !== undefined) {
        return makeFault(entry, `it refers to ${refused(key)}, which was not loaded`);
      }
    }
    return undefined;
  }

  #fail(entries: readonly Entry[], ids: ReadonlyMap<string, string>, faults: readonly Fault[]): void {
    for (const fault of faults) this.report.fault(fault);
    for (const [type, count] of countTypes(entries.filter(({ key }) => !ids.has(key))))
      this.report.failed(type, count);
  }
}

function listKeys(entry: Entry, scope: Scope): string[] {
  return listReferences(entry.resource).flatMap((reference) => {
    const target = scope(reference);
    return target?.kind === 'entry' ? [target.key] : [];
  });
}

/** Returns the issues that the server reported, each with its entry's place. */
function listFaults(refusal: Refused, part: readonly Entry[], place: string, partly: boolean): Fault[] {
  const note = partly ? ' (part of this record was loaded; run the same command again to load the rest)' : '';
  const issues = refusal.issues.length > 0 ? refusal.issues : [{ diagnostics: refusal.message }];
  return issues.map((issue) => {
    const entry = issue.entry === undefined ? undefined : part[issue.entry];
    if (entry === undefined) return { place, diagnostics: `${issue.diagnostics}${note}` };
    return { ...makeFault(entry, `${writeIssue(issue)}${note}`), place: `${entry.place} (${entry.type})` };
  });
}

/** Returns the text of an entry's issue, including the element. */
function writeIssue({ expression, diagnostics }: RefusedIssue): string {
  return expression === undefined || expression === '' ? diagnostics : `${expression}: ${diagnostics}`;
}

function sum(a: Lost, b: Lost): Lost {
  return { dropped: a.dropped + b.dropped, missing: a.missing + b.missing };
}
