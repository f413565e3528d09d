/** A receipt as the JSON interfaces show it (docs/receipts.md). */
import { z } from 'zod';
import { RECEIPT_KINDS } from '#src/shared/access/receipt.ts';
import { toInstant } from '#src/shared/time/time.ts';
import type { ShownReceipt } from '../ports/receipts.ts';
import { instant } from './schemas.ts';

export const receiptSchema = z
  .object({
    id: z.string(),
    made_at: instant,
    kind: z.enum(RECEIPT_KINDS),
    reader: z
      .string()
      .describe('Who got the answer: `grant/…`, `key/key_…`, `application/app_…`, `link/shl_…` or `member`.'),
    position: instant.nullable().describe('When the last change was recorded that the answer knows of.'),
    versions: z
      .array(z.object({ id: z.string(), version: z.int() }))
      .describe('The versions of resources that it was made of.'),
    renderer: z.string().describe('The rules that made it.'),
    sha256: z.string().describe('Of the bytes that were sent.'),
    outcome: z
      .enum(['matches', 'differs', 'altered', 'gone'])
      .describe(
        '`matches`: made again, the answer is byte for byte the one that was sent. `differs`: it is another one. `altered`: the receipt isn’t as it was written. `gone`: something that it was made from no longer exists, see `missing`.',
      ),
    missing: z.string().nullable(),
    content: z.string().nullable().describe('The answer that was sent; null unless it matches.'),
  })
  .meta({ id: 'Receipt' });

/** Returns a receipt in the form in which it is shown. */
export function receiptView({
  madeAt,
  position,
  versions,
  ...same
}: ShownReceipt): z.input<typeof receiptSchema> {
  return {
    ...same,
    made_at: toInstant(madeAt),
    position: position === null ? null : toInstant(position),
    versions: versions.map(({ id, version }) => ({ id, version })),
  };
}
