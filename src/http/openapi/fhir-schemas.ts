/**
 * Describes FHIR resources in the OpenAPI document, as far as they all have the same structure. R4 defines the full structure.
 */
import type { Part } from './schemas.ts';

const resource = (type?: string): Part => ({
  type: 'object',
  properties: { resourceType: { type: 'string', ...(type === undefined ? {} : { enum: [type] }) } },
  required: ['resourceType'],
  additionalProperties: true,
});

/** The schemas by name. */
export const FHIR_SCHEMAS: Part = {
  Resource: {
    ...resource(),
    description: 'A resource of FHIR R4: https://hl7.org/fhir/R4/resourcelist.html',
  },
  Bundle: { ...resource('Bundle'), description: 'https://hl7.org/fhir/R4/bundle.html' },
  CapabilityStatement: resource('CapabilityStatement'),
  OperationOutcome: {
    type: 'object',
    description: 'https://hl7.org/fhir/R4/operationoutcome.html',
    properties: {
      resourceType: { type: 'string', enum: ['OperationOutcome'] },
      issue: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: {
            severity: { type: 'string', enum: ['fatal', 'error', 'warning', 'information'] },
            code: { type: 'string' },
            diagnostics: { type: 'string' },
            expression: { type: 'array', items: { type: 'string' }, description: 'FHIRPath of an element.' },
            location: {
              type: 'array',
              items: { type: 'string' },
              description: '`http.<name>` of a header or parameter.',
            },
          },
          required: ['severity', 'code'],
        },
      },
    },
    required: ['resourceType', 'issue'],
    additionalProperties: true,
  },
};
