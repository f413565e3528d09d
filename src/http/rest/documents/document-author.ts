/**
 * Determines the author who finalizes a document. This is the author who created it, unless the upload names a different one.
 */
import type { CommandContext } from '#commands/command.ts';
import type { Mark } from '#queries/rest/marks.ts';
import type { AuthorType } from '#src/shared/access/author.ts';
import type { Authorship } from '#src/shared/access/caller.ts';
import type { Header } from '../../answer/authorship.ts';
import { makeCommandContext, type RestRequest } from '../record.ts';

/** Headers that name the author. The headers about the source are listed separately. */
const WHO = [
  'x-service-author-type',
  'x-service-author-ref',
  'x-service-acting-as',
  'x-service-on-behalf-of',
] as const;
const SOURCE = ['x-service-source-system', 'x-service-origin-id'] as const;

/**
 * Returns the context for the finalizing command. It is the context from `makeCommandContext`, but with the document's
 * original author if the request names no author, and with the original source system and origin id if the request names
 * neither.
 * @param created metadata of the event that created the document.
 * @param given `author_type` in the body.
 * @throws Refusal invalid (422) if `author_type` and the header differ.
 */
export function finalizingCommand(
  request: RestRequest,
  created: Mark['metadata'],
  given?: AuthorType,
): CommandContext {
  const command = makeCommandContext(request, given);
  const { authorType, authorRef, actingAs, onBehalfOf, sourceSystem, originId, faults } = command.authorship;
  const names = (headers: readonly string[]): boolean => headers.some((name) => isSent(request.header, name));
  const who =
    given !== undefined || names(WHO)
      ? { authorType, ...present({ authorRef, actingAs, onBehalfOf }) }
      : readAuthorship(created);
  const source = names(SOURCE)
    ? present({ sourceSystem, originId })
    : present({ sourceSystem: created.source_system, originId: created.origin_id });
  return { ...command, authorship: { ...who, ...source, ...present({ faults }) } };
}

function readAuthorship({ author, acting_as, on_behalf_of, ...named }: Mark['metadata']): Authorship {
  return {
    authorType: author?.type ?? 'import',
    ...present({ authorRef: author?.reference, authorName: author?.display, actingAs: acting_as }),
    ...present({ authorIdentifier: author?.identifier, actingName: named.acting_as_display }),
    ...present({ actingIdentifier: named.acting_as_identifier, organization: named.organization }),
    ...(on_behalf_of === undefined
      ? {}
      : { onBehalfOf: { reference: on_behalf_of.reference, ...present({ display: on_behalf_of.display }) } }),
    inherited: true,
  };
}

/** Returns whether a header was sent. An empty header is treated as absent. */
function isSent(header: Header, name: string): boolean {
  return (header(name) ?? '') !== '';
}

/** Returns only the members that have a value. */
function present<Members extends object>(
  members: Members,
): { [name in keyof Members]?: NonNullable<Members[name]> } {
  const all = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(all) as { [name in keyof Members]?: NonNullable<Members[name]> };
}
