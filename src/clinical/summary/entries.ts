/**
 * Writes resources as entries of the document. A literal reference in the document must point to an entry or a contained
 * resource. A reference to anything else becomes a logical reference, whose identifier is the URL:
 * https://hl7.org/fhir/R4/references.html#logical
 */
import { isObject, type Json, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { type ParsedReference, parseReference } from '../../fhir/references/references.ts';
import type { Source } from './source.ts';

/** Matches the references in a resource's JSON text, which is printed without whitespace and escapes quotes inside strings. */
const REFERENCE = /"reference":"([^"\\]*)"/g;

/** The replacement for a Reference's `reference`: either a reference without a version, or a logical reference. */
interface Settled {
  readonly value: JsonObject;
  /** The replacement's members as JSON text, without braces. */
  readonly members: string;
}

/**
 * Resolves references. Each distinct reference is parsed only once, because a record contains the same references many times.
 */
export class Links {
  readonly #read = new Map<string, ParsedReference>();
  readonly #settled = new Map<string, Settled | undefined>();

  /** @param base URL of the FHIR interface, with a trailing slash. */
  constructor(readonly base: string) {}

  /** Returns a reference's parsed text. */
  parsed(reference: string): ParsedReference {
    const known = this.#read.get(reference);
    if (known !== undefined) return known;
    const parsed = parseReference(reference, [this.base]);
    this.#read.set(reference, parsed);
    return parsed;
  }

  /**
   * Returns the `Type/id` that a reference's text names, whatever its form is; undefined if its target isn't on this service.
   */
  localKey(reference: string): string | undefined {
    const parsed = this.parsed(reference);
    return parsed.kind === 'local' ? `${parsed.type}/${parsed.id}` : undefined;
  }

  /**
   * Returns the replacement for a reference; undefined if the reference stays unchanged. Call this only when all entries are
   * known.
   */
  settled(reference: string, isInside: (key: string) => boolean): Settled | undefined {
    if (this.#settled.has(reference)) return this.#settled.get(reference);
    const value = this.#settle(reference, isInside);
    const settled = value === undefined ? undefined : { value, members: JSON.stringify(value).slice(1, -1) };
    this.#settled.set(reference, settled);
    return settled;
  }

  #settle(reference: string, isInside: (key: string) => boolean): JsonObject | undefined {
    const { base } = this;
    const parsed = this.parsed(reference);
    switch (parsed.kind) {
      case 'contained':
        return undefined;
      case 'local': {
        const key = `${parsed.type}/${parsed.id}`;
        if (!isInside(key)) return logical(base + key, parsed.type);
        return reference === key || reference === base + key ? undefined : { reference: key };
      }
      case 'foreign-type':
        return logical(`${base}${parsed.type}/${parsed.id}`, parsed.type);
      default:
        return logical(reference);
    }
  }

  /** Adds a resource's references to `keys`, as `Type/id`. */
  addReferred({ body }: Source, keys: Set<string>): void {
    REFERENCE.lastIndex = 0;
    for (let found = REFERENCE.exec(body); found !== null; found = REFERENCE.exec(body)) {
      const key = this.localKey(found[1] ?? '');
      if (key !== undefined) keys.add(key);
    }
  }
}

/**
 * Returns a resource's JSON text in the document.
 * @param added members to add.
 * @param isInside returns whether a `Type/id` is an entry.
 */
export function entryText(
  source: Source,
  added: JsonObject,
  isInside: (key: string) => boolean,
  links: Links,
): string {
  const further = Object.entries(added).map(
    ([name, value]) => `,${JSON.stringify(name)}:${printJson(value)}`,
  );
  const whole = source.body.slice(0, -1) + further.join('') + source.body.slice(-1);
  const settled = (reference: string) => links.settled(reference, isInside);
  let isPlain = true;
  const text = whole.replace(REFERENCE, (member, reference: string, at: number) => {
    const after = settled(reference);
    if (after === undefined) return member;
    isPlain &&= after.value.reference !== undefined || isAlone(whole, at);
    return after.members;
  });
  return isPlain ? text : printJson(rewritten(parseJson(whole).value, settled));
}

/**
 * Matches a reference with no other member than a display. A reference with other members may already have an identifier or a
 * type.
 */
const ALONE = /\{"reference":"[^"\\]*"(?:,"display":"(?:[^"\\]|\\.){0,2000}")?\}/y;

function isAlone(text: string, at: number): boolean {
  ALONE.lastIndex = at - 1;
  return ALONE.test(text);
}

/** Returns the content of a Reference to something outside the document. */
export function logical(value: string, type?: string): JsonObject {
  return { ...(type === undefined ? {} : { type }), identifier: { system: 'urn:ietf:rfc:3986', value } };
}

/** Returns a tree with its references replaced; a logical reference keeps its existing identifier and type. */
function rewritten(value: Json, settled: (reference: string) => Settled | undefined): Json {
  if (Array.isArray(value)) return value.map((item) => rewritten(item, settled));
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const [name, member] of Object.entries(value)) copy[name] = rewritten(member, settled);
  const after = typeof copy.reference === 'string' ? settled(copy.reference) : undefined;
  if (after === undefined) return copy;
  const { reference, ...rest } = copy;
  return { ...after.value, ...rest };
}
