/** The compiled search parameters read the same values that their FHIRPath expressions evaluate to. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import fhirpath, { type Model } from 'fhirpath';
import { searchParameter, searchParameterCodes } from '#src/fhir/definitions/search-parameters.ts';
import { compilePaths } from '#src/fhir/search/expressions.ts';
import { compiledParameters, elementsAt, typeInReference } from '#src/fhir/search/paths.ts';
import { isResourceType, type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { EXAMPLES } from '#test/support/fhir-examples.ts';
import { filled } from '#test/support/filled.ts';
import { syntheaFolder } from '#test/support/synthea.ts';

type Resource = Readonly<Record<string, unknown>>;
type Evaluate = (resource: Resource) => unknown[];

const r4: Model = createRequire(import.meta.url)('fhirpath/fhir-context/r4');
const engines = new Map<string, Evaluate>();

/**
 * Returns a function that evaluates R4's expression with a full engine. In both implementations, `resolve() is T` tests the
 * reference's text, and `as`, which accepts only one item, is replaced by `ofType`.
 */
function engineOf(expression: string): Evaluate {
  const known = engines.get(expression);
  if (known !== undefined) return known;
  const testable = expression
    .replaceAll(
      /resolve\(\) is (\w+)/g,
      (_, type) => `reference.matches('(^|/)${type}/[A-Za-z0-9.-]+(/_history/[A-Za-z0-9.-]+)?$')`,
    )
    .replaceAll(/\(([\w.]+) as (\w+)\)/g, '$1.ofType($2)')
    .replaceAll('.as(', '.ofType(');
  // Evaluated operand by operand, because the engine can't tell whether quantities with comparators are equal.
  const operands = testable.split(' | ').map((operand) => fhirpath.compile(operand, r4));
  const evaluate: Evaluate = (resource) => operands.flatMap((operand) => operand(resource) as unknown[]);
  engines.set(expression, evaluate);
  return evaluate;
}

/** Compares every parameter on a resource; parameters that had a value are added to `seen`. */
function compare(type: ResourceType, resource: Resource, where: string, seen: Set<string>): void {
  for (const { code, paths } of compiledParameters(type)) {
    const expected = engineOf(searchParameter(type, code)?.expression ?? '')(resource);
    const own = paths.flatMap((path) => elementsAt(resource, path));
    const found = paths[0]?.truth === true ? [own.some((value) => value !== false)] : own;
    const sorted = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).sort();
    expect(sorted(found), `${type}.${code} of ${where}`).to.deep.equal(sorted(expected));
    if (found.length > 0) seen.add(`${type}.${code}`);
  }
}

/** Compares both parts of each base of a composite with a full engine, using the expressions as printed in R4. */
function compareComposites(type: ResourceType, resource: Resource, where: string, seen: Set<string>): void {
  for (const { code, paths, composite } of compiledParameters(type)) {
    if (composite === undefined) continue;
    const printed = searchParameter(type, code)?.component ?? [];
    for (const [at, path] of paths.entries()) {
      for (const base of elementsAt(resource, path)) {
        const own = composite.bases[at]?.map((parts) => parts.flatMap((part) => elementsAt(base, part)));
        const expected = printed.map(({ expression }) => {
          // `DateTime` is a misprint in R4.
          const testable = expression.replaceAll('.as(', '.ofType(').replaceAll('DateTime', 'dateTime');
          return fhirpath.compile({ base: path.type, expression: testable }, r4)(base) as unknown[];
        });
        // The order of these expressions is also wrong in R4: the parameters' own definitions say which part is which.
        if (code === 'relationship') expected.reverse();
        expect(own, `${type}.${code} of ${where}`).to.deep.equal(expected);
        if (expected.every((part) => part.length > 0)) seen.add(`${type}.${code}`);
      }
    }
  }
}

describe('compiled search parameters', () => {
  it('are all that R4 has of the types, but what every row says by itself', () => {
    for (const type of TYPE_NAMES) {
      const compiled = new Set(compiledParameters(type).map(({ code }) => code));
      for (const code of searchParameterCodes(type)) {
        const kind = searchParameter(type, code)?.type;
        const ofRow = code === '_id' || code === '_lastUpdated';
        expect(compiled.has(code), `${type}.${code} (${kind})`).to.equal(!ofRow);
      }
      for (const { code, paths } of compiledParameters(type)) {
        expect(paths, `${type}.${code}`).to.not.deep.equal([]);
      }
    }
  });

  it('read from resources in which everything is said what FHIRPath reads', () => {
    const seen = new Set<string>();
    for (const type of TYPE_NAMES) {
      for (let turn = 0; turn < 12; turn += 1) {
        compare(type, filled(type, turn), `turn ${turn}`, seen);
      }
    }
    const all = TYPE_NAMES.flatMap((type) => compiledParameters(type).map(({ code }) => `${type}.${code}`));
    expect(all.filter((name) => !seen.has(name))).to.deep.equal([]);
  });

  it('of composites read both parts of what FHIRPath reads', () => {
    const seen = new Set<string>();
    for (const type of TYPE_NAMES) {
      for (let turn = 0; turn < 12; turn += 1) {
        compareComposites(type, filled(type, turn), `turn ${turn}`, seen);
      }
    }
    const all = TYPE_NAMES.flatMap((type) =>
      compiledParameters(type).flatMap(({ code, composite }) =>
        composite === undefined ? [] : [`${type}.${code}`],
      ),
    );
    expect(all).to.have.length(15);
    expect(all.filter((name) => !seen.has(name))).to.deep.equal([]);
  });

  it('that others hold the values of have the same values', () => {
    for (const type of TYPE_NAMES) {
      const parameters = compiledParameters(type);
      for (const { code, stored, paths } of parameters) {
        if (stored[0] === code) continue;
        for (let turn = 0; turn < 12; turn += 1) {
          const resource = filled(type, turn);
          // In resources that belong to records, the subject is a Patient.
          if (resource.subject !== undefined) resource.subject = { reference: 'Patient/1' };
          const read = (all: typeof paths) =>
            new Set(all.flatMap((path) => elementsAt(resource, path)).map((value) => JSON.stringify(value)));
          const holders = parameters.filter((parameter) => stored.includes(parameter.code));
          expect(read(holders.flatMap((holder) => holder.paths)), `${type}.${code}`).to.deep.equal(
            read(paths),
          );
        }
      }
    }
  });

  it('read nothing from what is not there, and from examples what FHIRPath reads', () => {
    for (const type of TYPE_NAMES) {
      compare(type, { resourceType: type }, 'nothing', new Set());
      compare(type, EXAMPLES[type] as Resource, 'its example', new Set());
    }
  });

  it('read from real resources what FHIRPath reads', function () {
    const folder = syntheaFolder();
    if (folder === undefined) this.skip();
    const counts = new Map<string, number>();
    for (const name of readdirSync(folder)
      .filter((each) => each.endsWith('.json'))
      .slice(0, 3)) {
      const { entry } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
        entry: readonly { readonly resource: Resource }[];
      };
      for (const { resource } of entry) {
        const type = resource.resourceType;
        if (!isResourceType(type)) continue;
        const count = (counts.get(type) ?? 0) + 1;
        counts.set(type, count);
        if (count <= 20) compare(type, resource, name, new Set());
      }
    }
    expect(counts.size).to.be.greaterThan(5);
  });

  it('are not made of what no search expression has', () => {
    expect(() => compilePaths('Patient.name.first()', 'Patient')).to.throw('first()');
    expect(() => compilePaths('Patient.shoe', 'Patient')).to.throw('shoe');
    expect(() => compilePaths('Patient.telecom.where(rank > 1)', 'Patient')).to.throw('rank');
  });

  it('know the type that a reference names', () => {
    expect(typeInReference('Patient/1')).to.equal('Patient');
    expect(typeInReference('https://example.org/fhir/Group/1/_history/2')).to.equal('Group');
    expect(typeInReference('urn:uuid:0')).to.equal(undefined);
    expect(typeInReference('#Patient/1')).to.equal(undefined);
  });
});
