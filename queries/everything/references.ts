/** Finds the directory entries to which resources refer, based on the resources' text. */
import { parseReference } from '#src/fhir/references/references.ts';
import { type ResourceType, TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { isUuid } from '#src/shared/ids.ts';

/**
 * The prefix of a literal reference in stored text, which has no blanks between tokens, and no unescaped quotes within
 * strings.
 */
const REFERENCE = Buffer.from('"reference":"');
const QUOTE = 0x22;

/** The number of references to cache so that they aren't parsed again: most resources contain the same few references. */
const REMEMBERED = 10_000;

/** Collects the ids of the directory entries to which resources refer, including contained resources. */
export class NamedIds {
  readonly #ids = new Set<string>();
  readonly #references = new Set<string>();

  /** @param bases our FHIR base URLs, with a trailing slash */
  constructor(private readonly bases: readonly string[]) {}

  /**
   * Adds the targets of a resource's references.
   * @param body its FHIR JSON as stored
   */
  add(body: Buffer): void {
    addReferences(body, this.#references);
    if (this.#references.size > REMEMBERED) this.#understand();
  }

  /** Returns all ids collected so far. */
  get ids(): ReadonlySet<string> {
    this.#understand();
    return this.#ids;
  }

  #understand(): void {
    for (const reference of this.#references) {
      const parsed = parseReference(reference, this.bases);
      if (parsed.kind !== 'local' || !isUuid(parsed.id)) continue;
      if (mayBeInDirectory(parsed.type)) this.#ids.add(parsed.id);
    }
    this.#references.clear();
  }
}

/** The first letters of the directory's types and of absolute URLs. */
const BEGINNINGS: ReadonlySet<number> = new Set(
  [...TYPE_NAMES.filter(mayBeInDirectory), 'http'].map((name) => beginning(Buffer.from(name), 0)),
);

/** Returns the first two bytes of text. They are enough to skip most references, which are to the patient or an encounter. */
function beginning(text: Buffer, at: number): number {
  return ((text[at] ?? 0) << 8) | (text[at + 1] ?? 0);
}

function addReferences(body: Buffer, references: Set<string>): void {
  for (let at = body.indexOf(REFERENCE); at >= 0; at = body.indexOf(REFERENCE, at)) {
    const start = at + REFERENCE.length;
    at = start;
    if (!BEGINNINGS.has(beginning(body, start))) continue;
    at = body.indexOf(QUOTE, start);
    references.add(body.toString('latin1', start, at));
  }
}

function mayBeInDirectory(type: ResourceType): boolean {
  const { home } = typeEntry(type);
  return home === 'directory' || home === 'either';
}
