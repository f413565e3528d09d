/** Recreates answers to assistants from the log: the tool runs again, with the replies in the answer's receipt. */
import { answerMessage } from '#src/mcp/answer.ts';
import { isPdf, readPlainText } from '#src/mcp/plain-text.ts';
import type { OwnGrant, Reach, Reply } from '#src/mcp/reach.ts';
import { joinVersions, readReplies } from '#src/mcp/replies.ts';
import { isObject, type Json, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { renderContext } from './context.ts';
import { InputGone, type Material } from './material.ts';
import { sendOutward } from './outward.ts';
import { readAccess, readTexts } from './summary.ts';

/**
 * Returns an answer's text.
 * @throws InputGone
 */
export async function renderMcp(material: Material): Promise<string> {
  const { parameters, inputs } = material;
  const body = parseJson(String(parameters.body)).value;
  const replies = readReplies(inputs);
  const texts: Json[] = Array.isArray(inputs.texts) ? [...inputs.texts] : [];
  const grant = readGrant(parameters.grant);
  let next = 0;
  let gone: unknown;
  const ask = async (): Promise<Reply> => {
    const reply = replies[next];
    next += 1;
    try {
      if (reply === undefined) throw new TypeError('the tool asks for more than it did');
      return await makeReply(material, reply);
    } catch (error) {
      gone ??= error;
      throw error;
    }
  };
  const reach: Reach = {
    ...{ base: String(parameters.base_url), ask, grant: () => Promise.resolve(grant) },
    exact: argumentsIn(body),
    readFile(mediaType, bytes) {
      if (!isPdf(mediaType)) return readPlainText(mediaType, bytes);
      const text = texts.shift();
      return Promise.resolve(typeof text === 'string' ? text : undefined);
    },
  };
  const { text } = await answerMessage({
    ...{ body, headers: readTexts(parameters.headers), version: String(parameters.version), reach },
    hasGrant: grant !== undefined,
    runs: () => undefined,
  }).catch((error: unknown) => {
    throw gone ?? error;
  });
  return text;
}

/**
 * Recreates a reply as the tool received it.
 * @throws InputGone
 */
async function makeReply(material: Material, reply: JsonObject): Promise<Reply> {
  const { status, retry_after: retryAfter, file, outward } = reply;
  const head = { status: Number(status), ...(typeof retryAfter === 'string' ? { retryAfter } : {}) };
  if (typeof file === 'string') {
    const bytes = material.files[file];
    if (bytes === undefined)
      throw new InputGone(`the bytes of DocumentReference/${file} are no longer stored`);
    return { ...head, body: Buffer.from(bytes, 'base64') };
  }
  const { patient } = isObject(material.parameters.grant) ? material.parameters.grant : {};
  const own = isObject(outward)
    ? {
        outward: {
          ...outward,
          patient: patient ?? '',
          base: `${String(material.parameters.base_url)}/fhir/R4/`,
        },
      }
    : {};
  return { ...head, body: await sendOutward({ ...material, inputs: own }, await makeText(material, reply)) };
}

function makeText(material: Material, { context, text }: JsonObject): Promise<string> {
  if (!isObject(context))
    return Promise.resolve(joinVersions(text, (id, version) => findBody(material, id, version)));
  const { parameters, inputs } = context;
  if (!isObject(parameters) || !isObject(inputs)) throw new TypeError('a context without its inputs');
  return renderContext({ ...material, parameters, inputs });
}

function findBody({ versions, directory }: Material, id: string, version: number): string {
  const isIt = (each: { readonly id: string; readonly version: number }): boolean =>
    each.id === id && each.version === version;
  const body = (versions.find(isIt) ?? directory.find(isIt))?.body;
  if (body == null) throw new InputGone(`version ${version} of ${id} isn't in the log`);
  return body;
}

function readGrant(grant: Json | undefined): OwnGrant | undefined {
  if (!isObject(grant)) return undefined;
  const { patient, grant_id: id, types } = grant;
  return {
    patient: String(patient),
    grantId: typeof id === 'string' ? id : undefined,
    access: readAccess(types) ?? { types: new Map() },
  };
}

/** Returns the arguments of a tool call. */
function argumentsIn(body: Json): JsonObject | undefined {
  const params = isObject(body) ? body.params : undefined;
  const given = isObject(params) ? params.arguments : undefined;
  return isObject(given) ? given : undefined;
}
