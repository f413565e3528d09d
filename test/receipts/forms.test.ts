/**
 * Hashes of answers built from materials that never change. If an answer changes, the form must change, so that a receipt
 * names the rules that produced its answer. Contexts have their own samples (`test/context/forms.test.ts`).
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { SUMMARY_FORM } from '#src/clinical/summary/document.ts';
import { MCP_FORM } from '#src/mcp/answer.ts';
import type { Material } from '#src/receipts/material.ts';
import { renderAnswer } from '#src/receipts/render.ts';
import { LINK_FORM } from '#src/shl/content.ts';

const FORMS = { summary: SUMMARY_FORM, mcp: MCP_FORM, link: LINK_FORM };
/** Maps a kind and a form to the SHA-256 of the answers. */
const ANSWERS = new URL('./forms/answers.json', import.meta.url);
const MATERIALS = new URL('./forms/materials.json.gz', import.meta.url);

describe('the forms of receipts', () => {
  const materials: Material[] = JSON.parse(gunzipSync(readFileSync(MATERIALS)).toString());

  for (const [kind, form] of Object.entries(FORMS))
    it(`of ${kind} is another one when an answer is another one`, async () => {
      const hash = createHash('sha256');
      const own = materials.filter((material) => material.kind === kind);
      expect(own.length).to.be.greaterThan(2);
      for (const material of own) hash.update(await renderAnswer(material));
      const now = hash.digest('hex');
      const known: Record<string, Record<string, string>> = existsSync(ANSWERS)
        ? JSON.parse(readFileSync(ANSWERS, 'utf8'))
        : {};
      const forms = known[kind] ?? {};
      // The hash of a known form is never overwritten: if answers change, a new form is needed.
      if (process.env.ANNAL_WRITE_FORMS === '1' && forms[form] === undefined) {
        forms[form] = now;
        writeFileSync(ANSWERS, `${JSON.stringify({ ...known, [kind]: forms }, null, 2)}\n`);
      }
      expect(
        forms[form],
        `answers changed: raise the form of ${kind}, then run ANNAL_WRITE_FORMS=1 npm test -- receipts/forms`,
      ).to.equal(now);
      expect(Math.max(...Object.keys(forms).map(Number)), 'it is the highest').to.equal(form);
    });
});
