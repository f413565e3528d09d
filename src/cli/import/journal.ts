/** The facts in an import's journal, one per line. */
import { z } from 'zod';

const counts = z.record(z.string(), z.int());

/** A line in the journal. */
export const factSchema = z.union([
  /** The first line identifies the import. `salt` distinguishes it from an earlier import of the same files. */
  z.object({ import: z.literal(1), url: z.string(), salt: z.string() }),
  /** A source whose units are all done, and its counts; it won't be parsed again. */
  z.object({ source: z.string(), name: z.string(), loaded: counts, skipped: counts }),
  /**
   * How a unit that is too large for one transaction is split: the number of entries in each part. Also written after a 413.
   */
  z.object({ unit: z.string(), parts: z.array(z.int()) }),
  /** The response to one of a unit's transactions: key → `Type/id` on the server. When `left` is 0, the unit is done. */
  z.object({
    unit: z.string(),
    left: z.int(),
    patient: z.string(),
    ids: z.record(z.string(), z.string()),
  }),
  z.object({ unit: z.string(), failed: z.string() }),
  /**
   * Written before a transaction with directory entries is sent. If no response is recorded, the same transaction is sent
   * again.
   */
  z.object({
    intent: z.string(),
    body: z.string(),
    identities: z.array(z.string()),
    contents: z.array(z.string()),
  }),
  /** Directory entries that the server has: their keys, content and new ids. */
  z.object({
    answered: z.string(),
    directory: z.array(z.object({ identity: z.string(), content: z.string(), reference: z.string() })),
  }),
]);

/** A fact about an import. */
export type Fact = z.infer<typeof factSchema>;
