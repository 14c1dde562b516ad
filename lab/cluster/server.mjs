import { createServer } from 'node:http';
import { hostname } from 'node:os';

// The workload's pods: says whose answer it is. Told to end, it answers whom it has begun to answer, and is gone.
const server = createServer((_, response) => {
  response.setHeader('connection', 'close');
  response.end(hostname());
});
server.listen(Number(process.env.PORT));
process.on('SIGTERM', () => server.close(() => process.exit(0)));
