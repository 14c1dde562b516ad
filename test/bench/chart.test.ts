import { expect, test } from '@jest/globals';
import { logLogChart, type Chart } from '../../bench/chart.ts';

const chart: Chart = {
  title: 'Cost',
  x: 'nodes',
  y: 'ms',
  series: [
    {
      name: 'measured',
      colour: 'red',
      points: [
        [10, 0.1],
        [100, 1],
        [1000, 10],
      ],
    },
    {
      name: 'n',
      colour: 'grey',
      isReference: true,
      points: [
        [10, 0.1],
        [1000, 10],
      ],
    },
  ],
};

test('a power of n is a straight line between the corners, and the same numbers give the same text', () => {
  const svg = logLogChart(chart);
  expect(svg).toContain('<polyline points="70,350 345,195 620,40" fill="none" stroke="red" stroke-width="2"/>');
  expect(svg).toContain(
    '<polyline points="70,350 620,40" fill="none" stroke="grey" stroke-width="2" stroke-dasharray="6 4"/>',
  );
  expect(logLogChart(chart)).toBe(svg);
});

test('axes are labelled at powers of ten, and only what was measured has dots', () => {
  const svg = logLogChart(chart);
  const labels = [...svg.matchAll(/text-anchor="middle">([^<]*)</g)].map(([, label]) => label);
  expect(labels).toEqual(['Cost', '10', '100', '1,000', '0.1', '1', '10', 'nodes', 'ms']);
  expect(svg.match(/<circle/g)).toHaveLength(3);
});
