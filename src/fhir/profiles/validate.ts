/**
 * Validates for `$validate`: checks base R4 as on every write, the profiles in `meta.profile`, the profiles that the caller
 * names, and the rules for documents.
 */

import { withArticle } from '#src/shared/article.ts';
import { cut } from '#src/shared/cut.ts';
import { Faults } from '#src/shared/faults.ts';
import type { Issue } from '#src/shared/issue.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { atOnce, type Steps } from '#src/shared/load/slices.ts';
import { validateResource } from '../validate.ts';
import { asArray } from '../validation/walk.ts';
import { ProfileCheck } from './check.ts';
import { checkDocument, type FoundReference } from './document.ts';
import { type Fault, toIssues } from './faults.ts';
import { baseType, findProfile, profileUrls, shortName } from './table.ts';

/** Validates as `validationSteps` does, but without pauses. */
export function validateWithProfiles(resource: JsonObject, profiles?: readonly string[]): Issue[] {
  return atOnce(validationSteps(resource, profiles));
}

/**
 * Validates in steps; for a Bundle, one step per entry and profile.
 * @param resource of any R4 type.
 * @param profiles canonical URLs of profiles to which it must conform, with or without `|version`.
 * @returns all issues; none has the severity `error` if the resource is valid. Issues without a severity are
 * errors.
 */
export function* validationSteps(resource: JsonObject, profiles: readonly string[] = []): Steps<Issue[]> {
  const references: FoundReference[] = [];
  const base = validateResource(resource, undefined, {
    reference(path, { reference }) {
      if (typeof reference === 'string') references.push({ path, reference });
    },
  });
  const [first] = base;
  if (first !== undefined && typeof resource.resourceType !== 'string') return base;
  yield;
  const check = new ProfileCheck(resource);
  if (resource.resourceType === 'Bundle') yield* check.entries();
  const faults: Fault[] = [];
  // The same faults are added only once, because a resource may repeat one profile thousands of times in `meta.profile`.
  const added = new Set<readonly Fault[]>();
  const addAll = (more: readonly Fault[]): void => {
    if (added.has(more)) return;
    added.add(more);
    for (const fault of more) faults.push(fault);
  };
  const remarks = new Faults();
  for (const canonical of profiles) {
    yield;
    const known = resolveCanonical(canonical);
    if ('fault' in known) {
      remarks.add({
        code: 'not-supported',
        diagnostics: `profile ${cut(canonical, 200)} ${known.fault}`,
      });
    } else if (known.base === undefined) addAll(check.faults(check.root, known.url));
    else if (known.base !== 'Resource' && known.base !== resource.resourceType) {
      const diagnostics = `the resource must be ${withArticle(known.base)}, as the profile says`;
      remarks.add({ code: 'value', diagnostics, expression: check.root.path });
    }
  }
  for (const place of check.places()) {
    const claims = isObject(place.resource.meta) ? asArray(place.resource.meta.profile) : [];
    for (const [index, claim] of claims.entries()) {
      yield;
      if (typeof claim !== 'string') continue;
      const known = resolveCanonical(claim);
      if ('fault' in known && remarks.full) {
        remarks.count(1);
        continue;
      }
      if ('url' in known) {
        if (known.base === undefined) addAll(check.faults(place, known.url));
        continue;
      }
      const expression = `${place.path}.meta.profile[${index}]`;
      const diagnostics = `${expression} names a profile that ${known.fault}, so it was not checked`;
      remarks.add({ severity: 'information', code: 'not-supported', diagnostics, expression });
    }
  }
  yield;
  const ofDocument = checkDocument(check.root, references);
  yield;
  return [...base, ...ofDocument, ...toIssues(faults), ...remarks.list()];
}

/** The definition that a canonical URL resolves to: a bundled profile, or an R4 base definition. */
type Resolved = { readonly url: string; readonly base?: string } | { readonly fault: string };

function resolveCanonical(canonical: string): Resolved {
  const [url = '', version] = canonical.split('|');
  const profile = findProfile(url);
  if (profile !== undefined) {
    if (version === undefined || version === profile.version) return { url };
    return { fault: `is available in version ${profile.version} only` };
  }
  const base = baseType(url);
  if (base !== undefined && (version === undefined || version.startsWith('4.0'))) return { url, base };
  const names = profileUrls().map(shortName).join(', ');
  return { fault: `is unknown here; the known profiles are R4's own definitions and ${names}` };
}
