/** Converts the extensions that R4 defines to the compact table in which validation looks up their value types. */
import type { ExtensionTable, ValueTypes } from '#src/fhir/definitions/extensions.ts';
import type { SourceElement, SourceStructure } from './hl7.ts';

/** Matches the id of the value of an extension or of a part. The groups contain the names of the parts on the way to it. */
const VALUE = /^Extension((?:\.extension:[^.:]+)*)\.value\[x\]$/;

/**
 * Returns the table of extensions.
 * @param extensions R4's StructureDefinitions of type Extension.
 */
export function compactExtensions(extensions: readonly SourceStructure[]): ExtensionTable {
  const sorted = [...extensions].sort((a, b) => (a.url < b.url ? -1 : 1));
  return Object.fromEntries(sorted.map(({ url, snapshot }) => [url, listValueTypes(snapshot.element)]));
}

function listValueTypes(elements: readonly SourceElement[]): ValueTypes {
  const urls = new Map(elements.map(({ id, fixedUri }) => [id, fixedUri]));
  const root: ValueTypes = { types: '' };
  for (const element of elements) {
    const steps = VALUE.exec(element.id)?.[1]?.split('.').slice(1);
    if (steps === undefined) continue;
    let holder = root;
    let id = 'Extension';
    for (const step of steps) {
      id = `${id}.${step}`;
      const url = urls.get(`${id}.url`) ?? step.slice('extension:'.length);
      holder.parts ??= {};
      holder.parts[url] ??= { types: '' };
      holder = holder.parts[url];
    }
    holder.types =
      element.max === '0' ? '' : [...new Set((element.type ?? []).map(({ code }) => code))].join(',');
  }
  return root;
}
