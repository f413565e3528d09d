/** Builds the response of `POST /v1/context` (docs/spec/decisions.md, section 4 "Context"). */
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Authored, Section } from './compose.ts';
import type { MadeContext } from './make.ts';
import { FORM, hashAnswer, type Manifest, manifestId } from './manifest.ts';
import { type Version, versionReference } from './record.ts';
import type { ContextRequest } from './request.ts';
import { TOKENIZER } from './tokenizer.ts';

/** A response, and the manifest that it names. */
export interface ContextAnswer {
  readonly body: JsonObject;
  readonly id: string;
  readonly manifest: Manifest;
  /** The versions that the response shows, in order. */
  readonly versions: readonly Version[];
}

/** The patient, the time and the day for which a context is generated, and who may compare the context's id with others. */
export interface ContextOrigin extends Pick<Manifest, 'patient' | 'at' | 'day' | 'grant'> {
  /** The result of `madeFor`. */
  readonly madeFor: string;
  /** Annal's version. */
  readonly version: string;
}

/**
 * Returns the text that is hashed into a manifest's id. It differs between two grants, so that their ids don't show that both
 * grants are on the same record.
 */
export function madeFor(ownerId: string, grantId: string | undefined): string {
  return grantId === undefined ? ownerId : `${ownerId} ${grantId}`;
}

/** Builds the response body and its manifest. */
export function buildAnswer(
  { told, composed, directory, displays }: MadeContext,
  ask: ContextRequest,
  ground: ContextOrigin,
): ContextAnswer {
  const { patient, at, day, madeFor, version, grant } = ground;
  const isText = ask.format === 'text';
  const answer: JsonObject = {
    patient,
    budget_tokens: ask.budget_tokens,
    tokens_used: composed.tokens,
    tokenizer: TOKENIZER,
    needs: [...ask.needs],
    sections: composed.sections.map((section) => renderSection(section, isText)),
    omitted: composed.omitted.map((omitted) => ({ ...omitted })),
    warnings: told.warnings.map(({ kind, text, fhir, count }) => ({
      kind,
      text,
      fhir: [...fhir],
      ...(count === undefined ? {} : { count }),
    })),
    provenance_note: provenanceNote(at, day),
    ...(isText ? { text: composed.text } : {}),
  };
  const made = { patient, at, day, ask, directory, displays, ...(grant === undefined ? {} : { grant }) };
  const manifest: Manifest = { form: FORM, answer: hashAnswer(answer, made), version, ...made };
  const id = manifestId(madeFor, manifest);
  const sources = composed.sections.flatMap(sourcesIn).map((each) => [versionReference(each), each] as const);
  const versions = [...new Map(sources).values()];
  return { body: { manifest_id: id, ...answer }, id, manifest, versions };
}

function renderSection({ kind, tokens, items, text, note }: Section, isText: boolean): JsonObject {
  return {
    kind,
    tokens,
    items: items.map(renderItem),
    ...(isText ? { text } : {}),
    ...(note === undefined ? {} : { note }),
    sources: [...new Set(sourcesIn({ items }).map(versionReference))],
  };
}

/** Returns the versions from which a section was made. */
function sourcesIn({ items }: Pick<Section, 'items'>): Version[] {
  return items.flatMap(({ fact }) => [fact.entry, ...fact.also]);
}

function renderItem({ fact, author }: Authored): JsonObject {
  const { kind, text, entry, members } = fact;
  return {
    text,
    date: entry.dated.date,
    author_type: author.authorType,
    source: author.source,
    fhir: versionReference(entry),
    ...(kind === 'ai_notes' ? { verified: false } : {}),
    ...members,
  };
}

function provenanceNote(at: string, day: string): string {
  return [
    `The record as it was at ${at}, told on ${day}.`,
    'Each item names who recorded it (author_type), through which system (source), and the exact version (fhir).',
    'Content written by an AI is in ai_notes only and has not been verified.',
    'A section without items says nothing about the patient.',
  ].join(' ');
}
