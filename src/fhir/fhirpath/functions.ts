/** Implements the FHIRPath functions that R4's invariants use (http://hl7.org/fhirpath/N1/#functions). */
import { isNumber, isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import {
  type Compiled,
  eitherType,
  foundBy,
  fromTruth,
  NO_TYPES,
  NOTHING,
  NotCompiled,
  type Types,
  toTruth,
} from './compiled.ts';
import { intersection, isDistinct, NO_VALUE, type Node } from './nodes.ts';
import type { Expression } from './parse.ts';
import { isOfType, ofType } from './type-tests.ts';

/** An argument of a call. */
export interface Argument {
  readonly expression: Expression;
  /** Compiles the argument with the call's own focus as its focus. */
  readonly outer: () => Compiled;
  /** Compiles the argument with an item of the input collection as its focus. */
  readonly inner: (types: Types) => Compiled;
}

/**
 * Compiles a call.
 * @param on the function's input collection.
 */
type Translate = (on: Compiled, given: readonly Argument[]) => Compiled;

function only(given: readonly Argument[], name: string): Argument {
  const [argument] = given;
  if (argument === undefined) throw new NotCompiled(`${name}() without an argument`);
  return argument;
}

const filter: Translate = (on, given) => {
  const test = toTruth(only(given, 'where').inner(on.types));
  return {
    run: (focus, environment) =>
      on.run(focus, environment).filter((item) => test([item], environment) === true),
    types: on.types,
  };
};

const select: Translate = (on, given) => {
  const projection = only(given, 'select').inner(on.types);
  return {
    run: (focus, environment) =>
      on.run(focus, environment).flatMap((item) => projection.run([item], environment)),
    types: projection.types,
  };
};

const intersect: Translate = (on, given) => {
  const other = only(given, 'intersect').outer();
  return {
    run: (focus, environment) => intersection(on.run(focus, environment), other.run(focus, environment)),
    types: on.types,
  };
};

const combine: Translate = (on, given) => {
  const other = only(given, 'combine').outer();
  return {
    run: (focus, environment) => [...on.run(focus, environment), ...other.run(focus, environment)],
    types: eitherType(on.types, other.types),
  };
};

const choose: Translate = (on, given) => {
  const [test, then, otherwise] = given.map((argument) => argument.inner(on.types));
  if (test === undefined || then === undefined) throw new NotCompiled('iif() without its arguments');
  const decides = toTruth(test);
  return {
    run: (focus, environment) => {
      const items = on.run(focus, environment);
      if (decides(items, environment) === true) return then.run(items, environment);
      return otherwise?.run(items, environment) ?? NOTHING;
    },
    types: eitherType(then.types, otherwise?.types ?? NO_TYPES),
  };
};

const all: Translate = (on, given) => {
  const test = toTruth(only(given, 'all').inner(on.types));
  return fromTruth((focus, environment) =>
    on.run(focus, environment).every((item) => test([item], environment) === true),
  );
};

/** Returns a translation that selects items by their position. */
function part(from: number, to?: number): Translate {
  return (on) => ({
    run: (focus, environment) => on.run(focus, environment).slice(from, to),
    types: on.types,
  });
}

function onText(apply: (text: string, argument: string) => Json): Translate {
  return (on, given) => {
    const argument = only(given, 'a function of text').outer();
    return {
      run: (focus, environment) => {
        const [text] = on.run(focus, environment);
        const [by] = argument.run(focus, environment);
        return typeof text === 'string' && typeof by === 'string' ? [apply(text, by)] : NOTHING;
      },
      types: NO_TYPES,
    };
  };
}

function onItem(apply: (item: Json) => Json | undefined): Translate {
  return (on) => ({
    run: (focus, environment) => {
      const [item] = on.run(focus, environment);
      const result = item === undefined || item === NO_VALUE ? undefined : apply(item);
      return result === undefined ? NOTHING : [result];
    },
    types: NO_TYPES,
  });
}

const not: Translate = (on) => {
  const tell = toTruth(on);
  return fromTruth((focus, environment) => {
    const answer = tell(focus, environment);
    return answer === undefined ? undefined : !answer;
  });
};

function toInteger(item: Json): Json | undefined {
  if (isNumber(item)) return item;
  return typeof item === 'string' && /^[+-]?\d+$/.test(item) ? Number(item) : undefined;
}

function descendants(on: Compiled): Compiled {
  return {
    run: (focus, environment) => {
      const found: Node[] = [];
      for (const item of on.run(focus, environment)) if (item !== NO_VALUE) descend(item, found);
      return found;
    },
    types: undefined,
  };
}

function descend(item: Json, into: Node[]): void {
  if (Array.isArray(item)) {
    for (const each of item) {
      into.push(each);
      descend(each, into);
    }
  } else if (isObject(item)) {
    for (const [key, value] of Object.entries(item)) {
      if (key === 'resourceType') continue;
      if (!Array.isArray(value)) into.push(value);
      descend(value, into);
    }
  }
}

/** Compiles `children()`. The children may have any type, so names on them can't be resolved as choices. */
function children(on: Compiled): Compiled {
  return {
    run: (focus, environment) =>
      on.run(focus, environment).flatMap((item) => {
        if (item === NO_VALUE || !isObject(item)) return [];
        return Object.entries(item).flatMap(([key, value]) => (key === 'resourceType' ? [] : value));
      }),
    types: undefined,
  };
}

const replaceMatches: Translate = (on, given) => {
  const [pattern, substitution] = given.map(({ expression }) =>
    expression.kind === 'literal' ? String(expression.value) : undefined,
  );
  if (pattern === undefined || substitution === undefined) throw new NotCompiled('replaceMatches()');
  const expression = new RegExp(pattern, 'gs');
  return {
    run: (focus, environment) => {
      const [text] = on.run(focus, environment);
      return typeof text === 'string' ? [text.replace(expression, substitution)] : NOTHING;
    },
    types: NO_TYPES,
  };
};

/**
 * Resolves a literal reference without reading storage. Returns the contained resource that the reference names, or an object
 * with only the type that it names; empty if the type can't be determined.
 */
function resolve(item: Node, root: JsonObject): Json[] {
  const text = item !== NO_VALUE && isObject(item) ? item.reference : item;
  if (typeof text !== 'string') return [];
  if (text.startsWith('#')) {
    const contained = Array.isArray(root.contained) ? root.contained : [];
    return contained.filter((resource) => isObject(resource) && `#${String(resource.id)}` === text);
  }
  const type = /^([A-Z]\w+)\/[^/]+(?:\/_history\/[^/]+)?$/.exec(text)?.[1];
  return type === undefined ? [] : [{ resourceType: type }];
}

/** Name → translation. */
export const FUNCTIONS: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ['exists', (on, given) => fromTruth(foundBy(given.length === 0 ? on : filter(on, given)))],
  [
    'empty',
    (on) => {
      const found = foundBy(on);
      return fromTruth((focus, environment) => !found(focus, environment));
    },
  ],
  ['not', not],
  [
    'hasValue',
    (on) =>
      fromTruth((focus, environment) => {
        const [item, second] = on.run(focus, environment);
        return item !== undefined && second === undefined && item !== NO_VALUE && !isObject(item);
      }),
  ],
  ['count', (on) => ({ run: (focus, environment) => [on.run(focus, environment).length], types: NO_TYPES })],
  ['where', filter],
  ['select', select],
  [
    'allFalse',
    (on) => fromTruth((focus, environment) => on.run(focus, environment).every((item) => item === false)),
  ],
  ['isDistinct', (on) => fromTruth((focus, environment) => isDistinct(on.run(focus, environment)))],
  ['intersect', intersect],
  ['combine', combine],
  ['children', children],
  ['descendants', descendants],
  ['iif', choose],
  [
    'resolve',
    (on) => ({
      run: (focus, environment) =>
        on.run(focus, environment).flatMap((item) => resolve(item, environment.rootResource)),
      types: undefined,
    }),
  ],
  ['ofType', (on, given) => ofType(on, only(given, 'ofType').expression)],
  ['as', (on, given) => ofType(on, only(given, 'as').expression)],
  ['is', (on, given) => isOfType(on, only(given, 'is').expression)],
  ['all', all],
  ['first', part(0, 1)],
  ['tail', part(1)],
  ['trace', (on) => on],
  ['contains', onText((text, part) => text.includes(part))],
  ['startsWith', onText((text, start) => text.startsWith(start))],
  ['replaceMatches', replaceMatches],
  ['matches', onText((text, pattern) => new RegExp(pattern, 's').test(text))],
  ['length', onItem((item) => (typeof item === 'string' ? [...item].length : undefined))],
  ['toInteger', onItem(toInteger)],
  ['toString', onItem((item) => (isObject(item) ? undefined : String(item)))],
]);
