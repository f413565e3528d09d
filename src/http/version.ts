/**
 * The version of the interfaces, as in the CapabilityStatement and the OpenAPI document (docs/spec/decisions.md, section 1).
 */
export const VERSION = '0.3.0';
