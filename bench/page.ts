/**
 * Writes docs/performance.md. The page has a section for each row of the bench, with the date and command of the run that
 * measured it, followed by sections that belong to no row. A run writes the sections of its own rows and leaves the others
 * unchanged.
 */
import { holds } from './measure.ts';
import { figure, limit, memoryBound, number, type RowReport, type RunReport } from './report.ts';

const INTRODUCTION = `# Performance

The benchmark writes each section that is named after a row; do not edit these sections. The figures in the later sections
were each measured once, as described there. Only ratios are judged. Each ratio compares two things in one run on one
machine, and only such a comparison is valid on other machines. Absolute figures are reported only for orientation. Each
section says when it was measured. \`npm run bench\` measures all rows; \`npm run bench -- --only <row>\` measures one row.

[Beside other servers](#beside-other-servers) explains how to repeat the comparison with another FHIR server.

The benchmark is in \`bench/\`, with one file per row in \`bench/measures/\` and the baselines in \`bench/baselines/\`. The load
comes from a separate process, which is the same for both sides; an unexpected status fails the row. The baseline writes
to the same PostgreSQL server under the same settings.
`;

/**
 * Returns the page with a run's rows inserted.
 * @param before the previous page, or empty.
 * @param order all rows, in the order of the page.
 */
export function pageWith(report: RunReport, before: string, order: readonly string[]): string {
  const sections = splitSections(before);
  for (const row of report.rows) sections.set(row.row, section(row, report));
  const others = [...sections.keys()].filter((heading) => !order.includes(heading));
  const kept = [...order, ...others].flatMap((heading) => sections.get(heading) ?? []);
  return `${[INTRODUCTION, ...kept].join('\n')}`;
}

/** Returns a page's sections by heading; a row's section is listed under the row's name. */
function splitSections(page: string): Map<string, string> {
  const [, ...parts] = page.split(/^## /m);
  return new Map(
    parts.map((part) => [part.slice(0, part.indexOf('\n')).trim(), `## ${part.trimEnd()}\n`] as const),
  );
}

function section(row: RowReport, { date, command, machine, runs }: RunReport): string {
  const { cores, node, postgresql } = machine;
  const bounds = [...row.bounds, memoryBound(row)].map(
    (bound) =>
      `| ${bound.ratio} | ${limit(bound)} | ${number(bound.value)} | ${holds(bound) ? 'holds' : '**missed**'} |`,
  );
  return `## ${row.row}

${capital(row.subject)}. Against: ${row.baseline}.

| Ratio | Bound | Measured | |
|---|---|---|---|
${bounds.join('\n')}

${row.figures.map(figure).join(' · ')}

${date}, \`${command}\`: ${cores} cores, shared by Node ${node}, PostgreSQL ${postgresql} (embedded, durable commits) and the load; ${row.rounds ?? `the median of ${runs} alternating ${runs === 1 ? 'run' : 'runs'} of subject and baseline`}.
`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
