/** Recreates contexts from the log. */
import { buildAnswer, type ContextAnswer, madeFor } from '#src/context/answer.ts';
import type { Authorship } from '#src/context/compose.ts';
import { makeExcerpts } from '#src/context/excerpt.ts';
import { type MadeContext, makeContext } from '#src/context/make.ts';
import type { GrantManifest, Manifest } from '#src/context/manifest.ts';
import { maskedAuthorship, maskedBody } from '#src/context/masked.ts';
import { openRecord } from '#src/context/record.ts';
import { pickReplaced } from '#src/context/replaced.ts';
import type { Access } from '#src/shared/access/access.ts';
import { grantCoverage } from '#src/shared/access/coverage.ts';
import { isObject } from '#src/shared/json/json.ts';
import type { Material } from './material.ts';
import { groupVersions, type Living, nameVersion, pickEntries, seeRecord } from './record.ts';

/** A recreated context. */
export interface ContextAgain extends ContextAnswer {
  readonly made: MadeContext;
}

/**
 * Recreates a context.
 * @param manifest the context's inputs
 * @param tenant the UUID of the record's owner
 */
export async function makeContextAgain(
  material: Pick<Material, 'versions' | 'directory' | 'parameters'>,
  manifest: Manifest,
  tenant: string,
): Promise<ContextAgain> {
  const { patient, at, day, ask, directory, displays, grant, version = '' } = manifest;
  const access = grant && readAccess(grant);
  const mask = (found: readonly Living[]): readonly Living[] =>
    grant === undefined ? found : found.map((each) => ({ ...each, body: maskedBody(each.body) }));
  const seen = seeRecord({ ...material, position: grant?.until ?? at }, access);
  const [current, earlier] = [mask(seen.current), mask(seen.earlier)];
  const all = [...current, ...earlier];
  const written = groupVersions(mask(seen.written));
  const authors = new Map(all.map((each) => [nameVersion(each), readAuthorship(each, grant !== undefined)]));
  const made = await makeContext(
    {
      opened: openRecord(makeExcerpts(current), seen.byAi),
      directory: (keys) =>
        Promise.resolve(
          mask(pickEntries(material, directory).filter(({ type, id }) => keys.includes(`${type}/${id}`))),
        ),
      displays: () => Promise.resolve(new Map(Object.entries(displays))),
      authors: () => Promise.resolve(authors),
      bodies: () => Promise.resolve(new Map(all.map((each) => [nameVersion(each), each.body]))),
      replaced: (versions) => Promise.resolve(pickReplaced(written, versions)),
      covered: grantCoverage(access),
    },
    ask,
    day,
  );
  const origin = { patient, at, day, version, ...(grant === undefined ? {} : { grant }) };
  return { made, ...buildAnswer(made, ask, { ...origin, madeFor: madeFor(tenant, grant?.id) }) };
}

/** Returns the text of an answer that contains a context. */
export async function renderContext(material: Material): Promise<string> {
  const { tenant, manifest } = material.parameters;
  const all = { ...(isObject(manifest) ? manifest : {}), ...material.inputs } as unknown as Manifest;
  return JSON.stringify((await makeContextAgain(material, all, String(tenant))).body);
}

function readAuthorship({ authorType, source }: Living, isMasked: boolean): Authorship {
  const own = { authorType: authorType ?? 'import', source };
  return isMasked ? maskedAuthorship(own) : own;
}

function readAccess({ types }: Pick<GrantManifest, 'types'>): Access {
  return { types: new Map(Object.entries(types)) };
}
