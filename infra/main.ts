import { App } from 'cdk8s';
import { BrupopChart } from './chart.ts';
import { releasedImage } from './release.ts';

/** The app behind `npm run synth`: the operator with its defaults. */
const app = new App();
new BrupopChart(app, 'brupop', releasedImage(process.env)); // oxlint-disable-line no-new
app.synth();
