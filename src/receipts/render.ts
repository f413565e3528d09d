/**
 * Makes an answer again from its material. Pure: no file, network, clock or chance. Together with all that it imports this
 * is what is archived as the renderer of a version of the program (docs/receipts.md).
 */
import { renderContext } from './context.ts';
import { renderLink } from './link.ts';
import type { Material } from './material.ts';
import { renderMcp } from './mcp.ts';
import { sendOutward } from './outward.ts';
import { renderSummary } from './summary.ts';

/** Returns the bytes of an answer. @throws InputGone */
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
