/** Defines styles for patients' pages, in addition to the styles for all pages: cards, lists, tables, charts, navigation. */

/** Colours are the custom properties defined in `src/http/pages/style.ts`. */
export const PATIENT_STYLE = `
.skip { position: absolute; inset-inline-start: 0.5rem; inset-block-start: -4rem; z-index: 3; padding: 0.75rem 1rem; background: var(--surface); border: 2px solid var(--accent); border-radius: 0.5rem; }
.skip:focus { inset-block-start: 0.5rem; }
a.brand { color: var(--text); text-decoration: none; min-block-size: 2.75rem; }
a.brand:hover { text-decoration: underline; }
.tools { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; justify-content: flex-end; }
.tools > a { display: inline-flex; align-items: center; min-block-size: 2.75rem; }
h3 { margin: 0; font-size: 1rem; font-weight: 650; line-height: 1.4; }
main h1 + .lead { margin-block-start: 0.5rem; }
.lead { color: var(--quiet); font-size: 1.0625rem; }
main > section > h2 { margin-block-end: 0.25rem; }
main > section + section, main > * + section { margin-block-start: 2.25rem; }
.side { max-inline-size: 42rem; margin-inline: auto; padding: 0 1.125rem 0.75rem; }
.side details { border: 1px solid var(--control); border-radius: 0.75rem; background: var(--surface); }
.side summary { display: flex; align-items: center; justify-content: space-between; gap: 0.75rem; min-block-size: 2.75rem; padding: 0.5rem 1rem; cursor: pointer; font-weight: 600; list-style: none; }
.side summary::-webkit-details-marker { display: none; }
.side summary::after { content: ''; flex: none; inline-size: 0.5rem; block-size: 0.5rem; margin-block-start: -0.25rem; border: solid currentColor; border-width: 0 2px 2px 0; transform: rotate(45deg); }
.side details[open] summary::after { transform: rotate(225deg); margin-block-start: 0.25rem; }
.side details ul { padding: 0 0.5rem 0.5rem; }
.side li a { display: flex; justify-content: space-between; gap: 0.75rem; padding: 0.5625rem 0.75rem; border-radius: 0.5rem; color: var(--text); text-decoration: none; }
.side li a:hover { background: var(--soft); text-decoration: underline; }
.side li a[aria-current] { background: var(--soft); color: var(--accent); font-weight: 650; }
.side .count { flex: none; min-inline-size: 1.5rem; padding-inline: 0.4375rem; border-radius: 1rem; background: var(--accent); color: var(--accent-text); font-size: 0.875rem; font-weight: 650; text-align: center; }
.side .wide { display: none; }
.side .whose { padding: 0 0.75rem 0.5rem; font-weight: 650; overflow-wrap: anywhere; }
.side .whose small { display: block; color: var(--quiet); font-weight: 400; font-size: 0.875rem; }
.cards { display: grid; gap: 0.875rem; }
.card { padding: 1rem 1.125rem; border: 1px solid var(--line); border-radius: 0.875rem; background: var(--surface); }
.card > * + * { margin-block-start: 0.375rem; }
.card.opens { position: relative; }
.card.opens:hover { background: var(--soft); }
.card.opens h3 a { text-decoration: none; }
.card.opens h3 a::after { content: ''; position: absolute; inset: 0; border-radius: 0.875rem; }
.card.opens:hover h3 a { text-decoration: underline; }
.card.asks { border-color: var(--accent); border-inline-start-width: 0.25rem; background: var(--soft); }
.card.ai { border-style: dashed; border-color: var(--control); }
.row-top { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0.25rem 0.75rem; }
.row-top > :first-child { flex: 1 1 9rem; min-inline-size: 0; }
.rows { border-block: 1px solid var(--line); }
.rows > li { padding-block: 0.75rem; }
.rows > li + li { border-block-start: 1px solid var(--line); }
.rows > li > * + * { margin-block-start: 0.125rem; }
.bullets { padding-inline-start: 1.25rem; list-style: disc; }
.bullets li + li { margin-block-start: 0.25rem; }
.card h2, .minor { font-size: 1rem; font-weight: 650; line-height: 1.4; }
th[scope=row] { white-space: nowrap; font-weight: 600; }
.empty { padding: 1.25rem; border: 1px dashed var(--control); border-radius: 0.875rem; color: var(--quiet); }
.empty > * + * { margin-block-start: 0.75rem; }
.badge.plain { color: var(--quiet); }
.badge .first { display: inline-block; }
.badge .first::first-letter { text-transform: uppercase; }
details.past > summary, details.sources > summary { min-block-size: 2.75rem; display: flex; align-items: center; color: var(--quiet); cursor: pointer; }
details.sources > summary { min-block-size: 2rem; font-size: 0.875rem; }
.badge.fault { color: var(--fault); }
.badge.fault::before { content: '!' / ''; font-weight: 800; }
.badge.ai { color: var(--warn); border-style: dashed; }
.done { padding: 0.75rem 1rem; border-inline-start: 0.25rem solid var(--good); border-radius: 0.5rem; background: var(--soft); }
.button.small { min-block-size: 2.75rem; padding: 0.375rem 1rem; font-size: 1rem; }
.button.danger { color: var(--fault); border-color: var(--fault); background: var(--surface); }
.buttons { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; }
.filters { display: grid; gap: 0.875rem; padding: 1rem; border-radius: 0.875rem; background: var(--page); }
details.filters { padding: 0; }
.filters > summary { min-block-size: 2.75rem; padding: 0.625rem 1rem; cursor: pointer; font-weight: 600; }
.filters > form { display: grid; gap: 0.875rem; padding: 0 1rem 1rem; }
.field select, .field textarea { inline-size: 100%; min-block-size: 2.875rem; margin-block-start: 0.25rem; padding: 0.5rem 0.75rem; border: 1px solid var(--control); border-radius: 0.625rem; background: var(--surface); }
.field.short { max-inline-size: 24rem; }
.scroll { overflow-x: auto; }
table { inline-size: 100%; border-collapse: collapse; font-size: 1rem; }
caption { text-align: start; padding-block-end: 0.5rem; color: var(--quiet); }
th, td { overflow-wrap: normal; padding: 0.5rem 0.75rem 0.5rem 0; text-align: start; vertical-align: top; border-block-end: 1px solid var(--line); }
[dir=rtl] th, [dir=rtl] td { padding: 0.5rem 0 0.5rem 0.75rem; }
thead th { color: var(--quiet); font-weight: 600; font-size: 0.9375rem; }
td.number, th.number { text-align: end; white-space: nowrap; }
ins, del { text-decoration: none; border-radius: 0.25rem; padding-inline: 0.25rem; }
ins { background: var(--soft); }
del { background: var(--fault-soft); text-decoration: line-through; }
.differences th[scope=row], .printed th[scope=row] { white-space: normal; }
.differences th, .differences td { overflow-wrap: anywhere; min-inline-size: 5rem; }
.rows > li.measure { padding-block: 0.5rem; }
.measure > * + * { margin-block-start: 0; }
.measure .latest { font-size: 1.125rem; }
.course > summary { display: inline-flex; align-items: center; min-block-size: 2rem; color: var(--accent); font-size: 0.9375rem; text-decoration: underline; cursor: pointer; }
.course[open] { flex-basis: 100%; }
.group > summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 0.75rem; min-block-size: 2.75rem; padding-block: 0.5rem; cursor: pointer; }
.group > summary > h2 { margin: 0; font-size: 1.125rem; }
main > section:has(> .group) + section:has(> .group) { margin-block-start: 0; }
.find { display: grid; gap: 0.25rem; margin-block-end: 1rem; }
.find > label { font-weight: 600; }
.find > span { display: flex; gap: 0.5rem; }
.find input { flex: 1; min-inline-size: 0; min-block-size: 2.75rem; padding: 0.375rem 0.75rem; border: 1px solid var(--control); border-radius: 0.625rem; background: var(--surface); }
.find > a { display: inline-flex; align-items: center; min-block-size: 2.75rem; }
.jump ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; }
.jump a { display: inline-flex; align-items: center; min-block-size: 1.75rem; }
.latest { font-size: 1.375rem; font-weight: 650; letter-spacing: -0.01em; }
.latest.parts { font-size: 1.125rem; }
.changed { display: block; }
.latest small { font-size: 1rem; font-weight: 400; color: var(--quiet); letter-spacing: normal; }
.chart { display: block; inline-size: 100%; max-inline-size: 30rem; block-size: auto; direction: ltr; }
.chart text { fill: var(--quiet); font-size: 12px; font-family: inherit; unicode-bidi: plaintext; font-variant-numeric: tabular-nums; }
.chart .range { fill: var(--good); fill-opacity: 0.14; }
.chart .bound { stroke: var(--good); stroke-width: 1; stroke-dasharray: 2 3; }
.chart .limit { fill: var(--good); }
.chart .grid { stroke: var(--line); stroke-width: 1; }
.chart .line { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.chart .dot { fill: var(--surface); stroke: var(--accent); stroke-width: 2; }
.chart .dot.good { fill: var(--good); stroke: var(--good); }
.chart .dot.out { fill: var(--warn); stroke: var(--warn); }
.chart .dot.critical { fill: var(--fault); stroke: var(--fault); }
.chart .second .line { stroke: var(--text); stroke-dasharray: 6 4; }
.chart .second .dot { stroke: var(--text); }
.chart .more .line { stroke: var(--control); stroke-dasharray: 2 4; }
.chart .more .dot { stroke: var(--control); }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; font-size: 0.9375rem; }
.legend svg { display: inline-block; inline-size: 2rem; block-size: 0.75rem; vertical-align: middle; }
.qr { display: block; inline-size: min(100%, 20rem); block-size: auto; padding: 0.75rem; background: #ffffff; border: 1px solid var(--line); border-radius: 0.75rem; }
.mono { font-family: ui-monospace, monospace; font-size: 0.9375rem; word-break: break-all; }
.json pre { max-block-size: 28rem; margin: 0; padding: 0 1rem 1rem; overflow: auto; white-space: pre-wrap; }
.receipt { padding: 1.125rem; border: 1px solid var(--line); border-radius: 0.875rem; }
.back { display: inline-flex; align-items: center; min-block-size: 2.75rem; }
.pager { display: flex; flex-wrap: wrap; gap: 0.75rem; justify-content: space-between; align-items: center; }
@media screen and (max-width: 44rem) {
  .printed, .printed tbody, .printed th, .printed td { display: block; }
  .printed thead { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
  .printed tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.125rem 0.75rem; padding-block: 0.5rem; border-block-end: 1px solid var(--line); }
  .printed tbody :is(th, td) { padding: 0; border: 0; }
  .printed tbody th { flex-basis: 100%; }
  .printed td[data-name] { color: var(--quiet); font-size: 0.9375rem; }
  .printed td[data-name]::before { content: attr(data-name) ' '; }
  .printed td.none { display: none; }
  .printed tbody td:last-child { margin-inline-start: auto; color: var(--quiet); font-size: 0.9375rem; }
}
@media (min-width: 44rem) {
  .filters > form { grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); align-items: end; }
}
@media (min-width: 62rem) {
  body:has(.side) { display: grid; grid-template-columns: 15rem minmax(0, 44rem); column-gap: 2.5rem; justify-content: center; align-content: start; }
  body:has(.side) .bar { grid-column: 1 / -1; inline-size: 61.5rem; max-inline-size: 100%; margin-inline: auto; }
  body:has(.side) main { max-inline-size: none; margin-inline: 0; inline-size: 100%; }
  .side { margin: 0; padding: 2.25rem 0 0; }
  .side .narrow { display: none; }
  .side .wide { display: block; position: sticky; inset-block-start: 1rem; }
}
.running { display: none; }
@page { size: portrait; margin: 14mm 15mm 16mm; @bottom-right { content: counter(page) " / " counter(pages); font: 9pt system-ui, sans-serif; } }
@media print {
  :root {
    color-scheme: light; --page: #ffffff; --surface: #ffffff; --text: #000000; --quiet: #333333; --line: #999999; --control: #666666;
    --accent: #0b4f8a; --soft: #ffffff; --good: #14532d; --warn: #6b3f00; --fault: #8a1020; --fault-soft: #ffffff;
  }
  .bar, .side, .tools, .skip, .buttons, .back, .filters, .pager, .origin, details.sources, .onscreen { display: none; }
  body, body:has(.side) { display: block; min-block-size: 0; font-size: 10.5pt; }
  main, body:has(.side) main { display: table; inline-size: 100%; max-inline-size: none; margin: 0; padding: 0; border: 0; border-radius: 0; }
  .running { display: table-header-group; break-inside: avoid; font-size: 9.5pt; }
  .running p { padding-block-end: 2mm; margin-block-end: 4mm; border-block-end: 1px solid var(--line); }
  h1, h2, h3 { break-after: avoid; }
  .rows > li, .card, tr, .note { break-inside: avoid; }
  .stack > * + * { margin-block-start: 0.5rem; }
  .rows > li { padding-block: 0.375rem; }
  main > section + section, main > * + section { margin-block-start: 1.25rem; }
  .scroll { overflow: visible; }
  a { color: inherit; text-decoration: none; }
  table { font-size: inherit; }
  th, td { padding-block: 0.25rem; }
  .badge { border: 0; padding: 0; border-radius: 0; }
}
`;
