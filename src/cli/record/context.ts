/** `annal context <manifest>`: generates a context again from the events, as they were when the context was requested. */
import { listIds, loadRecord } from '#src/app/receipts/load.ts';
import { remakeAnswer } from '#src/app/receipts/remake.ts';
import { FORM, type Manifest, printManifest } from '#src/context/manifest.ts';
import type { EventStore } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { ContextManifests, type KeptManifest } from '#src/operations/context-manifests.ts';
import { makeContextAgain } from '#src/receipts/context.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { Failure, NOT_ALL_CHECKED } from '../failure.ts';
import type { ServiceOptions } from '../service.ts';
import { withStream } from './patient.ts';
import { saySentence, withArchive } from './receipt.ts';

/** The command-line options. */
export interface ContextOptions extends Pick<ServiceOptions, 'dataDir'> {
  /** Prints the whole response, byte for byte, instead of its text. */
  readonly json?: boolean;
}

/**
 * Generates a context again and prints it: from its receipt, or from a manifest of an Annal version without receipts.
 * @returns the exit code: 4 if the manifest doesn't show whether the result is the same as the response that was sent.
 * @throws Failure for a manifest that doesn't exist, a purged record, a mismatch with the manifest, or an unreachable
 * database.
 */
export async function contextCommand(
  id: string,
  { json = false, ...where }: ContextOptions,
): Promise<number> {
  const { answer, text, checked } = await withArchive(
    where,
    async (archive, receipts): Promise<ContextAgain> => {
      const row = await receipts.findNamed(id);
      if (row === undefined) {
        const kept = await new ContextManifests(archive.pool).find(id);
        if (kept === undefined) throw new Failure(`unknown manifest ${id.slice(0, 60)}`);
        return contextAgain(archive.store, kept);
      }
      const remade = await withStream(archive.store, recordStream(row.record), () =>
        remakeAnswer(archive, row),
      );
      if (remade.outcome !== 'matches') throw new Failure(`${id}: ${saySentence(remade)}`);
      const answer = remade.bytes.toString();
      return { answer, text: readText(answer), checked: true };
    },
  );
  process.stdout.write(`${json ? answer : text}\n`);
  if (checked) return 0;
  process.stderr.write(
    `annal: ${id} was written by a version of Annal that stored no hash of the answer. This text follows the rules of ` +
      `the current version, so whether it matches the answer that was returned can't be checked.\n`,
  );
  return NOT_ALL_CHECKED;
}

/** A context that was generated again. */
interface ContextAgain {
  readonly text: string;
  /** JSON. */
  readonly answer: string;
  /**
   * True if the context was compared with the response that was sent. Manifests in form 1 don't contain the response's hash.
   */
  readonly checked: boolean;
}

/** Returns the text of a context: its own text, or the text of its items. */
function readText(answer: string): string {
  const { text, sections }: { text?: string; sections: { items: { text: string }[] }[] } = JSON.parse(answer);
  return text ?? sections.flatMap(({ items }) => items.map((item) => item.text)).join('\n');
}

/**
 * Generates the context that a manifest names again, and its text.
 * @throws Failure if the context differs from the response that was sent, because the events or the rules for contexts have
 * changed since.
 */
async function contextAgain(
  store: EventStore,
  { id, tenantId, record, manifest }: KeptManifest,
): Promise<ContextAgain> {
  const given: Manifest = JSON.parse(manifest);
  const until = { kind: 'time', micros: toMicros(given.grant?.until ?? given.at) } as const;
  const log = await withStream(store, recordStream(record), () =>
    loadRecord(store, record, until, listIds({ directory: { ...given.directory } })),
  );
  const again = await makeContextAgain({ ...log, parameters: {} }, given, tenantId);
  if (!isSame(again.manifest, given)) throw new Failure(`${id}: ${whyOther(given)}`);
  return {
    text: again.made.composed.text,
    answer: JSON.stringify({ ...again.body, manifest_id: id }),
    checked: given.answer !== undefined,
  };
}

/**
 * Compares responses by their hash. Manifests in form 1 have no hash, so the data that they take from outside the record is
 * compared instead.
 */
function isSame(made: Manifest, given: Manifest): boolean {
  if (given.answer !== undefined) return made.answer === given.answer;
  const { answer: _, version: _v, ...inputs } = made;
  return printManifest({ ...inputs, form: given.form }) === printManifest(given);
}

function whyOther({ form, version }: Manifest): string {
  const differs = 'the context made from the events differs from the one that was returned';
  if (form === FORM)
    return `${differs}. The rules for contexts haven't changed since, so check the events and the manifest: annal verify`;
  const writer = version === undefined ? 'An earlier version of Annal' : `Annal ${version}`;
  return `${differs}. ${writer} made it with form ${form} of the rules, but this version has form ${FORM}. Run that version's annal context on a copy of the data`;
}
