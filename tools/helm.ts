import { binaries, type GoProgram } from './go/build.ts';

const HELM: GoProgram = { name: 'helm', module: 'helm', package: 'helm.sh/helm/v4/cmd/helm' };

/** `npm run --silent helm:build`: builds Helm, if this machine does not have it yet, and says where it is. */
const progress = (line: string): void => void process.stderr.write(`${line}\n`);
const { helm } = await binaries({ env: process.env, progress }, [HELM]);
process.stdout.write(`${helm}\n`);
