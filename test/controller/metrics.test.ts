import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ControllerMetrics } from '../../runtime/controller/telling/metrics.ts';

const NONE = new ControllerMetrics().registry;
const notifying = new ControllerMetrics();
notifying.addNotifications();

test.each([
  ['docs/operating.md', /^- \*\*Controller:\*\*(.*?)$/m, NONE, 0],
  [
    'docs/notifications.md',
    /^## Metrics\n(.*?)(?:^## |$(?![^]))/ms,
    notifying.registry,
    NONE.getMetricsAsArray().length,
  ],
] as const)(
  '%s names each metric of the controller, with its labels, and no other',
  (file, place, registry, others) => {
    const text = readFileSync(file, 'utf8');
    const section = place.exec(text)?.[1] ?? '';
    const documented = Array.from(section.matchAll(/`(\w+)(?:\{([\w,]+)\})?`/g), ([, name = '', labels = '']) => ({
      name,
      labels,
    }));
    const metrics = registry.getMetricsAsArray().slice(others) as readonly unknown[] as readonly {
      readonly name: string;
      readonly labelNames: readonly string[];
    }[];
    const present = metrics.map(({ name, labelNames }) => ({
      name: name.replace('brupop_controller_', ''),
      labels: labelNames.join(),
    }));
    const byName = (a: (typeof documented)[number], b: (typeof documented)[number]): number =>
      a.name.localeCompare(b.name);
    expect(documented.toSorted(byName)).toEqual(present.toSorted(byName));
  },
);
