import { binaries } from './go/build.ts';
import { HELM } from './go/helm.ts';

/** `npm run --silent lab -- helm:build`: builds Helm, if this machine does not have it yet, and says where it is. */
const progress = (line: string): void => void process.stderr.write(`${line}\n`);
const { helm } = await binaries({ env: process.env, progress }, [HELM]);
process.stdout.write(`${helm}\n`);
