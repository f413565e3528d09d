/**
 * Converts R4's search parameters for the 26 types. A parameter's expression for a type keeps only the operands that apply to
 * that type.
 */

import type { SearchParameter, SearchParameterTable } from '#src/fhir/definitions/search-parameters.ts';
import { isResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import type { SourceSearchParameter } from './hl7.ts';

/** Search parameters for text and lists aren't supported (docs/spec/decisions.md, section 5 "Search"). */
const LEFT_OUT = new Set(['_text', '_content', '_query']);

/**
 * Returns the table of search parameters.
 * @param parameters R4's SearchParameter resources.
 */
export function compactSearchParameters(parameters: readonly SourceSearchParameter[]): SearchParameterTable {
  const byUrl = new Map(
    parameters.map((parameter) => [`http://hl7.org/fhir/SearchParameter/${parameter.id}`, parameter]),
  );
  const table: SearchParameterTable = { Resource: {} };
  for (const base of ['Resource', ...TYPE_NAMES]) {
    const mine = parameters.filter(
      (parameter) => parameter.base.includes(base) && !LEFT_OUT.has(parameter.code),
    );
    mine.sort((a, b) => (a.code < b.code ? -1 : 1));
    table[base] = Object.fromEntries(
      mine.map((parameter) => [parameter.code, compact(parameter, base, byUrl)]),
    );
  }
  return table;
}

function compact(
  parameter: SourceSearchParameter,
  base: string,
  byUrl: ReadonlyMap<string, SourceSearchParameter>,
): SearchParameter {
  const targets = parameter.target ?? [];
  return {
    id: parameter.id,
    type: parameter.type,
    expression: expressionFor(parameter.expression ?? '', base),
    ...(targets.length > 0 && {
      target: targets.filter((name) => name === 'Resource' || isResourceType(name)),
    }),
    ...(parameter.component && {
      component: parameter.component.map(({ definition, expression }) => {
        const code = byUrl.get(definition)?.code;
        if (code === undefined)
          throw new Error(`${parameter.id} is composed of ${definition}, which is not there`);
        return { code, expression };
      }),
    }),
  };
}

/** Returns the operands of a union that apply to the given type. */
function expressionFor(expression: string, base: string): string {
  const operands: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at <= expression.length; at += 1) {
    const c = expression[at];
    if (c === '(') depth += 1;
    else if (c === ')') depth -= 1;
    else if (c === undefined || (c === '|' && depth === 0)) {
      operands.push(expression.slice(from, at).trim());
      from = at + 1;
    }
  }
  return operands.filter((operand) => new RegExp(`^\\(*${base}\\b`).test(operand)).join(' | ');
}
