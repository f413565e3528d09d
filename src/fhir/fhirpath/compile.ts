/**
 * Compiles FHIRPath expressions on one type into closures over FHIR's JSON. Names are looked up in the definitions once
 * (choices become their JSON names), so that evaluation only has to read members and compare them.
 */
import { isObject, type Json } from '#src/shared/json/json.ts';
import { type ElementDefinition, jsonName, PRIMITIVES, typeDefinition } from '../definitions/tables.ts';
import {
  type Compiled,
  NO_TYPES,
  NOTHING,
  NotCompiled,
  type Truth,
  type Types,
  toTruth,
} from './compiled.ts';
import { FUNCTIONS } from './functions.ts';
import { NO_VALUE, type Node } from './nodes.ts';
import { operation } from './operators.ts';
import { type Expression, parseExpression } from './parse.ts';
import { isOfType, ofType } from './type-tests.ts';

interface Scope {
  /** The types of the focus (`$this`). */
  readonly focus: Types;
  /** The type of `%resource`, if known. */
  readonly resource: Types;
}

const CONSTANTS: Readonly<Record<string, string>> = { ucum: 'http://unitsofmeasure.org' };

/**
 * Compiles an expression that evaluates to a boolean.
 * @param type the type of the expression's focus, such as `Observation.component`.
 * @throws NotCompiled or UnknownSyntax if the expression is outside the supported subset.
 */
export function compileTruth(source: string, type: string): Truth {
  const [root = ''] = type.split('.');
  const resource = !PRIMITIVES.has(root) && typeDefinition(root).resource ? new Set([root]) : undefined;
  return toTruth(compile(parseExpression(source), { focus: new Set([type]), resource }));
}

function compile(expression: Expression, scope: Scope): Compiled {
  switch (expression.kind) {
    case 'literal': {
      const value = [expression.value];
      return { run: () => value, types: NO_TYPES };
    }
    case 'empty':
      return { run: () => NOTHING, types: NO_TYPES };
    case 'this':
      return compileFocus(scope);
    case 'variable':
      return variable(expression.name, scope);
    case 'member':
      return member(expression.name, before(expression.on, scope));
    case 'operation':
      if (expression.operator === 'is') return isOfType(compile(expression.left, scope), expression.right);
      if (expression.operator === 'as') return ofType(compile(expression.left, scope), expression.right);
      return operation(
        expression.operator,
        compile(expression.left, scope),
        compile(expression.right, scope),
      );
    case 'call':
      return call(expression.name, expression.arguments, before(expression.on, scope), scope);
  }
}

function compileFocus(scope: Scope): Compiled {
  return { run: (focus) => focus, types: scope.focus };
}

function before(on: Expression | undefined, scope: Scope): Compiled {
  return on === undefined ? compileFocus(scope) : compile(on, scope);
}

function variable(name: string, scope: Scope): Compiled {
  if (name === 'resource') return { run: (_, { resource }) => [resource], types: scope.resource };
  const constant = CONSTANTS[name];
  if (constant === undefined) throw new NotCompiled(`%${name}`);
  const value = [constant];
  return { run: () => value, types: NO_TYPES };
}

function call(name: string, given: readonly Expression[], on: Compiled, scope: Scope): Compiled {
  const translate = FUNCTIONS.get(name);
  if (translate === undefined) throw new NotCompiled(`${name}()`);
  return translate(
    on,
    given.map((expression) => ({
      expression,
      outer: () => compile(expression, scope),
      inner: (focus) => compile(expression, { ...scope, focus }),
    })),
  );
}

/** An element's JSON name and, for a primitive, the name of its `_name` sibling. */
type Name = readonly [key: string, shadow: string | undefined];

/**
 * Compiles the step that reads an element in every item.
 * @param name the name without a choice's type: `value` reads `valueQuantity`.
 */
function member(name: string, on: Compiled): Compiled {
  const names: Name[] = [];
  const types = new Set<string>();
  for (const type of on.types ?? []) {
    const element = findElement(type, name);
    if (element === undefined) continue;
    for (const { code } of element.types) {
      const key = jsonName(element, code);
      if (!names.some(([known]) => known === key))
        names.push([key, PRIMITIVES.has(code) ? `_${key}` : undefined]);
      types.add(code);
    }
  }
  if (on.types === undefined) names.push([name, `_${name}`]);
  const { run } = on;
  return {
    run: (focus, environment) => readAll(run(focus, environment), names),
    found: (focus, environment) => {
      for (const item of run(focus, environment)) if (holdsAny(item, names)) return true;
      return false;
    },
    types: on.types === undefined || types.has('Resource') ? undefined : types,
  };
}

function findElement(type: string, name: string): ElementDefinition | undefined {
  if (PRIMITIVES.has(type)) return undefined;
  return typeDefinition(type).elements.find((element) => element.name === name);
}

function holdsAny(item: Node, names: readonly Name[]): boolean {
  if (item === NO_VALUE || !isObject(item)) return false;
  for (const [key, shadow] of names) {
    const value = item[key];
    if (value !== undefined) {
      if (!Array.isArray(value) || value.length > 0) return true;
    } else if (shadow !== undefined && item[shadow] !== undefined) return true;
  }
  return false;
}

function readAll(items: readonly Node[], names: readonly Name[]): readonly Node[] {
  let found: Node[] | undefined;
  for (const item of items) {
    if (item === NO_VALUE || !isObject(item)) continue;
    for (const [key, shadow] of names) {
      const value = item[key] ?? (shadow === undefined ? undefined : bareNodes(item[shadow]));
      if (value === undefined) continue;
      found ??= [];
      if (!Array.isArray(value)) found.push(value);
      else for (const each of value) found.push(each === null ? NO_VALUE : each);
    }
  }
  return found ?? NOTHING;
}

/** Returns the primitives that have an extension but no value. FHIRPath treats these as present. */
function bareNodes(shadow: Json | undefined): Node[] | undefined {
  if (shadow === undefined) return undefined;
  return Array.isArray(shadow) ? shadow.map(() => NO_VALUE) : [NO_VALUE];
}
