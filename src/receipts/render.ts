/**
 * Recreates an answer from its material. Pure: no files, network, clock or randomness. This module, with everything that it
 * imports, is archived as the renderer for a version of the program (docs/receipts.md).
 */
import { renderContext } from './context.ts';
import { renderLink } from './link.ts';
import type { Material } from './material.ts';
import { renderMcp } from './mcp.ts';
import { sendOutward } from './outward.ts';
import { renderSummary } from './summary.ts';

/**
 * Returns an answer's bytes.
 * @throws InputGone
 */
export async function renderAnswer(material: Material): Promise<Buffer> {
  return Buffer.from(await sendOutward(material, await renderInside(material)));
}

function renderInside(material: Material): Promise<string> {
  switch (material.kind) {
    case 'context':
      return renderContext(material);
    case 'summary':
      return renderSummary(material);
    case 'mcp':
      return renderMcp(material);
    case 'link':
      return renderLink(material);
  }
}
