/** `annal show <Type/id | patient>`: prints a resource as the service returns it. */
import { stringify } from 'lossless-json';
import { isUuid } from '#src/shared/ids.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import { findService, readFhir, type ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { resolvePatient } from './patients.ts';

/** The command-line options. */
export interface ShowOptions extends ServiceOptions {
  /** Prints the exact text that the service returns, instead of indented text. */
  readonly json?: boolean;
}

const RESOURCE = /^[A-Z][A-Za-z]+\/[A-Za-z0-9\-.]{1,64}(\/_history\/\d+)?$/;

/**
 * Prints one resource: `Type/id`, `Type/id/_history/n`, or a patient by id, name or identifier.
 * @throws Failure if the service refuses the request, or if no patient or several patients have the name.
 */
export async function showCommand(resource: string, { json = false, ...where }: ShowOptions): Promise<void> {
  const service = await findService(where);
  const { text, value } = await readFhir(service, await findPath(resource, where));
  process.stdout.write(`${json ? text : stringify(value, undefined, 2)}\n`);
}

/** Names are looked up in the database of this machine's service. For a different service, only ids can be used. */
async function findPath(text: string, { url: elsewhere, ...where }: ShowOptions): Promise<string> {
  if (RESOURCE.test(text)) return text;
  if (isUuid(text)) return `Patient/${text}`;
  if (elsewhere !== undefined)
    throw new Failure(
      `${text} is not a valid reference: with --url, pass Type/id, for example Patient/018f…`,
      MISUNDERSTOOD,
    );
  return `Patient/${await withDatabase(where, ({ url }) => resolvePatient(url, text))}`;
}
