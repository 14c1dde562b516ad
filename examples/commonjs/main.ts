import { App } from 'cdk8s';
import { Platform } from './platform.js';

const app = new App();
new Platform(app);
app.synth();
