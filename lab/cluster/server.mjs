import { createServer } from 'node:http';
import { hostname } from 'node:os';

const QUIET_MS = 5000;
let quiet;

// The workload's pods: says whose answer it is. Once told to end, it goes when nobody but the kubelet has asked for QUIET_MS: kube-proxy may
// send others for as long as it has not heard of that.
const server = createServer(({ headers }, response) => {
  if (!headers['user-agent']?.startsWith('kube-probe/')) quiet?.refresh();
  response.setHeader('connection', 'close');
  response.end(hostname());
});
server.listen(Number(process.env.PORT));
process.on('SIGTERM', () => {
  quiet ??= setTimeout(() => server.close(() => process.exit(0)), QUIET_MS);
});
