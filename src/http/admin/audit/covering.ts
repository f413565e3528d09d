/** The checkpoint that covers an event or an entry of the access log. */
import { z } from 'zod';
import { instant } from '../../api/schemas.ts';

export const covering = z
  .object({
    id: z.string(),
    time: instant.describe('When it was made.'),
    revision: z
      .int()
      .describe('The last event of the stream, or the last entry of the access log, that it covers.'),
    hash: z.string().describe('Of that event or entry.'),
    root: z.string().describe('Merkle root of the checkpoint.'),
  })
  .nullable()
  .describe(
    'The newest checkpoint of the service, if it covers it: a change of it afterwards does not match the checkpoint’s hash. Null if it is younger.',
  );
