/** The keys by which a report finds the resources that earlier reports of the same order created. Pure. */
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { codeText } from './codes.ts';
import { type FormerKey, joinKey } from './labs.ts';
import type { Order } from './orders.ts';
import type { Reading } from './reading.ts';
import { localSystem } from './systems.ts';

/** The key of an order, and the key that earlier versions of Annal gave it, if different. */
export interface OrderKey {
  readonly key: string;
  readonly former?: FormerKey;
}

/**
 * Returns an order's key: the filler's number; without one, the placer's number; without either, the code and time. The
 * ordered service is always part of the key. A number belongs to the authority with its universal id, or otherwise to the
 * sender. A namespace is only a local name at its site (HL7 v2 chapter 2A, "EI", "HD"), so two laboratories may use the same
 * namespace.
 */
export function orderKey({ obr, orc }: Order, message: string, { sender }: Reading): OrderKey {
  const service = codeText(obr?.part(4) || obr?.part(4, 2) || '');
  for (const [field, own] of [
    [3, 'filler'],
    [2, 'placer'],
  ] as const) {
    for (const segment of [obr, orc]) {
      const number = segment?.part(field) ?? '';
      if (segment === undefined || number === '') continue;
      const universal = segment.part(field, 3);
      const namespace = segment.part(field, 2);
      if (universal !== '' || namespace === '')
        return { key: joinKey(own, universal || sender, number, service) };
      return {
        key: joinKey(`${own}-of`, sender, namespace, number, service),
        former: { key: joinKey(own, namespace, number, service), sender },
      };
    }
  }
  const when = obr?.part(7) || message;
  return { key: joinKey('order', sender, when, service) };
}

/** Who wrote a version, as members of the event's metadata. */
export interface WrittenBy {
  readonly author?: { readonly type: string } | undefined;
  readonly source_system?: string | undefined;
  /** Why the service wrote the version. */
  readonly cause?: string | undefined;
}

/**
 * Returns whether a resource with a former key certainly came from the given sender. It did if it has codes that this sender
 * defined. If it has no sender's codes at all, it did if it was imported from that source system; if a person or the service
 * wrote the current version, the source system of the first version decides.
 */
export function isOfSender(
  sender: string,
  resource: JsonObject,
  current: WrittenBy | undefined,
  first: WrittenBy | undefined,
): boolean {
  const own = localSystem(sender);
  const local = [...systemsIn(resource)].filter((system) => system.startsWith(LOCAL));
  if (local.length > 0)
    return own !== undefined && local.some((system) => system === own || system.startsWith(`${own}/`));
  const isImport = current?.author?.type === 'import' && current.cause === undefined;
  const writer = isImport ? current : first;
  return writer !== undefined && (writer.source_system ?? '') === sender;
}

const LOCAL = localSystem('-')?.slice(0, -1) ?? '';

/** Returns the systems of all codings in a resource. */
function* systemsIn(value: Json): Iterable<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value))
    if (name === 'system' && typeof member === 'string') yield member;
    else yield* systemsIn(member as Json);
}
