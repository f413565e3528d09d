/** Formats receipts for the JSON interfaces (docs/receipts.md). */
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
    position: instant
      .nullable()
      .describe('When the last change that the answer takes into account was recorded.'),
    versions: z
      .array(z.object({ id: z.string(), version: z.int() }))
      .describe('The resource versions that the answer was made from.'),
    renderer: z.string().describe('The rules by which the answer was made.'),
    sha256: z.string().describe('Hash of the bytes that were sent.'),
    outcome: z
      .enum(['matches', 'differs', 'altered', 'gone'])
      .describe(
        '`matches`: the answer was made again, and is byte for byte the one that was sent. `differs`: the answer that was made again differs. `altered`: the receipt was altered. `gone`: something that the answer was made from no longer exists; see `missing`.',
      ),
    missing: z.string().nullable(),
    content: z.string().nullable().describe('The answer that was sent; null unless it matches.'),
  })
  .meta({ id: 'Receipt' });

/** Formats a receipt for a response. */
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
