import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'cdk8s';
import { BrupopChart } from './chart.ts';
import { writeOptional } from './optional.ts';
import { propsPage } from './props-page.ts';
import { releasedImage } from './release.ts';

/** The app behind `npm run synth`, at the root of the repository: the operator with its defaults, what goes with it where it is wanted, and its props. */
const app = new App();
const { brupop } = new BrupopChart(app, 'brupop', releasedImage(process.env));
app.synth();
writeOptional(join(app.outdir, 'optional'), brupop);
writeFileSync(join(app.outdir, 'props.md'), propsPage('infra'));
