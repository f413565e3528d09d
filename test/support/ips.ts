/** Documents and resources for testing the IPS profiles: the published examples, and changes to them. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isObject, type Json, type JsonObject, parseJson } from '#src/shared/json/json.ts';

const folder = join(
  dirname(createRequire(import.meta.url).resolve('hl7.fhir.uv.ips/package.json')),
  'example',
);

/** Names of the published examples, without `.json`. */
export const IPS_EXAMPLES: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -5));

/** Returns a published example by its name. */
export function ipsExample(name: string): JsonObject {
  const { value } = parseJson(readFileSync(join(folder, `${name}.json`), 'utf8'));
  if (!isObject(value)) throw new Error(`${name} is no resource`);
  return value;
}

/** Returns a copy with a different value at a path (`entry[0].resource.title`); undefined removes the value. */
export function changed(resource: JsonObject, path: string, value: Json | undefined): JsonObject {
  const copy = structuredClone(resource);
  const steps = path.replaceAll(']', '').split(/[.[]/);
  const last = steps.pop() ?? '';
  let at: Json | undefined = copy;
  for (const step of steps) at = Array.isArray(at) ? at[Number(step)] : isObject(at) ? at[step] : undefined;
  if (Array.isArray(at)) {
    if (value === undefined) at.splice(Number(last), 1);
    else at[Number(last)] = value;
  } else if (!isObject(at)) throw new Error(`there is nothing at ${path}`);
  else if (value === undefined) {
    if (at[last] === undefined) throw new Error(`there is nothing at ${path}`);
    delete at[last];
  } else at[last] = value;
  return copy;
}
