/** Writes entries as a transaction Bundle, and reads ids from its response. */
import { isObject, type JsonObject, printJson } from '#src/shared/json/json.ts';
import { Failure } from '../failure.ts';
import type { Entry } from './entry.ts';
import { type Lost, type Resolution, rewriteReferences, typeAndId, unresolved } from './references.ts';
import type { Scope } from './scope.ts';

/** The targets to which references may resolve while a transaction is built. */
export interface TransactionContext {
  readonly scope: Scope;
  /** Maps keys to the `urn:` of entries in the same transaction. */
  readonly together: ReadonlyMap<string, string>;
  /** Maps keys to `Type/id` on the server. */
  readonly known: (key: string) => string | undefined;
}

/** Resolves a reference in this context. */
export function resolveIn(reference: string, { scope, together, known }: TransactionContext): Resolution {
  const target = scope(reference);
  if (target?.kind === 'dropped') return target;
  const named = typeAndId(reference);
  const key =
    target?.key ?? (named === undefined || named.absolute ? undefined : `${named.type}/${named.id}`);
  const now = key === undefined ? undefined : (together.get(key) ?? known(key));
  if (now !== undefined) return { kind: 'to', reference: now };
  const left = unresolved(reference);
  if (target === undefined || left.kind !== 'keep') return left;
  return { kind: 'missing', uri: reference, ...(named === undefined ? {} : { type: named.type }) };
}

/**
 * Returns a resource without the elements that the old server assigned (`id`, `meta.versionId`, `meta.lastUpdated`), because
 * this server assigns new ones. Profiles, tags, security labels and `meta.source` are kept.
 */
export function withoutServerElements({ id: _, meta, ...rest }: JsonObject): JsonObject {
  if (!isObject(meta)) return meta === undefined ? rest : { ...rest, meta };
  const { versionId: _v, lastUpdated: _u, ...kept } = meta;
  return Object.keys(kept).length === 0 ? rest : { ...rest, meta: kept };
}

/** Returns an entry's resource in the form in which it is sent. */
export function prepare(
  entry: Entry,
  surroundings: TransactionContext,
): { resource: JsonObject; lost: Lost } {
  const targets = entry.type === 'Provenance' ? withLivingTargets(entry.resource, surroundings) : undefined;
  const rewritten = rewriteReferences(targets?.resource ?? entry.resource, (reference) =>
    resolveIn(reference, surroundings),
  );
  return {
    resource: withoutServerElements(rewritten.resource),
    lost: { ...rewritten.lost, dropped: rewritten.lost.dropped + (targets?.dropped ?? 0) },
  };
}

/**
 * If at least one target remains, removes the targets whose types aren't loaded from a Provenance, and counts them. This is
 * necessary because a Provenance must have literal references into one record (docs/spec/interface.md, section 2.4).
 */
function withLivingTargets(
  provenance: JsonObject,
  surroundings: TransactionContext,
): { resource: JsonObject; dropped: number } {
  const all = Array.isArray(provenance.target) ? provenance.target : [];
  const living = all.filter(
    (target) =>
      isObject(target) &&
      typeof target.reference === 'string' &&
      ['to', 'keep'].includes(resolveIn(target.reference, surroundings).kind),
  );
  if (living.length === 0) return { resource: provenance, dropped: 0 };
  return { resource: { ...provenance, target: living }, dropped: all.length - living.length };
}

/** The data for one entry's request. */
export interface PreparedEntry {
  readonly urn: string;
  readonly resource: JsonObject;
  readonly condition?: Entry['condition'];
}

/** Serializes a transaction Bundle. The same entries always produce the same text. */
export function printTransaction(entries: readonly PreparedEntry[]): string {
  const texts = entries.map(({ urn, resource, condition }) => {
    const type = resource.resourceType as string;
    const request =
      condition?.method === 'PUT'
        ? { method: 'PUT', url: `${type}?${condition.criteria}` }
        : {
            method: 'POST',
            url: type,
            ...(condition === undefined ? {} : { ifNoneExist: condition.criteria }),
          };
    return `{"fullUrl":"${urn}","resource":${printJson(resource)},"request":${JSON.stringify(request)}}`;
  });
  return `{"resourceType":"Bundle","type":"transaction","entry":[${texts.join(',')}]}`;
}

/** The server's response to one entry. */
export interface AnsweredEntry {
  /** `Type/id`. */
  readonly reference: string;
  /** False if the resource already existed. */
  readonly created: boolean;
}

/**
 * Parses the response to a transaction, entry by entry.
 * @throws Failure if it isn't a valid response to a transaction.
 */
export function readAnswer(answer: JsonObject, entries: number): AnsweredEntry[] {
  const answered = Array.isArray(answer.entry) ? answer.entry : [];
  if (answered.length !== entries)
    throw new Failure("the service's answer has a different number of entries than the request");
  return answered.map((entry) => {
    const response = isObject(entry) && isObject(entry.response) ? entry.response : {};
    const target = typeof response.location === 'string' ? typeAndId(response.location) : undefined;
    if (target === undefined) throw new Failure("the service's answer has an entry without a location");
    return {
      reference: `${target.type}/${target.id}`,
      created: String(response.status).startsWith('201'),
    };
  });
}
