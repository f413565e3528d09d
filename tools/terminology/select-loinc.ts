/**
 * Selects the bundled LOINC codes: those with a valid check digit for which two independent publications give the same
 * name and, for measurements, matching units. It reads a folder of publications, which isn't part of the project
 * (docs/terminology.md names them), and writes `generated/loinc.json`: `node --import tsx
 * tools/terminology/select-loinc.ts <folder>`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { isLoincCode } from '#src/shared/loinc-code.ts';
import { CATEGORY_OF, UNIT_OF } from '#src/terminology/bundled/categories.ts';

/** A publication's statements about codes: code → texts. */
type Statements = Map<string, Set<string>>;

const laboratory = new Set<string>();
const names = new Map<string, Statements>();
const units = new Map<string, Statements>();

function state(
  of: Map<string, Statements>,
  source: string,
  code: string | undefined,
  text: string | undefined,
) {
  if (code === undefined || text === undefined || text.trim() === '') return;
  const statements = of.get(source) ?? new Map<string, Set<string>>();
  of.set(source, statements);
  statements.set(code, (statements.get(code) ?? new Set()).add(text.trim()));
}

const folder = process.argv[2] ?? '.';
const file = (name: string): string => readFileSync(join(folder, name), 'utf8');
const table = (name: string): Record<string, string>[] =>
  parse(file(name), { columns: true, relax_column_count: true });

/** MIMIC-IV's maps of a hospital's laboratory and bedside items, reviewed by hand. */
for (const row of table('mimic-labs.csv')) {
  if (row.omop_vocabulary_id !== 'LOINC') continue;
  laboratory.add(row.omop_concept_code ?? '');
  state(names, 'MIMIC-IV', row.omop_concept_code, row.omop_concept_name);
  state(units, 'MIMIC-IV', row.omop_concept_code, row.valueuom);
}
for (const row of table('mimic-chart.csv'))
  state(names, 'MIMIC-IV', row.object_id?.replace('loinc:', ''), row.object_label);

/** The National Library of Medicine's flow sheet of common observations: an array of rows, the first one its heading. */
const [heading = {}, ...rows] = JSON.parse(
  file('flowsheet.js')
    .replace(/^\s*export default/, '')
    .replace(/;\s*$/, ''),
) as Record<string, string | number>[];
const column = (name: string): string => Object.keys(heading).find((key) => heading[key] === name) ?? '';
for (const row of rows) {
  const code = row[column('LOINC_MERGED')];
  if (code === undefined) continue;
  state(names, 'LHC flowsheet', String(code), String(row[column('LONG_COMMON_NAME_LOINC')] ?? ''));
  for (const unit of String(row[column('UCUM_EX')] ?? '').split(';'))
    state(units, 'LHC flowsheet', String(code), unit);
}

/** The National Library of Medicine's table of LOINC's example units. */
for (const [code, given] of Object.entries(JSON.parse(file('loinc-units.json')) as Record<string, string[]>))
  if (Array.isArray(given)) for (const unit of given) state(units, 'LHC validator', code, unit);

/** HL7's implementation guides: their sources' codings, in JSON, YAML, XML and FSH. */
const CODINGS = [
  /(?:\$?LOINC|loinc|http:\/\/loinc\.org)#(\d+-\d)\s+"([^"]+)"/g,
  /"code"\s*:\s*"(\d+-\d)",\s*"display"\s*:\s*"([^"]+)"/g,
  /code:\s*['"]?(\d+-\d)['"]?\s*\n\s*display:\s*['"]?([^'"\n]+)/g,
  /<code value="(\d+-\d)"\s*\/>\s*<display value="([^"]+)"/g,
];
const GUIDES: readonly (readonly [string, string])[] = [
  ['us-core', 'US Core'],
  ['ips', 'IPS'],
];
for (const [guide, source] of GUIDES) {
  for (const name of readdirSync(join(folder, guide), { recursive: true, encoding: 'utf8' })) {
    if (!['.json', '.fsh', '.yml', '.yaml', '.xml', '.md'].includes(extname(name))) continue;
    const text = file(join(guide, name));
    for (const pattern of CODINGS)
      for (const [, code, display] of text.matchAll(pattern)) state(names, source, code, display);
  }
}

/** The part of Synthea's records that is read: measurements with their units. */
interface Coded {
  readonly code?: { readonly coding?: readonly { system: string; code: string; display?: string }[] };
  readonly valueQuantity?: { readonly code?: string };
  readonly component?: readonly Coded[];
}
for (const name of readdirSync(join(folder, 'synthea'))) {
  const bundle = JSON.parse(file(join('synthea', name))) as { entry: { resource: Coded }[] };
  for (const { resource } of bundle.entry) {
    for (const { code, valueQuantity } of [resource, ...(resource.component ?? [])]) {
      for (const coding of code?.coding ?? []) {
        if (coding.system !== 'http://loinc.org') continue;
        state(names, 'Synthea', coding.code, coding.display?.replaceAll('\u200b', ''));
        state(units, 'Synthea', coding.code, valueQuantity?.code);
      }
    }
  }
}

/** The part of the library that is used; it has no types. */
interface Library {
  readonly UcumLhcUtils: {
    getInstance(): {
      validateUnitString(unit: string): { readonly status: string };
      convertUnitTo(from: string, value: number, to: string): { readonly status: string };
    };
  };
}
const { UcumLhcUtils } = createRequire(import.meta.url)('@lhncbc/ucum-lhc') as Library;
const library = UcumLhcUtils.getInstance();
const valid = (unit: string): boolean => library.validateUnitString(unit).status === 'valid';
/** Normalizes units that hospitals write in their own way; a unit that UCUM still does not accept is ignored. */
const asUcum = (unit: string): string => unit.replace('mcg', 'ug').replace(/(?<!\[)IU/, '[IU]');
/**
 * The library does not convert arbitrary units, not even between themselves, so they are replaced by amounts of
 * substance.
 */
const inMoles = (unit: string): string => unit.replaceAll('[IU]', 'mol');
function sameKind(hospital: string, other: string): boolean {
  const one = asUcum(hospital);
  if (one === other) return true;
  if (!valid(one) || !valid(other) || one.includes('[IU]') !== other.includes('[IU]')) return false;
  return library.convertUnitTo(inMoles(one), 1, inMoles(other)).status === 'succeeded';
}

/** Returns the name that most publications give, and these publications; case is ignored. */
function agreedName(code: string): { name: string; sources: string[] } | undefined {
  const votes = new Map<string, { name: string; sources: string[] }>();
  for (const [source, statements] of names)
    for (const name of statements.get(code) ?? []) {
      const vote = votes.get(name.toLowerCase()) ?? { name, sources: [] };
      vote.sources.push(source);
      votes.set(name.toLowerCase(), vote);
    }
  return [...votes.values()]
    .filter(({ sources }) => new Set(sources).size > 1)
    .sort((a, b) => b.sources.length - a.sources.length)[0];
}

/**
 * Returns the unit of LOINC's examples that another publication's units confirm; null if no publication gives a unit.
 */
function agreedUnit(code: string): { unit: string; sources: string[] } | null | undefined {
  const profiled = UNIT_OF[code];
  if (profiled !== undefined) return { unit: profiled, sources: ['R4'] };
  const given = [...(units.get('LHC validator')?.get(code) ?? [])].filter(valid);
  const others = ['Synthea', 'LHC flowsheet', 'MIMIC-IV'].flatMap((source) =>
    [...(units.get(source)?.get(code) ?? [])].map((unit) => ({ source, unit })),
  );
  if (given.length === 0) return others.some(({ unit }) => valid(unit)) ? undefined : null;
  for (const same of [(a: string, b: string) => a === b, sameKind])
    for (const other of others)
      for (const unit of given)
        if (same(other.unit, unit)) return { unit, sources: ['LHC validator', other.source] };
  return undefined;
}

const codes = new Set([...names.values()].flatMap((statements) => [...statements.keys()]));
const count = { considered: codes.size, 'check digit wrong': 0, 'name not agreed': 0, 'unit not agreed': 0 };
const concepts: [string, string, string, string | null][] = [];
for (const code of codes) {
  if (!isLoincCode(code)) {
    count['check digit wrong'] += 1;
    continue;
  }
  const name = agreedName(code);
  const category = CATEGORY_OF[code] ?? (laboratory.has(code) ? 'laboratory' : undefined);
  if (name === undefined || category === undefined) {
    count['name not agreed'] += 1;
    continue;
  }
  const unit = agreedUnit(code);
  if (unit === undefined) count['unit not agreed'] += 1;
  else concepts.push([code, name.name, category, unit?.unit ?? null]);
}
const number = (code: string): number => Number(code.replace('-', ''));
concepts.sort(([a], [b]) => number(a) - number(b));
const lines = concepts.map((concept) => JSON.stringify(concept)).join(',\n');
const out = fileURLToPath(new URL('../../src/terminology/bundled/generated/loinc.json', import.meta.url));
writeFileSync(out, `[\n${lines}\n]\n`);
const withUnit = concepts.filter(([, , , unit]) => unit !== null).length;
process.stdout.write(
  `${JSON.stringify({ ...count, selected: concepts.length, 'with unit': withUnit }, null, 2)}\n`,
);
