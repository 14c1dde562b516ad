import { runProcess } from '../lib/process.ts';
import { apiserverEnv, readApiserverConfig } from '../apiserver/config.ts';
import { runApiserver } from '../apiserver/run.ts';

await runProcess({
  name: 'brupop-apiserver',
  summary: 'Acts on the cluster for the agents of Bottlerocket nodes: their shadows, cordons and drains.',
  env: apiserverEnv,
  read: readApiserverConfig,
  run: runApiserver,
});
