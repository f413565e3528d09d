/** Parses the part of FHIRPath's grammar that R4's invariants use (http://hl7.org/fhirpath/N1/#grammar). */

/** An expression. `on` is the part before the dot; if absent, the focus. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'empty' }
  | { readonly kind: 'this' }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'member'; readonly name: string; readonly on?: Expression }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly arguments: readonly Expression[];
      readonly on?: Expression;
    }
  | {
      readonly kind: 'operation';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    };

/** Thrown for an expression that this parser doesn't support. */
export class UnknownSyntax extends Error {
  override readonly name = 'UnknownSyntax';
}

const PRECEDENCE: Readonly<Record<string, number>> = {
  implies: 1,
  or: 2,
  xor: 2,
  and: 3,
  in: 4,
  contains: 4,
  '=': 5,
  '!=': 5,
  '<=': 6,
  '>=': 6,
  '<': 6,
  '>': 6,
  '|': 7,
  is: 8,
  as: 8,
  '+': 9,
  '-': 9,
  '&': 9,
};

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?)|'((?:[^'\\]|\\.)*)'|`([^`]*)`|([A-Za-z_]\w*)|(%\w+|\$this)|(<=|>=|!=|[()={}<>|.,+&-]))/y;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f' };

interface Token {
  readonly kind: 'number' | 'string' | 'name' | 'variable' | 'sign' | 'end';
  readonly text: string;
}

function tokens(source: string): Token[] {
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  const end = source.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (match === null) throw new UnknownSyntax(`no token at ${at} of ${source}`);
    const [, number, string, quoted, name, variable, sign] = match;
    if (number !== undefined) found.push({ kind: 'number', text: number });
    else if (string !== undefined) {
      found.push({ kind: 'string', text: string.replace(/\\(.)/g, (_, c: string) => ESCAPES[c] ?? c) });
    } else if (name !== undefined || quoted !== undefined)
      found.push({ kind: 'name', text: name ?? quoted ?? '' });
    else if (variable !== undefined) found.push({ kind: 'variable', text: variable });
    else found.push({ kind: 'sign', text: sign ?? '' });
  }
  return found;
}

/**
 * Parses an expression.
 * @throws UnknownSyntax for syntax outside the subset.
 */
export function parseExpression(source: string): Expression {
  const list = tokens(source);
  let at = 0;
  const peek = (): Token => list[at] ?? { kind: 'end', text: '' };
  const take = (text: string): boolean => {
    if (peek().text !== text || peek().kind === 'string') return false;
    at += 1;
    return true;
  };
  const expect = (text: string): void => {
    if (!take(text)) throw new UnknownSyntax(`${text} expected in ${source}`);
  };

  function operation(from: number): Expression {
    let left = path();
    for (;;) {
      const { kind, text } = peek();
      const precedence = kind === 'sign' || kind === 'name' ? PRECEDENCE[text] : undefined;
      if (precedence === undefined || precedence < from) return left;
      at += 1;
      left = { kind: 'operation', operator: text, left, right: operation(precedence + 1) };
    }
  }

  function path(): Expression {
    let on = term();
    while (take('.')) on = invocation(on);
    return on;
  }

  function term(): Expression {
    const { kind, text } = peek();
    if (kind === 'name') {
      if (text !== 'true' && text !== 'false') return invocation();
      at += 1;
      return { kind: 'literal', value: text === 'true' };
    }
    at += 1;
    if (kind === 'number') return { kind: 'literal', value: Number(text) };
    if (kind === 'string') return { kind: 'literal', value: text };
    if (kind === 'variable')
      return text === '$this' ? { kind: 'this' } : { kind: 'variable', name: text.slice(1) };
    if (text === '{') {
      expect('}');
      return { kind: 'empty' };
    }
    if (text !== '(') throw new UnknownSyntax(`unexpected ${text} in ${source}`);
    const inner = operation(0);
    expect(')');
    return inner;
  }

  function invocation(on?: Expression): Expression {
    if (take('$this')) return { kind: 'this' };
    const { kind, text: name } = peek();
    if (kind !== 'name') throw new UnknownSyntax(`a name expected in ${source}`);
    at += 1;
    const before = on === undefined ? {} : { on };
    if (!take('(')) return { kind: 'member', name, ...before };
    const given: Expression[] = [];
    while (!take(')')) {
      given.push(operation(0));
      if (peek().text !== ')') expect(',');
    }
    return { kind: 'call', name, arguments: given, ...before };
  }

  const whole = operation(0);
  if (peek().kind !== 'end') throw new UnknownSyntax(`${peek().text} is left over in ${source}`);
  return whole;
}
