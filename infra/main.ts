import { join } from 'node:path';
import { App } from 'cdk8s';
import { BrupopChart } from './chart.ts';
import { writeOptional } from './optional.ts';
import { releasedImage } from './release.ts';

/** The app behind `npm run synth`: the operator with its defaults, and what goes with it where it is wanted. */
const app = new App();
const { brupop } = new BrupopChart(app, 'brupop', releasedImage(process.env));
app.synth();
writeOptional(join(app.outdir, 'optional'), brupop);
