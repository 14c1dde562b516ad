import { runProcess } from '../lib/process.ts';
import { agentEnv, readAgentConfig } from '../agent/config.ts';
import { runAgent } from '../agent/run.ts';

await runProcess({
  name: 'brupop-agent',
  summary: 'Updates the host it runs on when the controller wants it, and reports what the host runs and offers.',
  env: agentEnv,
  read: readAgentConfig,
  run: runAgent,
});
