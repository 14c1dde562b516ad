import { App } from 'cdk8s';
import { BrupopChart } from './chart.ts';

/** The app behind `npm run synth`: the operator with its defaults, and what in it deserves a second look. */
const app = new App();
const { brupop } = new BrupopChart(app, 'brupop');
for (const warning of brupop.warnings) process.stderr.write(`warning: ${warning}\n`);
app.synth();
