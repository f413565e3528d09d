/** An update of a version that an AI wrote, by a client that has read it with HL7's label. */
import type { ResourceType } from '#src/fhir/types.ts';
import { isAiLabelled, withoutAiLabel } from '#src/shared/access/ai-label.ts';
import { readStored } from '#src/shared/json/json.ts';
import type { SubmittedResource } from '../command.ts';
import type { CurrentVersions } from './current.ts';

/**
 * Returns a resource without the label that reads have added to the stored version (`src/shared/access/ai-label.ts`), and
 * the number of that version. A label that a client set itself stays.
 */
export async function withoutAddedLabel(
  versions: CurrentVersions,
  resource: SubmittedResource,
  stream: string,
  type: ResourceType,
  id: string,
): Promise<{ readonly resource: SubmittedResource; readonly basedOn: number }> {
  const { version: basedOn, body, byAi } = await versions.lastWithBody(stream, type, id);
  if (!byAi || isAiLabelled(readStored(body).value)) return { resource, basedOn };
  return { resource: { ...resource, value: withoutAiLabel(resource.value) }, basedOn };
}
