/**
 * Compiles FHIRPath expressions on one type into closures over FHIR's JSON. Names are resolved against the definitions
 * once (choices to their JSON names), so that evaluation only reads members and compares.
 */
import { PRIMITIVES, typeDefinition } from '../definitions/tables.ts';
import {
  type Compiled,
  NO_TYPES,
  NOTHING,
  NotCompiled,
  type Truth,
  type Types,
  truthOf,
} from './compiled.ts';
import { FUNCTIONS } from './functions.ts';
import { member } from './members.ts';
import { operation } from './operators.ts';
import { type Expression, parseExpression } from './parse.ts';
import { isOfType, ofType } from './type-tests.ts';

interface Scope {
  /** Types of the focus (`$this`). */
  readonly focus: Types;
  /** Type of `%resource`, if known. */
  readonly resource: Types;
}

const CONSTANTS: Readonly<Record<string, string>> = { ucum: 'http://unitsofmeasure.org' };

/**
 * Compiles an expression that evaluates to a boolean.
 * @param type the type of its focus, such as `Observation.component`.
 * @throws NotCompiled or UnknownSyntax if the expression is outside the supported subset.
 */
export function compileTruth(source: string, type: string): Truth {
  const [root = ''] = type.split('.');
  const resource = !PRIMITIVES.has(root) && typeDefinition(root).resource ? new Set([root]) : undefined;
  return truthOf(compile(parseExpression(source), { focus: new Set([type]), resource }));
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
      return focusOf(scope);
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

function focusOf(scope: Scope): Compiled {
  return { run: (focus) => focus, types: scope.focus };
}

function before(on: Expression | undefined, scope: Scope): Compiled {
  return on === undefined ? focusOf(scope) : compile(on, scope);
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
