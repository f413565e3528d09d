/**
 * Builds the CapabilityStatement from the table of types and the features that are implemented
 * (https://hl7.org/fhir/R4/capabilitystatement.html; docs/spec/decisions.md, section 5).
 */
import { COMPARTMENT_TYPES } from './compartments.ts';
import { searchParameter } from './definitions/search-parameters.ts';
import { includable, mayName } from './search/inclusions.ts';
import { compiledParameters } from './search/paths.ts';
import { type ResourceType, TYPE_NAMES, typeEntry } from './types.ts';

/** Search parameters that every type has, whatever its content is. */
const COMMON = ['_id', '_lastUpdated'];

const INTERACTIONS = [
  'read',
  'vread',
  'update',
  'patch',
  'delete',
  'history-instance',
  'history-type',
  'create',
  'search-type',
];

/** Terminology is shared and read-only, and has no history. */
const READ_ONLY = ['read', 'vread', 'search-type'];

const OF_SYSTEM = ['transaction', 'batch', 'history-system', 'search-system'];

/** A search parameter in the form used in the CapabilityStatement. */
interface Described {
  readonly name: string;
  readonly definition?: string;
  readonly type: string;
  readonly documentation?: string;
}

/** Provenance's activity has no search parameter in R4, but has one in R5. */
const ACTIVITY: Described = {
  name: 'activity',
  definition: 'https://annal.dev/fhir/SearchParameter/Provenance-activity',
  type: 'token',
  documentation: 'Provenance.activity.coding: what was done, by the service CREATE, UPDATE or DELETE',
};

/** Returns the codes of R4's search parameters that a type supports. */
export function listSearchParameters(type: ResourceType): readonly string[] {
  return [...COMMON, ...compiledParameters(type).map(({ code }) => code)];
}

/** An operation in the form used in the CapabilityStatement: where it can be called, and its definition. */
export interface DescribedOperation {
  /** The name without `$`. */
  readonly name: string;
  /** Canonical URL of the operation's OperationDefinition. */
  readonly definition: string;
  /** True if the operation can be called at the base URL. */
  readonly system?: true;
  /** Types on which the operation can be called. */
  readonly types?: readonly ResourceType[];
  /** Types on whose instances the operation can be called. */
  readonly instances?: readonly ResourceType[];
}

/** Facts about the running service for the CapabilityStatement. */
export interface ServiceDescription {
  /** FHIR base URL, `https://host/fhir/R4`. */
  readonly baseUrl: string;
  /** BASE_URL; the OAuth endpoints are below it. */
  readonly serviceUrl: string;
  /** The software's version, such as `0.3.0`. */
  readonly version: string;
  /** When the software was built or started, as a dateTime. */
  readonly date: string;
  readonly operations: readonly DescribedOperation[];
}

/** Returns the CapabilityStatement resource. */
export function capabilityStatement({
  baseUrl,
  serviceUrl,
  version,
  date,
  operations,
}: ServiceDescription): Record<string, unknown> {
  return {
    resourceType: 'CapabilityStatement',
    status: 'active',
    date,
    kind: 'instance',
    software: { name: 'Annal', version },
    implementation: { description: 'Annal, an event-sourced health record service', url: baseUrl },
    fhirVersion: '4.0.1',
    format: ['application/fhir+json', 'json'],
    patchFormat: ['application/json-patch+json', 'application/fhir+json'],
    rest: [
      {
        mode: 'server',
        documentation: `With \`_asOf\` (an instant), reads, histories of a resource, searches within one record, \`Patient/<id>/$everything\` and \`Patient/<id>/$summary\` answer as of that moment: ${serviceUrl}/docs/guides/as-of`,
        security: security(serviceUrl),
        resource: TYPE_NAMES.map((type) => ({
          ...describeType(type),
          ...described(operations, ({ types, instances }) => [types, instances].flat().includes(type)),
        })),
        interaction: OF_SYSTEM.map((code) => ({ code })),
        searchParam: ofSystem(),
        ...described(operations, ({ system }) => system === true),
        compartment: COMPARTMENT_TYPES.map(
          (type) =>
            `http://hl7.org/fhir/CompartmentDefinition/${type.charAt(0).toLowerCase()}${type.slice(1)}`,
        ),
      },
    ],
  };
}

/** Returns how clients are authorized (SMART App Launch 1.0, "Declaring support for OAuth2 endpoints"). */
function security(serviceUrl: string): Record<string, unknown> {
  const uris = ['authorize', 'token', 'introspect', 'revoke'];
  return {
    extension: [
      {
        url: 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris',
        extension: uris.map((url) => ({ url, valueUri: `${serviceUrl}/oauth/${url}` })),
      },
    ],
    cors: true,
    service: [
      {
        coding: [
          {
            system: 'http://terminology.hl7.org/CodeSystem/restful-security-service',
            code: 'SMART-on-FHIR',
            display: 'SMART-on-FHIR',
          },
        ],
        text: 'OAuth 2.1 with SMART App Launch (see http://hl7.org/fhir/smart-app-launch)',
      },
    ],
    description:
      'An API key or access token, as Authorization: Bearer. API keys may also be sent in X-Api-Key.',
  };
}

/** Returns the `operation` member for one level; an empty object if no operation can be called there. */
function described(
  operations: readonly DescribedOperation[],
  isThere: (operation: DescribedOperation) => boolean,
): Record<string, unknown> {
  const operation = operations.filter(isThere).map(({ name, definition }) => ({ name, definition }));
  return operation.length === 0 ? {} : { operation };
}

const OF_PROVENANCE =
  'The service writes a Provenance for every version, which clients cannot change. Criteria of conditional interactions match only Provenances that clients wrote, and take no `activity`.';

function describeType(type: ResourceType): Record<string, unknown> {
  const readOnly = typeEntry(type).home === 'terminology';
  const writing = {
    readHistory: true,
    updateCreate: false,
    conditionalCreate: true,
    conditionalRead: 'full-support',
    conditionalUpdate: true,
    conditionalDelete: 'single',
    referencePolicy: ['literal', 'logical', 'local', 'enforced'],
  };
  const parameters = listSearchParameters(type).map((code) => describeParameter(type, code));
  return {
    type,
    profile: `http://hl7.org/fhir/StructureDefinition/${type}`,
    ...(type === 'Provenance' ? { documentation: OF_PROVENANCE } : {}),
    interaction: (readOnly ? READ_ONLY : INTERACTIONS).map((code) => ({ code })),
    versioning: 'versioned',
    ...(readOnly ? { conditionalRead: 'full-support' } : writing),
    searchInclude: ['*', ...references(type)],
    searchRevInclude: ['*', ...TYPE_NAMES.flatMap((source) => references(source, type))],
    searchParam: type === 'Provenance' ? [...parameters, ACTIVITY] : parameters,
  };
}

/** Returns `Type:code` for the references from a type that can be followed, to any type or to the given target type. */
function references(source: ResourceType, target?: ResourceType): string[] {
  return includable(source)
    .filter((code) => target === undefined || mayName(source, code, target))
    .map((code) => `${source}:${code}`);
}

/** Returns the search parameters for searches across all types: the codes that have the same meaning in every type. */
function ofSystem(): Described[] {
  const [first = 'Patient', ...others] = TYPE_NAMES;
  const common = listSearchParameters(first).filter(
    (code) => code.startsWith('_') && others.every((type) => listSearchParameters(type).includes(code)),
  );
  const types: Described = {
    name: '_type',
    type: 'special',
    documentation: 'Types to search, separated by commas; default: all except terminology types',
  };
  return [types, ...common.map((code) => describeParameter(first, code))];
}

function describeParameter(type: ResourceType, code: string): Described {
  const parameter = searchParameter(type, code);
  if (parameter === undefined) throw new Error(`R4 gives ${type} no search parameter ${code}`);
  return {
    name: code,
    definition: `http://hl7.org/fhir/SearchParameter/${parameter.id}`,
    type: parameter.type,
  };
}
