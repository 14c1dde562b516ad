import { runProcess } from '../lib/process.ts';
import { k3osAgentEnv, readK3osAgentConfig } from './config.ts';
import { runK3osAgent } from './k3os.ts';

await runProcess({
  name: 'brupop-agent-k3os',
  summary: 'Upgrades the k3OS host it runs on when the controller wants it, and reports what the host runs.',
  env: k3osAgentEnv,
  read: readK3osAgentConfig,
  run: runK3osAgent,
});
