import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { releasedImage } from '../release.ts';
import { helmChart } from './chart.ts';

/** The program behind `npm run lab -- chart`, at the root of the repository: writes the chart into the folder that is its argument. */
const [folder = 'build/helm'] = process.argv.slice(2);
for (const [name, text] of Object.entries(helmChart('infra', releasedImage(process.env)))) {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
