/** Describes the checkpoint that covers an event or an access-log entry. */
import { z } from 'zod';
import { instant } from '../../api/schemas.ts';

export const covering = z
  .object({
    id: z.string(),
    time: instant.describe('When the checkpoint was made.'),
    revision: z
      .int()
      .describe(
        'The last event in the stream, or the last entry in the access log, that the checkpoint covers.',
      ),
    hash: z.string().describe('Hash of that event or entry.'),
    root: z.string().describe('The checkpoint’s Merkle root.'),
  })
  .nullable()
  .describe(
    'The service’s newest checkpoint, if it covers this event or entry: if the event or entry is changed afterwards, it doesn’t match the checkpoint’s hash. Null if the event or entry is newer than the checkpoint.',
  );
