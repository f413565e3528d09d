/** The pages' colours have the contrast that WCAG 2.2 requires (1.4.3, 1.4.11), in both themes. */
import { expect } from 'chai';
import { STYLE } from '#src/http/pages/style.ts';

type Theme = Readonly<Record<string, string>>;

function themeIn(css: string): Theme {
  return Object.fromEntries(
    [...css.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]),
  );
}

/** Returns a colour's relative luminance (WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance). */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(theme: Theme, a: string, b: string): number {
  const [one, other] = [a, b].map((name) => luminance(theme[name] ?? '')).sort((x, y) => y - x);
  return ((one ?? 0) + 0.05) / ((other ?? 0) + 0.05);
}

const TEXT: readonly (readonly [string, readonly string[]])[] = [
  ['text', ['page', 'surface', 'soft', 'warn-soft', 'fault-soft']],
  ['quiet', ['page', 'surface', 'soft', 'warn-soft', 'fault-soft']],
  ['accent', ['page', 'surface', 'soft', 'warn-soft']],
  ['accent-text', ['accent']],
  ['good', ['surface', 'soft']],
  ['warn', ['surface', 'warn-soft']],
  ['fault', ['surface', 'fault-soft']],
];

describe('colours of the pages', () => {
  const [light = '', dark = ''] = STYLE.split('@media (prefers-color-scheme: dark)');

  for (const [name, css] of [
    ['light', light],
    ['dark', dark],
  ] as const) {
    it(`can be read in the ${name} theme`, () => {
      const theme = themeIn(css);
      for (const [text, grounds] of TEXT)
        for (const ground of grounds)
          expect(contrast(theme, text, ground), `${text} on ${ground}`).to.be.at.least(4.5);
      for (const ground of ['page', 'surface'])
        expect(contrast(theme, 'control', ground), `borders on ${ground}`).to.be.at.least(3);
    });
  }

  it('say sides as start and end, so that Arabic is laid out from the right', () => {
    expect(STYLE).not.to.match(
      /\b(?:margin|padding|border|inset)-(?:left|right)\b|\b(?:left|right):|text-align: (?:left|right)/,
    );
  });
});
