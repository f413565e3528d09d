/** Recreates the content of shared links from the log, by opening the link again with the same look-up results. */
import { Readable } from 'node:stream';
import type { AiVersions } from '#src/clinical/summary/choose.ts';
import type { Version } from '#src/context/record.ts';
import { pickReplaced } from '#src/context/replaced.ts';
import { ownCaller } from '#src/shared/access/caller.ts';
import { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import { type ContentDeps, openContent } from '#src/shl/content.ts';
import { InputGone, type LoggedVersion, type Material } from './material.ts';
import { groupVersions, nameVersion, seeRecord } from './record.ts';
import { chooseAgain, readTexts } from './summary.ts';

/** A reader with all rights, because the rights aren't checked again. */
const READER = ownCaller({ project: '', environment: 'sandbox' }, { kind: 'shared_link', linkId: '' }, [
  'read',
]);

/**
 * Returns a link's content as text.
 * @throws InputGone
 */
export async function renderLink(material: Material): Promise<string> {
  const { record, parameters } = material;
  const content = String(parameters.content);
  const text = await openContent(lookUpAgain(material), {
    ...{ caller: READER, record, content, budget: new AnswerBudget() },
  });
  const parts: Buffer[] = [];
  for await (const part of text ?? []) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Returns the look-ups for a link's content; they are answered from its receipt and the log. */
function lookUpAgain(material: Material): ContentDeps {
  const { parameters, inputs, named, files } = material;
  const names = new Map(Object.entries(readTexts(inputs.displays)));
  const ids = Array.isArray(inputs.ids) ? inputs.ids.map(String) : [String(parameters.id)];
  const find = (id: string, version: number | undefined) => {
    const found = [...material.versions, ...material.directory].find(
      (each) => each.id === id && each.version === version,
    );
    if (found?.body == null) throw new InputGone(`version ${version} of ${id} isn't in the log`);
    return { ...found, body: found.body };
  };
  const findNamed = (id: string) => find(id, named.find((each) => each.id === id)?.version);
  let written: ReturnType<typeof groupVersions> | undefined;
  const answers = {
    read: (_: unknown, type: string, id: string) =>
      Promise.resolve(parameters.content === 'everything' ? { type, id, body: '{}' } : findNamed(id)),
    vread: (_: unknown, _type: string, id: string, version: number) => Promise.resolve(find(id, version)),
    everything: () =>
      Promise.resolve({
        entries: named.map(({ id, version }) => {
          const { type, body } = find(id, version);
          return { type, id, body: Buffer.from(body) };
        }),
      }),
    aiVersions: () => Promise.resolve(findAiVersions(material.versions)),
    replacedVersions: (_: unknown, current: readonly Version[]) => {
      written ??= groupVersions(seeRecord(material).written);
      return Promise.resolve(pickReplaced(written, current));
    },
    summarize: async (...[, , , , make]: Parameters<ContentDeps['queries']['summarize']>) => {
      const { chosen, directory } = await chooseAgain(material);
      return make({ chosen, directory, position: 0, hidden: new Map() });
    },
  };
  return {
    queries: answers as unknown as ContentDeps['queries'],
    freshness: { catchUp: () => Promise.resolve() },
    displays: (codes) =>
      Promise.resolve(
        new Map(
          codes.flatMap(({ system, code }) => {
            const name = names.get(`${system}|${code}`);
            return name === undefined ? [] : [[`${system}|${code}`, name] as const];
          }),
        ),
      ),
    documents: {
      get: ({ document, blob }) => {
        const bytes = files[`${document}/${blob}`];
        if (bytes === undefined)
          throw new InputGone(`the bytes of DocumentReference/${document} are no longer stored`);
        return Promise.resolve(Readable.from([Buffer.from(bytes, 'base64')]));
      },
    },
    base: String(parameters.base),
    newId: () => ids.shift() ?? '',
    now: () => Number(parameters.now),
  };
}

/** Returns the versions that an AI wrote, each with the last earlier version that an AI didn't write. */
function findAiVersions(versions: readonly LoggedVersion[]): AiVersions {
  return new Map(
    versions
      .filter(({ authorType }) => authorType === 'ai')
      .map((version) => {
        const before = versions.findLast(
          ({ id, version: number, body, authorType }) =>
            id === version.id && number < version.version && body !== null && authorType !== 'ai',
        );
        return [nameVersion(version), before?.version];
      }),
  );
}
