import { runProcess } from '../lib/process.ts';
import { apiserverEnv, readApiserverConfig } from './config.ts';
import { runApiserver } from './run.ts';

await runProcess({
  name: 'brupop-apiserver',
  summary: 'Acts on the cluster for the agents of Bottlerocket nodes: their shadows, cordons and drains.',
  env: apiserverEnv,
  read: readApiserverConfig,
  run: runApiserver,
});
