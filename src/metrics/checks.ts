/** Metrics of readiness: the conditions of `/health/ready`, asked when somebody looks. */
import { Gauge, type Registry } from 'prom-client';

/** Registers the gauge. @param check says of each condition whether it holds; never rejects. */
export function observeChecks(
  registry: Registry,
  check: () => Promise<readonly (readonly [name: string, holds: boolean])[]>,
): void {
  new Gauge({
    name: 'annal_ready_check',
    help: 'Whether a condition of /health/ready held when it was asked just now.',
    labelNames: ['check'],
    registers: [registry],
    async collect() {
      for (const [name, holds] of await check()) this.set({ check: name }, holds ? 1 : 0);
    },
  });
}
