import { z } from 'zod';
import { isResourceType, typeEntry } from '#src/fhir/types.ts';
import { isObject, type JsonObject, printJson } from '#src/shared/json/json.ts';
import { askJson, objectsIn, PAGE_BYTES, readText } from '../ask.ts';
import { entryLine, isOfAi, printVersion } from '../entry-line.ts';
import { ToolFault } from '../fault.ts';
import { cutText } from '../long-text.ts';
import type { Reach } from '../reach.ts';
import { recordOutput, recordText } from '../record-content.ts';
import { AS_OF, COMMON, defineTool } from '../tool.ts';

/** Reads one resource with its version's provenance. */
export const readResource = defineTool({
  name: 'read_resource',
  title: 'Read a resource',
  description:
    'One FHIR R4 resource as stored, in its current or an earlier version, with who wrote that version, when and from which system.',
  input: z.strictObject({
    ...COMMON,
    type: z.string().max(64).describe('The resource type, such as Observation.'),
    id: z.string().max(64).describe('Its id.'),
    version: z.int().min(1).optional().describe('Default: the current version.'),
    as_of: AS_OF,
    cursor: z.string().max(20).optional().describe('next_cursor of the previous part of a long resource.'),
  }),
  output: recordOutput(
    z.looseObject({
      resource: z.looseObject({}).optional(),
      json_part: z.string().optional().describe('Part of the JSON of a long resource; join the parts.'),
      provenance: z
        .looseObject({})
        .nullable()
        .describe('Who wrote this version. Null: not shown, see incomplete.'),
    }),
  ),
  async run({ patient, type, id, version, as_of, cursor }, reach) {
    if (!isResourceType(type))
      throw new ToolFault(`unknown resource type ${type}; search_record lists the types`);
    const path = `/fhir/R4/${type}/${encodeURIComponent(id)}${version === undefined ? '' : `/_history/${version}`}`;
    const resource = await askJson(reach, { path, query: { _asOf: as_of } });
    const found = await findProvenance(reach, patient, resource);
    const provenance = found ?? null;
    const isAi = isOfAi(resource) || provenance?.author_type === 'ai';
    const { shown, next } = cutJson(resource, cursor);
    const written = isObject(provenance)
      ? `Written by ${String(provenance.author_type)}, recorded ${String(provenance.recorded)}.`
      : 'Who wrote it is not shown.';
    return {
      text: recordText(
        `${printVersion(resource)}. ${isAi ? 'Written by an AI and not verified.' : written}`,
        [entryLine(resource)],
        2_000,
      ),
      structured: {
        record_content: isAi ? { provenance } : { ...shown, provenance },
        ...(isAi ? { ai_written: [shown] } : {}),
        incomplete:
          provenance === null && typeEntry(type).home === 'record'
            ? [{ left_out_by: found === undefined ? 'size' : 'scope', what: 'Provenance' }]
            : [],
        next_cursor: next,
      },
      versions: [printVersion(resource)],
    };
  },
});

/**
 * Returns the whole resource, or a part of its JSON if the resource is long.
 * @throws ToolFault for an invalid cursor
 */
function cutJson(
  resource: JsonObject,
  cursor: string | undefined,
): { readonly shown: JsonObject; readonly next: string | null } {
  const json = printJson(resource);
  if (Buffer.byteLength(json) <= PAGE_BYTES) return { shown: { resource }, next: null };
  const { text, next } = cutText(json, cursor);
  return { shown: { json_part: text }, next };
}

/** The maximum number of pages that are searched for a version; the search begins with the newest versions. */
const MOST_PAGES = 20;

/**
 * Returns a version's provenance; null if the caller isn't allowed to see it; undefined if there are too many newer versions
 * to find it.
 */
async function findProvenance(
  reach: Reach,
  given: string | undefined,
  { resourceType, id, meta }: JsonObject,
): Promise<JsonObject | null | undefined> {
  const type = String(resourceType);
  if (!isResourceType(type) || typeEntry(type).home !== 'record' || type === 'Provenance') return null;
  const patient = given ?? (await reach.grant())?.patient;
  const path = `/v1/patients/${encodeURIComponent(patient ?? '')}/provenance/${type}/${String(id)}`;
  if (patient === undefined) return null;
  const version = isObject(meta) ? meta.versionId : undefined;
  try {
    for (let cursor: string | undefined, page = 0; page < MOST_PAGES; page += 1) {
      const { data, next_cursor: next } = await askJson(reach, { path, query: { limit: 200, cursor } });
      const found = objectsIn(data).find((each) => String(each.version) === version);
      cursor = readText(next);
      if (found !== undefined || cursor === undefined) return found ?? null;
    }
    return undefined;
  } catch (error) {
    if (error instanceof ToolFault && (error.status === 403 || error.status === 404)) return null;
    throw error;
  }
}
