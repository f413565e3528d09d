/**
 * Creates a shared link's content, and makes its receipt from everything that was looked up for the content
 * (docs/receipts.md).
 */
import { createHash } from 'node:crypto';
import type { Summarized } from '#queries/summary/summary.ts';
import { draftSummary, readName } from '../clinical/summary/receipt.ts';
import type { BlobKey } from '../documents/store.ts';
import type { SystemCode } from '../fhir/terminology.ts';
import { type GivenReceipt, type NamedVersion, nameReader } from '../shared/access/receipt.ts';
import type { JsonObject } from '../shared/json/json.ts';
import { type ContentAsked, type ContentDeps, LINK_FORM, openContent } from './content.ts';

/** Content that is being created. */
export interface RecordedContent {
  readonly text: AsyncIterable<Buffer>;
  /** Returns the receipt; must be called after the text has been read to its end. */
  readonly give: () => GivenReceipt;
}

/**
 * Opens content in the same way as `openContent`, and records the data from which it is made.
 * @throws the same errors as `openContent`
 */
export async function recordContent(
  deps: ContentDeps,
  asked: ContentAsked,
): Promise<RecordedContent | undefined> {
  const recording = new Recording(deps, asked);
  const text = await openContent(recording.deps, asked);
  if (text === undefined) return undefined;
  const hash = createHash('sha256');
  async function* hashed(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
    for await (const part of source) {
      hash.update(part);
      yield part;
    }
  }
  return { text: hashed(text), give: () => recording.give(hash.digest()) };
}

/** Records the look-ups that are made for one content. */
class Recording {
  readonly deps: ContentDeps;
  readonly #names = new Map<string, string>();
  readonly #ids: string[] = [];
  readonly #versions: NamedVersion[] = [];
  readonly #files: BlobKey[] = [];
  #summarized: Summarized | undefined;
  #now: number | undefined;

  constructor(
    deps: ContentDeps,
    private readonly asked: ContentAsked,
  ) {
    const { queries, documents } = deps;
    this.deps = {
      ...deps,
      queries: {
        ...{ vread: queries.vread, aiVersions: queries.aiVersions },
        replacedVersions: queries.replacedVersions,
        read: async (...of) => this.#noteRow(of[1], of[2], await queries.read(...of)),
        everything: async (...of) => {
          const page = await queries.everything(...of);
          for (const { type, id, body } of page.entries)
            this.#versions.push(...readName({ type, id, body: body.toString() }));
          return page;
        },
        summarize: (caller, patient, base, budget, make) =>
          queries.summarize(caller, patient, base, budget, (found) => {
            this.#summarized = found;
            return make(found);
          }),
      },
      displays: async (codes: readonly SystemCode[]) => {
        const found = await deps.displays(codes);
        for (const [code, name] of found) this.#names.set(code, name);
        return found;
      },
      documents: {
        get: (...of) => {
          this.#files.push(of[0]);
          return documents.get(...of);
        },
      },
      newId: () => {
        const id = deps.newId();
        this.#ids.push(id);
        return id;
      },
      now: () => {
        this.#now = deps.now();
        return this.#now;
      },
    };
  }

  /** Records a resource that was read. For `everything`, does nothing, because the Patient is among the entries. */
  #noteRow<Row extends { readonly body: string | Buffer | null } | undefined>(
    type: string,
    id: string,
    row: Row,
  ): Row {
    if (row?.body != null && this.asked.content !== 'everything')
      this.#versions.push(...readName({ type, id, body: row.body.toString() }));
    return row;
  }

  give(sha256: Buffer): GivenReceipt {
    const { caller, record, content } = this.asked;
    const { base } = this.deps;
    const reader = nameReader(caller);
    const found = this.#summarized;
    const names = { displays: Object.fromEntries(this.#names) };
    if (found !== undefined) {
      const own = { id: this.#ids[0] ?? '', now: this.#now ?? 0, base, displays: this.#names };
      const draft = draftSummary(record, { ...found, ...own, access: undefined, isPast: false });
      const parameters = { ...draft.parameters, content };
      return { ...draft, kind: 'link', form: LINK_FORM, parameters, reader, sha256 };
    }
    const inputs: JsonObject = {
      ...names,
      ...(this.#ids.length === 0 ? {} : { ids: this.#ids }),
      ...(this.#files.length === 0 ? {} : { files: this.#files.map(({ blob }) => blob) }),
    };
    return {
      ...{ kind: 'link', form: LINK_FORM, record, position: null, name: null },
      parameters: { content, base },
      versions: this.#versions,
      ...{ inputs, reader, sha256 },
    };
  }
}
