/**
 * Checks the length of the URLs of manifests:
 * https://docs.smarthealthit.org/smart-health-links/spec/#construct-a-shlink-payload
 */

/** The maximum length of a manifest's URL according to the standard, in characters. */
const MOST = 128;
/** Length of `/shl/{link_id}/{secret}`, in characters: an id has 26, a secret 43. */
const OWN = '/shl/'.length + 26 + '/'.length + 43;

/** Returns a warning if the URLs of shared links are longer than the standard allows; undefined if they aren't. */
export function manifestUrlWarning(baseUrl: string): string | undefined {
  if (baseUrl.length + OWN <= MOST) return undefined;
  return (
    `BASE_URL has ${baseUrl.length} characters: the URLs of shared links exceed the ${MOST} that SMART Health Links allow, ` +
    `so some applications may refuse them; with at most ${MOST - OWN} they don't`
  );
}
