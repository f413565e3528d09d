/** Reads HL7's published search parameters, and evaluates their expressions with a full FHIRPath engine. */
import { createRequire } from 'node:module';
import fhirpath, { type Model } from 'fhirpath';
import { readSearchParameters } from '../../../../tools/definitions/hl7.ts';

/** A resource, or an element within a resource. */
export type Json = Readonly<Record<string, unknown>>;

/** A part of a composite. */
export interface Part {
  readonly type: string;
  readonly expression: string;
}

/** A search parameter of a type. */
export interface Published {
  readonly code: string;
  readonly type: string;
  readonly expression: string;
  readonly targets: readonly string[];
  /** The parts of a composite; empty for other parameters. */
  readonly parts: readonly Part[];
}

const r4: Model = createRequire(import.meta.url)('fhirpath/fhir-context/r4');
const all = readSearchParameters();
const known = new Map<string, Published | undefined>();

/** Returns a type's parameter by its code; undefined if R4 doesn't publish such a parameter. */
export function publishedParameter(type: string, code: string): Published | undefined {
  const key = `${type}.${code}`;
  if (!known.has(key)) known.set(key, read(code.startsWith('_') ? 'Resource' : type, code));
  return known.get(key);
}

function read(base: string, code: string): Published | undefined {
  const found = all.find((parameter) => parameter.code === code && parameter.base.includes(base));
  if (found === undefined) return undefined;
  const parts = (found.component ?? []).map(({ definition, expression }) => ({
    type: all.find(({ id }) => definition.endsWith(`/${id}`))?.type ?? '',
    expression,
  }));
  // R4 has this composite's expressions in the wrong order: the reference is `target`, and the token is `code`.
  const exchanged = found.id === 'DocumentReference-relationship';
  return {
    code,
    type: found.type,
    expression: found.expression ?? '',
    targets: found.target ?? [],
    parts: exchanged
      ? parts.map(({ type }, at) => ({ type, expression: parts[1 - at]?.expression ?? '' }))
      : parts,
  };
}

type Evaluate = (node: unknown) => unknown[];
const compiled = new Map<string, Evaluate>();

/**
 * Returns the values of an expression on a resource, or on an element at `base` (`Observation.component`). The operands of a
 * union are evaluated separately, because the engine can't compare quantities with comparators.
 */
export function valuesAt(expression: string, node: unknown, base?: string): unknown[] {
  return operandsOf(expression).flatMap((operand) => engine(operand, base)(node));
}

/** Returns the operands of a union. */
export function operandsOf(expression: string): string[] {
  return expression.split(' | ').map((operand) => operand.trim());
}

function engine(operand: string, base: string | undefined): Evaluate {
  const key = `${base} ${operand}`;
  const ready = compiled.get(key);
  if (ready !== undefined) return ready;
  const testable = operand
    .replaceAll(
      /resolve\(\) is (\w+)/g,
      (_, type) => `reference.matches('(^|/)${type}/[A-Za-z0-9.-]+(/_history/[A-Za-z0-9.-]+)?$')`,
    )
    .replaceAll(/\(([\w.]+) as (\w+)\)/g, '$1.ofType($2)')
    .replaceAll('.as(', '.ofType(')
    // One of R4's expressions writes the type this way.
    .replaceAll('ofType(DateTime)', 'ofType(dateTime)');
  const evaluate = fhirpath.compile(base === undefined ? testable : { base, expression: testable }, r4);
  const made: Evaluate = (node) => evaluate(node as Json) as unknown[];
  compiled.set(key, made);
  return made;
}

/** Returns all published parameters of every type. */
export const allPublished = () => all;
