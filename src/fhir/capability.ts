/**
 * The CapabilityStatement: what this service does, from the table of types and what is built for them
 * (https://hl7.org/fhir/R4/capabilitystatement.html; docs/spec/decisions.md, section 5).
 */
import { COMPARTMENT_TYPES } from './compartments.ts';
import { searchParameter } from './definitions/search-parameters.ts';
import { includable, mayName } from './search/inclusions.ts';
import { compiledParameters } from './search/paths.ts';
import { type ResourceType, TYPE_NAMES, typeEntry } from './types.ts';

/** What every type is searched by beside what its resources say. */
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

/** Terminology is shared and read-only; nobody keeps what it was before. */
const READ_ONLY = ['read', 'vread', 'search-type'];

const OF_SYSTEM = ['transaction', 'batch', 'history-system', 'search-system'];

/** A search parameter as it is described. */
interface Described {
  readonly name: string;
  readonly definition?: string;
  readonly type: string;
  readonly documentation?: string;
}

/** R4 gives Provenance no parameter for its activity; R5 does. */
const ACTIVITY: Described = {
  name: 'activity',
  definition: 'https://annal.dev/fhir/SearchParameter/Provenance-activity',
  type: 'token',
  documentation: 'Provenance.activity.coding: what was done, by the service CREATE, UPDATE or DELETE',
};

/** Codes of R4's search parameters that a type is searched by. */
export function searchParametersOf(type: ResourceType): readonly string[] {
  return [...COMMON, ...compiledParameters(type).map(({ code }) => code)];
}

/** An operation as it is described: where it is found, and what defines it. */
export interface DescribedOperation {
  /** Without `$`. */
  readonly name: string;
  /** Canonical URL of its OperationDefinition. */
  readonly definition: string;
  /** Whether it is found at the base. */
  readonly system?: true;
  /** At which types it is found. */
  readonly types?: readonly ResourceType[];
  /** At instances of which types it is found. */
  readonly instances?: readonly ResourceType[];
}

/** What a CapabilityStatement says of the running service. */
export interface ServiceDescription {
  /** FHIR base, `https://host/fhir/R4`. */
  readonly baseUrl: string;
  /** Of the software, `0.3.0`. */
  readonly version: string;
  /** When it was built or started, a dateTime. */
  readonly date: string;
  readonly operations: readonly DescribedOperation[];
}

/** The CapabilityStatement resource. */
export function capabilityStatement({
  baseUrl,
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
        security: { cors: true, description: 'An API key, as Authorization: Bearer or X-Api-Key.' },
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

/** The operations at a place; no member when there are none. */
function described(
  operations: readonly DescribedOperation[],
  isThere: (operation: DescribedOperation) => boolean,
): Record<string, unknown> {
  const operation = operations.filter(isThere).map(({ name, definition }) => ({ name, definition }));
  return operation.length === 0 ? {} : { operation };
}

function describeType(type: ResourceType): Record<string, unknown> {
  const readOnly = typeEntry(type).home === 'terminology';
  // Criteria select resources; most Provenances are views of events, found by searches of their own.
  const conditional = type !== 'Provenance';
  const writing = {
    readHistory: true,
    updateCreate: false,
    conditionalCreate: conditional,
    conditionalRead: 'full-support',
    conditionalUpdate: conditional,
    conditionalDelete: conditional ? 'single' : 'not-supported',
    referencePolicy: ['literal', 'logical', 'local', 'enforced'],
  };
  const parameters = searchParametersOf(type).map((code) => describeParameter(type, code));
  return {
    type,
    profile: `http://hl7.org/fhir/StructureDefinition/${type}`,
    interaction: (readOnly ? READ_ONLY : INTERACTIONS).map((code) => ({ code })),
    versioning: 'versioned',
    ...(readOnly ? { conditionalRead: 'full-support' } : writing),
    searchInclude: ['*', ...references(type)],
    searchRevInclude: ['*', ...TYPE_NAMES.flatMap((source) => references(source, type))],
    searchParam: type === 'Provenance' ? [...parameters, ACTIVITY] : parameters,
  };
}

/** `Type:code` of what can be followed from a type, to any type or to one. */
function references(source: ResourceType, target?: ResourceType): string[] {
  return includable(source)
    .filter((code) => target === undefined || mayName(source, code, target))
    .map((code) => `${source}:${code}`);
}

/** What all types are searched by, at once: a code that means the same for each of them. */
function ofSystem(): Described[] {
  const [first = 'Patient', ...others] = TYPE_NAMES;
  const common = searchParametersOf(first).filter(
    (code) => code.startsWith('_') && others.every((type) => searchParametersOf(type).includes(code)),
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
