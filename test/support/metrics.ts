/** Reads `/metrics` from a service with one or several processes. */

/**
 * Returns an instance's metrics: the sums of its processes' samples, without the label `worker`.
 * @param url the service's URL
 */
export async function readMetrics(url: string): Promise<string> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, series = line, value] = /^([^#].*) (\S+)$/.exec(line) ?? [];
    const name = series.replace(/,?\bworker="[^"]*"/, '').replace(/\{\}$/, '');
    sums.set(name, (sums.get(name) ?? 0) + Number(value ?? Number.NaN));
  }
  return [...sums].map(([name, sum]) => (Number.isNaN(sum) ? name : `${name} ${sum}`)).join('\n');
}
