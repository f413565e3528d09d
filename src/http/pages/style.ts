/** The stylesheet of all pages for people: system fonts, light and dark themes, phones first, logical properties for Arabic. */

/**
 * Colours have a contrast of at least 4.5 to 1 for text and 3 to 1 for the borders of controls (WCAG 2.2, 1.4.3 and 1.4.11),
 * in both themes; `test/unit/pages-style.test.ts` checks this. No fonts or images are loaded.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f3f5f8; --surface: #ffffff; --text: #171c24; --quiet: #4d5868; --line: #d6dce5; --control: #6b7788;
  --accent: #0b57a4; --accent-text: #ffffff; --soft: #eaf2fb; --good: #1b6b3a; --warn: #8a4b00; --warn-soft: #fff4e0;
  --fault: #a8201a; --fault-soft: #fdecea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1319; --surface: #181e27; --text: #e8ecf2; --quiet: #aab5c4; --line: #323c4a; --control: #8592a5;
    --accent: #8cc0fb; --accent-text: #0b1a2b; --soft: #1c2a3c; --good: #7fd3a0; --warn: #f2c078; --warn-soft: #33291a;
    --fault: #ff9d94; --fault-soft: #3a1f1e;
  }
}
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; min-block-size: 100vh; background: var(--page); color: var(--text);
  font: 1.0625rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans Arabic', sans-serif;
  overflow-wrap: anywhere; hyphens: manual;
}
:lang(ar) { line-height: 1.7; letter-spacing: normal; }
a { color: var(--accent); text-underline-offset: 0.2em; }
a:hover { text-decoration-thickness: 2px; }
h1, h2, p, ul, dl, dd, fieldset, legend { margin: 0; padding: 0; }
h1 { font-size: clamp(1.5rem, 1.2rem + 1.6vw, 1.875rem); line-height: 1.25; letter-spacing: -0.015em; text-wrap: balance; }
h2, legend { font-size: 1.125rem; font-weight: 650; line-height: 1.35; }
:lang(ar) h1 { line-height: 1.45; letter-spacing: normal; }
fieldset { border: 0; min-inline-size: 0; }
legend { display: block; inline-size: 100%; }
ul { list-style: none; }
.quiet { color: var(--quiet); }
.small { font-size: 0.9375rem; }
.bar {
  display: flex; align-items: center; justify-content: space-between; gap: 1rem; flex-wrap: wrap;
  max-inline-size: 42rem; margin-inline: auto; padding: 0.75rem 1.125rem;
}
.brand { display: inline-flex; align-items: center; gap: 0.5rem; font-weight: 700; letter-spacing: -0.01em; }
.brand::before {
  content: ''; inline-size: 1.25rem; block-size: 1.25rem; border-radius: 0.375rem; background: var(--accent);
  -webkit-mask: none; border: 0.3125rem solid var(--accent); outline: 0; box-shadow: inset 0 0 0 0.1875rem var(--page);
}
main { max-inline-size: 42rem; margin-inline: auto; padding: 1.5rem 1.125rem 2.5rem; background: var(--surface); border-block: 1px solid var(--line); }
main > * + *, .stack > * + * { margin-block-start: 1rem; }
main > section, main form > section, main form > fieldset { margin-block-start: 2rem; }
.menu { position: relative; }
.menu summary {
  display: inline-flex; align-items: center; gap: 0.5rem; min-block-size: 2.75rem; padding-inline: 0.75rem; cursor: pointer;
  border: 1px solid var(--control); border-radius: 0.625rem; background: var(--surface); list-style: none;
}
.menu summary::-webkit-details-marker { display: none; }
.menu summary::after {
  content: ''; inline-size: 0.5rem; block-size: 0.5rem; margin-block-start: -0.25rem;
  border: solid currentColor; border-width: 0 2px 2px 0; transform: rotate(45deg);
}
.menu[open] summary::after { transform: rotate(225deg); margin-block-start: 0.25rem; }
.menu ul {
  position: absolute; z-index: 2; inset-inline-end: 0; margin-block-start: 0.25rem; min-inline-size: 12rem; padding: 0.375rem;
  border: 1px solid var(--control); border-radius: 0.75rem; background: var(--surface); box-shadow: 0 0.5rem 1.5rem rgb(0 0 0 / 0.2);
}
.menu li a, .menu li span { display: block; padding: 0.625rem 0.75rem; border-radius: 0.5rem; color: var(--text); text-decoration: none; }
.menu li a:hover { background: var(--soft); text-decoration: underline; }
.menu li span { font-weight: 650; background: var(--soft); }
label { font-weight: 600; }
input, select, textarea { font: inherit; color: inherit; accent-color: var(--accent); }
.field > label { display: block; }
.field input {
  inline-size: 100%; min-block-size: 2.875rem; margin-block-start: 0.25rem; padding: 0.5rem 0.75rem;
  border: 1px solid var(--control); border-radius: 0.625rem; background: var(--surface);
}
.field input[type=date] { max-inline-size: 14rem; }
.field input[aria-invalid=true] { border: 2px solid var(--fault); }
.button {
  display: inline-flex; align-items: center; justify-content: center; min-block-size: 3rem; padding: 0.625rem 1.25rem;
  font: inherit; font-weight: 650; text-align: center; text-decoration: none; cursor: pointer;
  color: var(--accent-text); background: var(--accent); border: 2px solid var(--accent); border-radius: 0.75rem;
}
.button:hover { text-decoration: underline; text-decoration-thickness: 2px; text-underline-offset: 0.2em; }
.button.second { color: var(--accent); background: var(--surface); }
.button.wide { inline-size: 100%; }
.link { font: inherit; color: var(--accent); background: none; border: 0; padding: 0.25rem 0; text-decoration: underline; text-underline-offset: 0.2em; cursor: pointer; }
.actions { display: grid; gap: 0.75rem; margin-block-start: 2rem; }
.choices { display: grid; gap: 0.625rem; }
.consent > * + * { margin-block-start: 1rem; }
.consent > section, .consent > fieldset { margin-block-start: 2rem; }
.group { border: 1px solid var(--control); border-radius: 0.75rem; }
.group > summary { min-block-size: 2.75rem; padding: 0.625rem 1rem; cursor: pointer; font-weight: 600; list-style-position: inside; }
.group > summary .quiet { display: block; font-weight: 400; }
.group > p { padding-inline: 1rem; }
.group > .ticks { margin-block-start: 0.75rem; border-width: 1px 0 0; border-radius: 0 0 0.75rem 0.75rem; }
.group .whole, .group .partly, .group .nothing { display: none; }
.group:has(:checked):not(:has(input:not(:checked))) .whole, .group:has(:checked):has(input:not(:checked)) .partly, .group:not(:has(:checked)) .nothing { display: inline; }
.decide {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(9rem, 100%), 1fr)); gap: 0.75rem;
  margin-inline: -1.125rem; padding: 0.75rem 1.125rem calc(0.75rem + env(safe-area-inset-bottom));
  background: var(--surface); border-block-start: 1px solid var(--line);
}
@media (min-height: 30rem) {
  .decide { position: sticky; z-index: 1; inset-block-end: 0; }
  :root:has(.decide) { scroll-padding-block-end: 6rem; }
}
.note { padding: 0.75rem 1rem; border-inline-start: 0.25rem solid var(--control); border-radius: 0.5rem; background: var(--soft); }
.note.warn { border-color: var(--warn); background: var(--warn-soft); }
[role=alert] { padding: 0.75rem 1rem; border-inline-start: 0.25rem solid var(--fault); border-radius: 0.5rem; background: var(--fault-soft); }
.asker { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem 1rem; }
.asker > div { flex: 1 1 10rem; min-inline-size: 0; }
.asker p { margin: 0; }
.name { font-size: 1.125rem; font-weight: 650; }
.logo {
  flex: none; inline-size: 3.5rem; block-size: 3.5rem; border: 1px solid var(--line); border-radius: 0.875rem; object-fit: contain;
  background: #ffffff;
}
span.logo { display: grid; place-items: center; font-size: 1.5rem; font-weight: 700; color: var(--accent); background: var(--soft); }
.badge {
  display: inline-flex; align-items: center; gap: 0.375rem; padding: 0.0625rem 0.625rem; border: 1px solid currentColor;
  border-radius: 1rem; font-size: 0.875rem; font-weight: 600;
}
.badge.good { color: var(--good); }
.badge.warn { color: var(--warn); }
.badge.good::before { content: '\u2713' / ''; }
.badge.warn::before { content: '!' / ''; font-weight: 800; }
.facts { border-block: 1px solid var(--line); }
.facts > div { padding-block: 0.75rem; }
.facts > div + div { border-block-start: 1px solid var(--line); }
.facts dt { color: var(--quiet); font-size: 0.9375rem; }
.choice, .tick { display: grid; grid-template-columns: auto 1fr; gap: 0.125rem 0.75rem; align-items: start; font-weight: 400; cursor: pointer; }
.choice { padding: 0.75rem 1rem; border: 1px solid var(--control); border-radius: 0.75rem; background: var(--surface); }
.choice:hover, .tick:hover { background: var(--soft); }
.choice:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); background: var(--soft); }
.choice:has(:focus-visible), .tick:has(:focus-visible) { outline: 3px solid var(--accent); outline-offset: 3px; }
.choice input, .tick input { inline-size: 1.25rem; block-size: 1.25rem; margin: 0.1875rem 0 0; }
.choice input:focus-visible, .tick input:focus-visible { outline-offset: 1px; }
.choice strong { display: block; }
.choice strong { font-weight: 600; }
.choice .quiet { font-size: 0.9375rem; }
.whole { display: inline-block; max-inline-size: 100%; }
.ticks { border: 1px solid var(--line); border-radius: 0.75rem; overflow: hidden; }
.tick { padding: 0.75rem 1rem; }
.tick + .tick { border-block-start: 1px solid var(--line); }
.tick:has(:focus-visible) { outline-offset: -3px; }
.always { padding: 0.25rem 1rem; border-radius: 0.75rem; background: var(--page); }
.always li { padding-block: 0.625rem; }
.always li + li { border-block-start: 1px solid var(--line); }
.new-record { display: grid; gap: 1rem; padding: 1rem; border: 1px solid var(--line); border-radius: 0.75rem; }
@supports selector(:has(a)) { .records:not(:has([value=new]:checked)) .new-record { display: none; } }
.fault { color: var(--fault); font-weight: 600; }
.visually-hidden { position: absolute; inline-size: 1px; block-size: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
@media (min-width: 44rem) {
  main { padding: 2.25rem 2.5rem 2.75rem; border: 1px solid var(--line); border-radius: 1rem; margin-block-end: 3rem; }
  .bar { padding-inline: 0.25rem; padding-block: 1.25rem; }
  .actions { grid-template-columns: 1fr 1fr; }
  .facts > div { display: grid; grid-template-columns: 8rem 1fr; gap: 1rem; }
  .new-record, .days { grid-template-columns: 1fr 1fr; }
}
@media (prefers-contrast: more) { :root { --quiet: var(--text); --line: var(--control); } }
@media print { .menu, .actions, .decide { display: none; } }
`;
