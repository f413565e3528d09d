/** `annal show <Type/id>`: prints a resource as the service serves it. */
import { stringify } from 'lossless-json';
import { Failure } from './failure.ts';
import { findService, readFhir, type ServiceOptions } from './service.ts';

/** What the command line says. */
export interface ShowOptions extends ServiceOptions {
  /** Prints the exact text that is served instead of an indented one. */
  readonly json?: boolean;
}

/** `Type/id`, `Type/id/_history/n`, or a bare id, which is a patient's. @throws Failure for anything else. */
export function resourcePath(text: string): string {
  if (/^[A-Z][A-Za-z]+\/[A-Za-z0-9\-.]{1,64}(\/_history\/\d+)?$/.test(text)) return text;
  if (/^[A-Za-z0-9\-.]{1,64}$/.test(text)) return `Patient/${text}`;
  throw new Failure(`${text}: expected Type/id, such as Patient/018f…`);
}

/** Prints one resource. @throws Failure when the service refuses. */
export async function showCommand(resource: string, { json = false, ...where }: ShowOptions): Promise<void> {
  const path = resourcePath(resource);
  const { text, value } = await readFhir(await findService(where), path);
  process.stdout.write(`${json ? text : stringify(value, undefined, 2)}\n`);
}
