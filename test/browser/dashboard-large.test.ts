/** The dashboard's log with 100,000 requests, on a processor slowed to a quarter (docs/performance.md). */
import { expect } from 'chai';
import { beginProject, findCellsOverNext, useDashboard } from '#test/support/dashboard.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { itAtFullSize, scaled } from '#test/support/scale.ts';

const REQUESTS = scaled(100_000, 2_000);
/** Number of pages to scroll through. */
const PAGES = scaled(60, 12);
const SLOWER = 4;
const isMeasured = scaled(1, 0) === 1;
/**
 * Maximum times in ms: for the interface to return the first page, from a click until the page is painted, and for any task
 * while scrolling.
 */
const MOST = { answer: 100, painted: 300, task: 100 } as const;

describe('the log of the dashboard with many requests', () => {
  let service: InProcess;
  const { open } = useDashboard((started) => {
    service = started;
  });

  itAtFullSize('is shown at once, and scrolled without stops, with few rows in the document', async () => {
    const page = await open('busy@example.org');
    const project = await beginProject(page, 'Busy');
    await service.pool.query(
      `insert into operations.request_log
         (request_id, at, project, environment, key_id, method, path, named, status, ms)
       select 'req_' || lpad(n::text, 26, '0'), (extract(epoch from now()) * 1e6)::int8 - n * 1000, $1, 'sandbox', 'key_none',
              'GET', case when n = 1 then '/fhir/R4/Patient/' || repeat('none-', 40) else '/fhir/R4/Observation' end, null, case when n % 50 = 0 then 404 else 200 end, 1.5
         from generate_series(1, $2) n`,
      [project, REQUESTS],
    );
    await service.pool.query('analyze operations.request_log');
    const path = `/app/api/admin/projects/${project}/logs?environment=sandbox&limit=50`;
    const answers: number[] = [];
    for (let n = 0; n < 20; n += 1)
      answers.push(
        await page.evaluate(async (url) => {
          const began = performance.now();
          await (await fetch(url, { headers: { 'X-Service-Session': '1' } })).text();
          return performance.now() - began;
        }, path),
      );
    const answered = answers.sort((a, b) => a - b)[10] ?? 0;
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
    await page.evaluate(() => {
      const seen = { tasks: [] as number[] };
      Object.assign(globalThis, { seen });
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) seen.tasks.push(duration);
      }).observe({ type: 'longtask' });
    });
    const painted = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const link = [...document.querySelectorAll('nav a')].find(
            (each) => each.textContent?.trim() === 'Requests',
          );
          const began = performance.now();
          new MutationObserver((_, observer) => {
            if (document.querySelector('tbody tr') === null) return;
            observer.disconnect();
            requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
          }).observe(document.body, { childList: true, subtree: true });
          (link as HTMLElement).click();
        }),
    );
    await page.locator('table.fixed').waitFor();
    expect(await page.evaluate(findCellsOverNext)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.locator('tbody').nth(1).waitFor();
    await page.evaluate(() => {
      (globalThis as unknown as { seen: { tasks: number[] } }).seen.tasks.length = 0;
    });
    while ((await page.locator('tbody').count()) < PAGES) {
      await page.mouse.wheel(0, 3_000);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    const tasks = await page.evaluate(
      () => (globalThis as unknown as { seen: { tasks: number[] } }).seen.tasks,
    );
    const rows = await page.locator('tbody tr').count();
    expect(rows).to.be.lessThan(PAGES + 500);
    // Rows that are out of view keep their space, so that the scroll bar doesn't jump.
    const firstPage = page.locator('tbody').first();
    expect(await firstPage.locator('tr').count()).to.equal(1);
    expect(await firstPage.evaluate((each) => each.getBoundingClientRect().height)).to.be.greaterThan(
      50 * 30,
    );
    expect(await page.locator('table').getAttribute('aria-rowcount')).to.equal('-1');
    const longest = Math.max(0, ...tasks);
    const told = `answer ${answered.toFixed(1)} ms, painted ${painted.toFixed(0)} ms, longest task ${longest.toFixed(0)} ms, ${rows} rows`;
    if (process.env.ANNAL_TEST_TOLD === '1') console.log(told);
    if (isMeasured) {
      expect(answered, told).to.be.at.most(MOST.answer);
      expect(painted, told).to.be.at.most(MOST.painted);
      expect(longest, told).to.be.at.most(MOST.task);
    }
    // After scrolling back up, the first rows are there again.
    while ((await page.evaluate(() => scrollY)) > 0) {
      await page.mouse.wheel(0, -30_000);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await page.locator('tbody').first().locator('tr').nth(20).waitFor();
    await page.getByRole('button', { name: 'Show the newest' }).click();
    await page.waitForFunction(() => document.querySelectorAll('tbody').length === 1);
  })?.timeout(300_000);
});
