import { App } from 'cdk8s';
import { Updates } from './updates.js';

const app = new App();
new Updates(app);
app.synth();
