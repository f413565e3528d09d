/** Drafts receipts for summaries: the inputs from which the same document can be generated again (docs/receipts.md). */
import type { Access } from '../../shared/access/access.ts';
import type { NamedVersion, ReceiptDraft } from '../../shared/access/receipt.ts';
import type { Micros } from '../../shared/time/time.ts';
import type { Chosen } from './choose.ts';
import type { Displays } from './displays.ts';
import { SUMMARY_FORM } from './document.ts';
import type { Stored } from './source.ts';

/** The inputs of a summary, other than the record. */
export interface SummaryInputs {
  readonly id: string;
  readonly now: Micros;
  readonly base: string;
  readonly chosen: Chosen;
  readonly directory: readonly Stored[];
  readonly displays: Displays;
  /** References that the reader may not see, with the types that they name. */
  readonly hidden: ReadonlyMap<string, string>;
  /** The grant's access; undefined means access to everything. */
  readonly access: Access | undefined;
  readonly position: Micros;
  /** True if the summary is as of a past time. */
  readonly isPast: boolean;
}

/**
 * Returns the draft of a summary's receipt.
 * @param record the Patient's id
 */
export function draftSummary(record: string, from: SummaryInputs): ReceiptDraft {
  const { id, now, base, chosen, directory, displays, hidden, access, position, isPast } = from;
  const inDirectory = new Set(directory.map((entry) => entry.id));
  const sources = [...chosen.entries.values()].map(({ source }) => source);
  const types = access && Object.fromEntries(access.types);
  return {
    ...{ kind: 'summary', form: SUMMARY_FORM, record, position, name: null },
    parameters: {
      id,
      now,
      base,
      is_past: isPast,
      ...(types && { types: JSON.parse(JSON.stringify(types)) }),
    },
    versions: sources.filter((source) => !inDirectory.has(source.id)).flatMap(readName),
    inputs: {
      directory: Object.fromEntries(
        directory.flatMap((entry) =>
          readName(entry).map(({ version }) => [`${entry.type}/${entry.id}`, version]),
        ),
      ),
      displays: Object.fromEntries(displays),
      hidden: Object.fromEntries(hidden),
    },
  };
}

/** Matches the version among the first members of a stored resource. */
const VERSION = /"meta":\{(?:"[a-z]+":"[^"]*",)*?"versionId":"(\d+)"/i;

/** Returns a stored resource's version; an empty list for a resource that exists only in the summary. */
export function readName({ type, id, body }: Stored): NamedVersion[] {
  const version = type === 'DeviceUseStatement' ? undefined : VERSION.exec(body)?.[1];
  return version === undefined ? [] : [{ id, version: Number(version) }];
}
