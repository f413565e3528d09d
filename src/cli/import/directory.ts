/**
 * Imports directory entries: organizations, practitioners, locations and medications that recur in many files are loaded once.
 * Entries are matched by any of their identifiers, or by content if they have no identifiers, against entries in this import
 * and in the service; the first match wins. Directory entries are loaded before the records that refer to them, level by
 * level. So every reference between entries is already a server id, and equal entries in different files have equal text.
 */
import { type Entry, makeFault } from './entry.ts';
import { hashContent, listIdentifiers, listIdentities, writeCriteria } from './identity.ts';
import { LIMITS } from './parts.ts';
import { listReferences } from './references.ts';
import type { Report } from './report.ts';
import type { Scope } from './scope.ts';
import { Refused, type Sender } from './send.ts';
import { ServerEntries } from './server-entries.ts';
import type { ImportState } from './state.ts';
import { type PreparedEntry, prepare, printTransaction, readAnswer } from './transaction.ts';

/** Entries per transaction: enough to be fast, but few enough that a fault can be located and the import can continue. */
const CHUNK = 500;

/** Maps each entry's key to its `Type/id`, or to the reason why it has none. */
export type Ensured = ReadonlyMap<string, { reference: string } | { refused: string }>;

/** An entry that is about to be sent to the server. */
interface Pending {
  readonly entry: Entry;
  readonly identities: readonly string[];
  readonly content: string;
  readonly prepared: PreparedEntry;
}

/** Loads directory entries from all sources, one call at a time. */
export class Directory {
  /**
   * Identities that this run loaded; if one of these occurs again, it is reported as a match. All other known identities were
   * loaded earlier.
   */
  readonly #fresh = new Set<string>();
  readonly #warned = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();
  readonly #there: ServerEntries;

  constructor(
    private readonly state: ImportState,
    private readonly sender: Sender,
    private readonly report: Report,
  ) {
    this.#there = new ServerEntries(sender);
  }

  /**
   * Resends the requests for which an interrupted import recorded no response; the Idempotency-Key makes the server return the
   * original responses.
   */
  async resume(): Promise<void> {
    for (const { key, body, identities, contents } of [...this.state.intents.values()]) {
      try {
        const answer = readAnswer(await this.sender.post(body, key), contents.length);
        await this.#note(
          key,
          identities,
          contents,
          answer.map(({ reference }) => reference),
        );
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        await this.state.note({ answered: key, directory: [] });
      }
    }
  }

  /**
   * Ensures that the server has the given entries.
   * @param pooled whether their keys are ids that other sources use too.
   */
  ensure(entries: readonly Entry[], scope: Scope, pooled = false): Promise<Ensured> {
    const turn = this.#turn.then(() => this.#ensure(entries, scope, pooled));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #ensure(entries: readonly Entry[], scope: Scope, pooled: boolean): Promise<Ensured> {
    const ensured = new Map<string, { reference: string } | { refused: string }>();
    let pending = [...entries];
    while (pending.length > 0) {
      const waiting = new Set(pending.map(({ key }) => key));
      const free = pending.filter(
        (entry) => !listLinks(entry, scope).some((key) => key !== entry.key && waiting.has(key)),
      );
      const level = free.length > 0 ? free : pending;
      const taken = new Set(level);
      await this.#load(level, scope, pooled, ensured);
      pending = pending.filter((entry) => !taken.has(entry));
    }
    return ensured;
  }

  async #load(
    level: readonly Entry[],
    scope: Scope,
    pooled: boolean,
    ensured: Map<string, { reference: string } | { refused: string }>,
  ): Promise<void> {
    const together = new Map(level.map(({ key, urn }) => [key, urn]));
    const known = (key: string): string | undefined => {
      const now = ensured.get(key);
      return now === undefined
        ? (this.state.directory.get(key)?.reference ?? this.state.patients.get(key))
        : 'reference' in now
          ? now.reference
          : undefined;
    };
    const sending: Pending[] = [];
    const first = new Map<string, Pending>();
    const twins: { entry: Entry; of: Pending }[] = [];
    for (const entry of level) {
      const lost = listLinks(entry, scope).find((key) => {
        const now = ensured.get(key);
        return now !== undefined && 'refused' in now;
      });
      if (lost !== undefined) {
        this.#refuse(entry, 'it refers to a directory entry that was not loaded', ensured);
        continue;
      }
      const { resource, lost: references } = prepare(entry, { scope, together, known });
      const content = hashContent(resource);
      const identities = listIdentities(entry, resource, content, pooled);
      const earlier = identities
        .map((identity) => this.state.directory.get(identity))
        .find((it) => it !== undefined);
      if (earlier !== undefined) {
        ensured.set(entry.key, { reference: earlier.reference });
        if (earlier.content !== content) this.#warn(entry, identities[0] ?? entry.key);
        if (identities.some((identity) => this.#fresh.has(identity))) this.report.matched(entry.type);
        else this.report.already(entry.type);
        continue;
      }
      const twin = identities.map((identity) => first.get(identity)).find((it) => it !== undefined);
      if (twin !== undefined) {
        twins.push({ entry, of: twin });
        if (twin.content !== content) this.#warn(entry, identities[0] ?? entry.key);
        continue;
      }
      const there =
        entry.condition === undefined ? await this.#there.find(entry.type, resource, entry.urn) : undefined;
      if (there !== undefined) {
        await this.#note('', [identities.join('\n')], [there.content], [there.reference]);
        for (const identity of identities) this.#fresh.add(identity);
        ensured.set(entry.key, { reference: there.reference });
        if (there.content !== content) this.#warn(entry, identities[0] ?? entry.key);
        this.report.matched(entry.type);
        continue;
      }
      const named = listIdentifiers(resource).slice(0, 1);
      const criteria = entry.condition?.criteria ?? (named.length === 0 ? undefined : writeCriteria(named));
      const condition = criteria === undefined ? undefined : { method: 'POST' as const, criteria };
      const prepared = { urn: entry.urn, resource, ...(condition === undefined ? {} : { condition }) };
      const pending = { entry, identities, content, prepared };
      this.report.lost(references);
      sending.push(pending);
      for (const identity of identities) if (!first.has(identity)) first.set(identity, pending);
    }
    for (const chunk of splitChunks(sending)) await this.#send(chunk, ensured);
    for (const { entry, of } of twins) {
      const now = ensured.get(of.entry.key);
      if (now === undefined || 'refused' in now) this.#refuse(entry, `as ${of.entry.place}`, ensured);
      else {
        ensured.set(entry.key, now);
        this.report.matched(entry.type);
      }
    }
  }

  async #send(
    chunk: readonly Pending[],
    ensured: Map<string, { reference: string } | { refused: string }>,
  ): Promise<void> {
    if (chunk.length === 0) return;
    const body = printTransaction(chunk.map(({ prepared }) => prepared));
    const intent = this.sender.makeKey(body);
    const identities = chunk.map(({ identities }) => identities.join('\n'));
    const contents = chunk.map(({ content }) => content);
    await this.state.note({ intent, body, identities, contents });
    try {
      const answer = readAnswer(await this.sender.post(body, intent), chunk.length);
      await this.#note(
        intent,
        identities,
        contents,
        answer.map(({ reference }) => reference),
      );
      this.report.transactions += 1;
      for (const [i, { entry, content, identities }] of chunk.entries()) {
        const now = answer[i];
        if (now === undefined) continue;
        ensured.set(entry.key, { reference: now.reference });
        for (const identity of identities) this.#fresh.add(identity);
        if (now.created) this.report.loaded(entry);
        else {
          this.report.matched(entry.type);
          const there = await this.sender.get(now.reference);
          if (there !== undefined && hashContent(there) !== content)
            this.#warn(entry, identities[0] ?? entry.key);
        }
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      await this.state.note({ answered: intent, directory: [] });
      await this.#sendRest(chunk, error, ensured);
    }
  }

  /** If the server refuses a chunk, the entries that it named are left out; if it named none, each entry is sent separately. */
  async #sendRest(
    chunk: readonly Pending[],
    refusal: Refused,
    ensured: Map<string, { reference: string } | { refused: string }>,
  ): Promise<void> {
    const named = new Map(
      refusal.issues.flatMap((issue) => (issue.entry === undefined ? [] : [[issue.entry, issue]])),
    );
    if (chunk.length === 1 && chunk[0] !== undefined) {
      this.#refuse(chunk[0].entry, refusal.message, ensured);
    } else if (named.size === 0) {
      for (const pending of chunk) await this.#send([pending], ensured);
    } else {
      for (const [i, { entry }] of chunk.entries()) {
        const issue = named.get(i);
        if (issue !== undefined) this.#refuse(entry, issue.diagnostics, ensured);
      }
      await this.#send(
        chunk.filter((_, i) => !named.has(i)),
        ensured,
      );
    }
  }

  #refuse(
    entry: Entry,
    refused: string,
    ensured: Map<string, { reference: string } | { refused: string }>,
  ): void {
    ensured.set(entry.key, { refused });
    this.report.fault(makeFault(entry, refused), entry.type);
  }

  #warn(entry: Entry, identity: string): void {
    if (this.#warned.has(entry.place)) return;
    this.#warned.add(entry.place);
    const shown = identity.replace('|', ' ');
    this.report.warn(`${entry.place}: ${shown} occurs again with different content; the first one is used`);
  }

  async #note(
    answered: string,
    identities: readonly string[],
    contents: readonly string[],
    references: readonly string[],
  ): Promise<void> {
    const directory = references.flatMap((reference, i) =>
      (identities[i] ?? '')
        .split('\n')
        .map((identity) => ({ identity, content: contents[i] ?? '', reference })),
    );
    await this.state.note({ answered, directory });
  }
}

function listLinks(entry: Entry, scope: Scope): string[] {
  return listReferences(entry.resource).flatMap((reference) => {
    const target = scope(reference);
    return target?.kind === 'entry' ? [target.key] : [];
  });
}

function* splitChunks(pending: readonly Pending[]): Generator<Pending[]> {
  let chunk: Pending[] = [];
  let bytes = 0;
  for (const one of pending) {
    if (chunk.length === CHUNK || bytes + one.entry.bytes > LIMITS.bytes / 2) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(one);
    bytes += one.entry.bytes;
  }
  yield chunk;
}
