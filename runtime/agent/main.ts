import { runProcess } from '../lib/process.ts';
import { runBottlerocketAgent } from './bottlerocket.ts';
import { agentEnv, readAgentConfig } from './config.ts';

await runProcess({
  name: 'brupop-agent',
  summary:
    'Updates the Bottlerocket host it runs on when the controller wants it, and reports what the host runs and offers.',
  env: agentEnv,
  read: readAgentConfig,
  run: runBottlerocketAgent,
});
