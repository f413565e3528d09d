/** The bundled concepts: there are enough of them, their codes exist, and their relations point to existing codes. */
import { expect } from 'chai';
import { ATC, bundledResources, LOINC } from '#src/terminology/bundled/bundled.ts';
import { bundledConcepts } from '#src/terminology/concepts/bundled.ts';
import type { ConceptEntry } from '#src/terminology/concepts/entry.ts';
import { plainWords } from '#src/terminology/plain-words.ts';
import { conceptRows } from '#src/terminology/rows.ts';

/** Returns a bundled code system's codes, with their names. */
function codesOf(url: string): ReadonlyMap<string, string> {
  const system = bundledResources().find((each) => each.url === url && each.resourceType === 'CodeSystem');
  const concepts = system?.resourceType === 'CodeSystem' ? (system.concept ?? []) : [];
  return new Map([...conceptRows(0, concepts)].map(({ code, display = '' }) => [code, display]));
}

describe('bundled concepts', () => {
  const bundled: Readonly<Record<string, ReadonlyMap<string, string>>> = {
    [LOINC]: codesOf(LOINC),
    [ATC]: codesOf(ATC),
  };
  let concepts: readonly ConceptEntry[];
  let byId: ReadonlyMap<string, ConceptEntry>;
  before(async () => {
    concepts = await bundledConcepts();
    byId = new Map(concepts.map((concept) => [concept.conceptId, concept]));
  });

  it('are at least 60 symptoms, 80 conditions and 80 treatments, each with an id of its own', () => {
    const of = (type: string) => concepts.filter((concept) => concept.type === type).length;
    expect(of('symptom')).to.be.at.least(60);
    expect(of('condition')).to.be.at.least(80);
    expect(of('treatment')).to.be.at.least(80);
    expect(byId.size).to.equal(concepts.length);
  });

  it('have synonyms, none of them twice', () => {
    for (const { conceptId, display, synonyms } of concepts) {
      expect(synonyms, conceptId).to.have.length.above(0);
      const texts = [display, ...synonyms].map(plainWords);
      expect(new Set(texts).size, conceptId).to.equal(texts.length);
    }
  });

  it('have no name that another concept of the type has', () => {
    const names = concepts.map(({ type, display }) => `${type} ${plainWords(display)}`);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).to.deep.equal([]);
  });

  it('have codes of LOINC and ATC that are bundled, ICD-10 codes of the right form, and no others', () => {
    for (const { conceptId, type, codes } of concepts)
      for (const { system, code } of codes) {
        const known = bundled[system];
        if (known !== undefined) expect(known.has(code), `${conceptId}: ${code}`).to.equal(true);
        else {
          expect(system, conceptId).to.equal('http://hl7.org/fhir/sid/icd-10');
          expect(code, conceptId).to.match(/^[A-Z]\d\d(\.\d)?$/);
          expect(type, conceptId).not.to.equal('treatment');
        }
      }
  });

  it('name the substance that their ATC code stands for', () => {
    const other = new Set(['low-dose-aspirin', 'penicillin-v', 'vitamin-b12', 'vitamin-d']);
    for (const { conceptId, display, synonyms, codes } of concepts)
      for (const { system, code } of codes) {
        if (system !== ATC || code.length < 7) continue;
        const name = bundled[ATC]?.get(code)?.split(' ')[0] ?? '';
        const texts = other.has(conceptId) ? synonyms : [display];
        expect(
          texts.some((text) => text.toLowerCase().includes(name)),
          `${conceptId}: ${name}`,
        ).to.equal(true);
      }
  });

  it('relate to concepts of the right type, and are measured by bundled LOINC codes', () => {
    for (const { conceptId, type, relations } of concepts)
      for (const { relation, target } of relations) {
        const says = `${conceptId} ${relation} ${target}`;
        if (relation === 'measured_by') {
          expect(bundled[LOINC]?.has(target), says).to.equal(true);
          continue;
        }
        const ofTarget = byId.get(target)?.type;
        if (relation === 'symptom_of') expect([type, ofTarget], says).to.deep.equal(['symptom', 'condition']);
        if (relation === 'treated_with') {
          expect(type, says).not.to.equal('treatment');
          expect(ofTarget, says).to.equal('treatment');
        }
        if (relation === 'part_of') expect(ofTarget, says).to.equal(type);
      }
  });

  it('are part of nothing that is part of them', () => {
    const above = (id: string) =>
      (byId.get(id)?.relations ?? [])
        .filter(({ relation }) => relation === 'part_of')
        .map(({ target }) => target);
    for (const { conceptId } of concepts) {
      const seen = new Set<string>();
      const waiting = above(conceptId);
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        expect(id, conceptId).not.to.equal(conceptId);
        if (!seen.has(id)) waiting.push(...above(id));
        seen.add(id);
      }
    }
  });
});
