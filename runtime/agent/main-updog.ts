import { runProcess } from '../lib/process.ts';
import { readUpdogAgentConfig, updogAgentEnv } from './config.ts';
import { runUpdogAgent } from './updog.ts';

await runProcess({
  name: 'brupop-agent-updog',
  summary:
    'Updates the Bottlerocket host of interface 1.0.0 it runs on when the controller wants it, and reports what the host runs and offers.',
  env: updogAgentEnv,
  read: readUpdogAgentConfig,
  run: runUpdogAgent,
});
