/** Renders values from a record. Each part is isolated from the text direction around it. */
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from '../../pages/texts.ts';
import { rangeText, type ShownValue, type ValueWords, wordValue } from '../../reading/values.ts';

/** Returns a value with its unit. */
export function renderValue(say: Texts, each: ShownValue): Html {
  return renderWords(say, wordValue(say, each));
}

function renderWords(say: Texts, value: ValueWords): Html {
  switch (value.kind) {
    case 'number':
      return isolated(value.text);
    case 'words':
      return html`<bdi>${value.text}</bdi>`;
    case 'truth':
      return html`${value.text}`;
    case 'none':
      return html`<span class="quiet">${value.text}</span>`;
    case 'parts':
      return html`${value.parts.map(
        ({ name, value: own }, i) =>
          html`${i === 0 ? '' : `${say('shl.comma')} `}<bdi>${name}</bdi>: ${renderWords(say, own)}`,
      )}`;
  }
}

function isolated(text: string): Html {
  return html`<bdi dir="ltr">${text}</bdi>`;
}

/** Returns a reference range without its unit. */
export function renderRange(say: Texts, range: Parameters<typeof rangeText>[1]): Html {
  return isolated(rangeText(say, range));
}
