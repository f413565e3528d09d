/** Implements FHIRPath's operators, with three-valued logic (http://hl7.org/fhirpath/N1/#operations). */
import { isNumber } from '#src/shared/json/json.ts';
import { type Compiled, eitherType, fromTruth, NO_TYPES, NOTHING, NotCompiled, toTruth } from './compiled.ts';
import { compareValues, distinct, equalCollections, equalValues } from './nodes.ts';

/**
 * Compiles an operation on two operands.
 * @throws NotCompiled for an operator that R4's invariants don't use.
 */
export function operation(operator: string, left: Compiled, right: Compiled): Compiled {
  switch (operator) {
    case 'and':
    case 'or':
    case 'xor':
    case 'implies':
      return logical(operator, left, right);
    case '=':
    case '!=':
      return fromTruth((focus, environment) => {
        const equal = equalCollections(left.run(focus, environment), right.run(focus, environment));
        return equal === undefined ? undefined : equal === (operator === '=');
      });
    case '<':
    case '<=':
    case '>':
    case '>=':
      return comparison(operator, left, right);
    case '|':
      return {
        run: (focus, environment) =>
          distinct([...left.run(focus, environment), ...right.run(focus, environment)]),
        types: eitherType(left.types, right.types),
      };
    case 'in':
      return fromTruth((focus, environment) => {
        const [item] = left.run(focus, environment);
        if (item === undefined) return undefined;
        return right.run(focus, environment).some((other) => equalValues(item, other) === true);
      });
    case '+':
      return addition(left, right);
    case '&':
      return concatenation(left, right);
    default:
      throw new NotCompiled(operator);
  }
}

/** Compiles a boolean operator. The right operand is evaluated only if necessary; undefined means "unknown". */
function logical(operator: 'and' | 'or' | 'xor' | 'implies', left: Compiled, right: Compiled): Compiled {
  const a = toTruth(left);
  const b = toTruth(right);
  if (operator === 'xor') {
    return fromTruth((focus, environment) => {
      const one = a(focus, environment);
      const other = b(focus, environment);
      return one === undefined || other === undefined ? undefined : one !== other;
    });
  }
  /** The left value and the right value that each determine the result alone, and that result. */
  const [decisiveLeft, decisiveRight, outcome] = {
    and: [false, false, false],
    or: [true, true, true],
    implies: [false, true, true],
  }[operator];
  return fromTruth((focus, environment) => {
    const one = a(focus, environment);
    if (one === decisiveLeft) return outcome;
    const other = b(focus, environment);
    if (other === decisiveRight) return outcome;
    return one === undefined || other === undefined ? undefined : !outcome;
  });
}

function comparison(operator: '<' | '<=' | '>' | '>=', left: Compiled, right: Compiled): Compiled {
  return fromTruth((focus, environment) => {
    const [one] = left.run(focus, environment);
    const [other] = right.run(focus, environment);
    if (one === undefined || other === undefined) return undefined;
    const order = compareValues(one, other);
    if (order === undefined) return undefined;
    if (operator === '<') return order < 0;
    if (operator === '<=') return order <= 0;
    return operator === '>' ? order > 0 : order >= 0;
  });
}

function addition(left: Compiled, right: Compiled): Compiled {
  return {
    run: (focus, environment) => {
      const [one] = left.run(focus, environment);
      const [other] = right.run(focus, environment);
      return isNumber(one) && isNumber(other) ? [Number(one) + Number(other)] : NOTHING;
    },
    types: NO_TYPES,
  };
}

/** Compiles `&`, which concatenates strings. An empty collection is treated as an empty string. */
function concatenation(left: Compiled, right: Compiled): Compiled {
  return {
    run: (focus, environment) => {
      const [one = ''] = left.run(focus, environment);
      const [other = ''] = right.run(focus, environment);
      return typeof one === 'string' && typeof other === 'string' ? [one + other] : NOTHING;
    },
    types: NO_TYPES,
  };
}
