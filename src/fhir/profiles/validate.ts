/**
 * Validation as `$validate` does it: base R4 as at every write, what a resource claims by `meta.profile`, profiles that
 * the caller names, and the rules of documents.
 */

import { withArticle } from '#src/shared/article.ts';
import { isObject, type JsonObject } from '#src/shared/json.ts';
import type { Issue } from '#src/shared/refusal.ts';
import { validateResource } from '../validate.ts';
import { asArray } from '../validation/walk.ts';
import { ProfileCheck } from './check.ts';
import { checkDocument, type FoundReference } from './document.ts';
import { type Fault, issuesOf } from './faults.ts';
import { baseType, profileOf, profileUrls, shortName } from './table.ts';

/**
 * @param resource of any R4 type.
 * @param profiles canonical urls that it has to conform to, with or without `|version`.
 * @returns everything found; none has severity `error` when the resource is valid. Issues without a severity are errors.
 */
export function validateWithProfiles(resource: JsonObject, profiles: readonly string[] = []): Issue[] {
  const references: FoundReference[] = [];
  const base = validateResource(resource, undefined, {
    reference(path, { reference }) {
      if (typeof reference === 'string') references.push({ path, reference });
    },
  });
  const [first] = base;
  if (first !== undefined && typeof resource.resourceType !== 'string') return base;
  const check = new ProfileCheck(resource);
  const faults: Fault[] = [];
  const addAll = (more: readonly Fault[]): void => {
    for (const fault of more) faults.push(fault);
  };
  const remarks: Issue[] = [];
  for (const canonical of profiles) {
    const known = resolveCanonical(canonical);
    if ('fault' in known) {
      remarks.push({
        code: 'not-supported',
        diagnostics: `profile ${canonical.slice(0, 200)} ${known.fault}`,
      });
    } else if (known.base === undefined) addAll(check.faults(check.root, known.url));
    else if (known.base !== 'Resource' && known.base !== resource.resourceType) {
      const diagnostics = `the resource must be ${withArticle(known.base)}, as the profile says`;
      remarks.push({ code: 'value', diagnostics, expression: check.root.path });
    }
  }
  for (const place of check.places()) {
    const claims = isObject(place.resource.meta) ? asArray(place.resource.meta.profile) : [];
    for (const [index, claim] of claims.entries()) {
      if (typeof claim !== 'string') continue;
      const known = resolveCanonical(claim);
      if ('url' in known) {
        if (known.base === undefined) addAll(check.faults(place, known.url));
        continue;
      }
      const expression = `${place.path}.meta.profile[${index}]`;
      const diagnostics = `${expression} claims a profile that ${known.fault}, so that it was not checked`;
      remarks.push({ severity: 'information', code: 'not-supported', diagnostics, expression });
    }
  }
  return [...base, ...checkDocument(check.root, references), ...issuesOf(faults), ...remarks];
}

/** A canonical url, found: a bundled profile, or a base definition of R4. */
type Resolved = { readonly url: string; readonly base?: string } | { readonly fault: string };

function resolveCanonical(canonical: string): Resolved {
  const [url = '', version] = canonical.split('|');
  const profile = profileOf(url);
  if (profile !== undefined) {
    if (version === undefined || version === profile.version) return { url };
    return { fault: `is known in version ${profile.version} only` };
  }
  const base = baseType(url);
  if (base !== undefined && (version === undefined || version.startsWith('4.0'))) return { url, base };
  const names = profileUrls().map(shortName).join(', ');
  return { fault: `is not known here; known are R4's own definitions, and ${names}` };
}
