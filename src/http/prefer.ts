/** `Prefer`: the response that a client would like. https://hl7.org/fhir/R4/http.html#ops, RFC 7240 */

/** The preferences that the service honours. */
export interface Prefer {
  readonly return?: 'minimal' | 'representation' | 'OperationOutcome';
  /** `strict`: unknown search parameters are refused. */
  readonly handling?: 'strict' | 'lenient';
}

const NONE: Prefer = {};
const RETURN = /(?:^|[;,\s])return\s*=\s*"?(minimal|representation|OperationOutcome)\b/;
const HANDLING = /(?:^|[;,\s])handling\s*=\s*"?(strict|lenient)\b/;

/** Parses the header; unknown preferences are ignored, as RFC 7240 requires. */
export function parsePrefer(header: string | undefined): Prefer {
  if (header === undefined) return NONE;
  const wanted = RETURN.exec(header)?.[1] as Prefer['return'];
  const handling = HANDLING.exec(header)?.[1] as Prefer['handling'];
  return {
    ...(wanted === undefined ? {} : { return: wanted }),
    ...(handling === undefined ? {} : { handling }),
  };
}
