import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ControllerMetrics } from '../../runtime/controller/metrics.ts';

test('docs/operating.md names each metric of the controller, with its labels, and no other', () => {
  const text = readFileSync('docs/operating.md', 'utf8');
  const section = /^## Metrics of the controller\n(.*?)^## /ms.exec(text)?.[1] ?? '';
  const documented = [...section.matchAll(/^\| `(\w+)(?:\{([\w,]+)\})?`/gm)].map(([, name, labels = '']) => ({
    name,
    labels,
  }));
  const metrics = new ControllerMetrics().registry.getMetricsAsArray() as unknown as readonly {
    readonly name: string;
    readonly labelNames: readonly string[];
  }[];
  const present = metrics.map(({ name, labelNames }) => ({ name, labels: labelNames.join() }));
  const byName = (a: (typeof documented)[number], b: (typeof documented)[number]): number =>
    (a.name ?? '').localeCompare(b.name ?? '');
  expect(documented.toSorted(byName)).toEqual(present.toSorted(byName));
});
