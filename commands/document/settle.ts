/**
 * Processes the attachments of a DocumentReference that is being written: inline data goes to the document store, because
 * events contain no bytes; contents that are already stored stay unchanged (docs/spec/decisions.md, section 4). Pure.
 */
import { createHash } from 'node:crypto';
import {
  type HeldContent,
  heldContents,
  isOwnUrl,
  listAttachments,
  restoredAttachment,
  sha256In,
  withAttachment,
  withStored,
} from '#src/fhir/document-content.ts';
import type { Issue } from '#src/shared/issue.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Finalized, Settled, Unsettled } from '../resource/contents.ts';

/**
 * Processes all attachments.
 * @throws Refusal invalid (422) for a wrong hash or size, or a URL to unknown content; conflict (409) if content would be
 *   removed
 */
export function settleAttachments(unsettled: Unsettled): Settled {
  const { id, before, stored, draw, url } = unsettled;
  const held = before === undefined ? [] : heldContents(before, id);
  const finalized: Finalized[] = [...stored];
  const kept = new Set<string>();
  const issues: Issue[] = [];
  let { resource } = unsettled;
  listAttachments(resource).forEach((attachment, index) => {
    const refuse = (element: string, what: string): void => {
      const expression = `DocumentReference.content[${index}].attachment.${element}`;
      issues.push({ code: 'value', diagnostics: `${expression}: ${what}`, expression });
    };
    const keep = (content: HeldContent): void => {
      kept.add(content.blob);
      for (const name of ['id', 'contentType', 'size', 'hash'] as const)
        if (attachment[name] !== undefined && String(attachment[name]) !== String(content.attachment[name]))
          refuse(name, 'the content of a document cannot be changed; create another document');
      const sha256 = sha256In(attachment);
      if (sha256 !== undefined && sha256 !== content.sha256)
        refuse('extension', 'the content of a document cannot be changed; create another document');
      resource = withAttachment(resource, index, restoredAttachment(attachment, content));
    };
    if (typeof attachment.data === 'string') {
      const bytes = Buffer.from(attachment.data, 'base64');
      const sha1 = createHash('sha1').update(bytes).digest('base64');
      if (attachment.hash !== undefined && attachment.hash !== sha1)
        refuse('hash', 'must be the SHA-1 of the data, in base64');
      if (attachment.size !== undefined && Number(attachment.size) !== bytes.length)
        refuse('size', `must be the number of bytes in the data, ${bytes.length}`);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const same = held.find((each) => each.sha256 === sha256 && !kept.has(each.blob));
      if (same !== undefined) {
        keep(same);
        return;
      }
      const blob = draw('blob', index);
      const first = held.length + finalized.length === 0;
      const content = { blob, contentType: String(attachment.contentType), size: bytes.length, sha256 };
      const place = { url: url(id, first ? undefined : blob), sha1 };
      resource = withAttachment(resource, index, withStored(attachment, { ...content, ...place }));
      finalized.push({ ...content, eventId: draw('finalized', index), bytes });
    } else if (isOwnUrl(attachment.url, id)) {
      const same = held.find((each) => each.attachment.url === attachment.url);
      if (same !== undefined) keep(same);
      else if (!stored.some(({ blob }) => blob === attachment.id))
        refuse(
          'url',
          'the document has no content at this URL; send the content as `data`, or upload it with PUT /v1/documents/<id>/content',
        );
    }
  });
  if (issues.length > 0) throw new Refusal('invalid', issues);
  if (held.some(({ blob }) => !kept.has(blob))) throw immutable(id);
  return { resource, finalized };
}

/** Returns the refusal (409) for changes to a final document's content. */
export function immutable(id: string): Refusal {
  const diagnostics = `the content of DocumentReference/${id} is final: it cannot be changed or removed`;
  return new Refusal('conflict', { code: 'conflict', diagnostics });
}
