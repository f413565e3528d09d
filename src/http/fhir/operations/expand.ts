/** Handles $expand, which lists the codes in a value set. https://hl7.org/fhir/R4/valueset-operation-expand.html */
import { randomUUID } from 'node:crypto';
import type { ValueSet } from '#src/terminology/resources.ts';
import type { Operation, OperationRequest } from '../operation.ts';
import { readValueSet } from './instance.ts';
import { parseValueSet } from './terminology-bodies.ts';
import {
  answerResource,
  badInput,
  ofTerminology,
  readBooleanInput,
  readCountInput,
  readObjectInput,
  readTextInput,
} from './terminology-inputs.ts';

/** Maximum length of a filter, in characters. */
const LONGEST_FILTER = 200;

/**
 * Returns 200 with the ValueSet and its expansion; 404 for an unknown value set or code system; 413 for too many codes if no
 * count is given.
 */
export const expand: Operation = {
  name: 'expand',
  definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-expand',
  types: ['ValueSet'],
  instances: ['ValueSet'],
  methods: ['GET', 'POST'],
  grantToken: ofTerminology('$expand'),
  parameters: [
    'url',
    'valueSet',
    'valueSetVersion',
    'filter',
    'offset',
    'count',
    'activeOnly',
    'includeDefinition',
  ],
  async run(request) {
    const options = {
      filter: readTextInput(request, 'filter'),
      offset: readCountInput(request, 'offset'),
      count: readCountInput(request, 'count'),
      activeOnly: readBooleanInput(request, 'activeOnly'),
    };
    if ((options.filter?.length ?? 0) > LONGEST_FILTER)
      throw badInput('filter', `it must have at most ${LONGEST_FILTER} characters`);
    const set = await requestedSet(request);
    const { total, members } = await request.service.terminology.expand(set, options);
    const { compose, expansion: _, ...definition } = set;
    const parameter = Object.entries(options).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, [valueName(value)]: value }],
    );
    return answerResource({
      ...definition,
      ...(readBooleanInput(request, 'includeDefinition') === true ? { compose } : {}),
      expansion: {
        identifier: `urn:uuid:${randomUUID()}`,
        timestamp: new Date().toISOString(),
        total,
        ...(options.offset === undefined ? {} : { offset: options.offset }),
        ...(parameter.length === 0 ? {} : { parameter }),
        ...(members.length === 0 ? {} : { contains: members.map(contained) }),
      },
    });
  },
};

/** Returns the requested value set: the one in the request, or the one that its URL or the path names. */
export async function requestedSet(request: OperationRequest): Promise<ValueSet> {
  const instance = await readValueSet(request);
  const sent = readObjectInput(request, 'valueSet') ?? request.resource?.value;
  const url = readTextInput(request, 'url');
  if ([instance, sent, url].filter((each) => each !== undefined).length > 1)
    throw badInput('url', 'provide only one of url, valueSet and an id');
  if (instance !== undefined) return instance;
  if (sent !== undefined) return parseValueSet(sent);
  if (url === undefined) throw badInput('url', 'provide url or valueSet', 'required');
  const version = readTextInput(request, 'valueSetVersion');
  return request.service.terminology.valueSet(version === undefined ? url : `${url}|${version}`);
}

function contained(member: {
  readonly system: string;
  readonly version: string | null;
  readonly code: string;
  readonly display: string | null;
  readonly selectable: boolean;
  readonly active: boolean;
}): Record<string, unknown> {
  const { system, version, code, display, selectable, active } = member;
  return {
    system,
    ...(selectable ? {} : { abstract: true }),
    ...(active ? {} : { inactive: true }),
    ...(version === null ? {} : { version }),
    code,
    ...(display === null ? {} : { display }),
  };
}

function valueName(value: string | number | boolean): string {
  if (typeof value === 'number') return 'valueInteger';
  return typeof value === 'boolean' ? 'valueBoolean' : 'valueString';
}
