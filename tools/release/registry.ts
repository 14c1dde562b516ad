import { spawnSync } from 'node:child_process';
import { binaries, type GoProgram } from '../go/build.ts';
import { findCrane } from '../image/crane.ts';

/** Signs by the identity of the workflow that runs it: there is no key to keep. */
const COSIGN: GoProgram = {
  name: 'cosign',
  module: 'cosign',
  package: 'github.com/sigstore/cosign/v3/cmd/cosign',
};

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

function runVisibly(file: string, args: readonly string[]): void {
  const { status, error } = spawnSync(file, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${file} ${args[0]} ended with ${status}`, { cause: error });
}

/** Has crane and cosign know a registry's credentials, as docker keeps them; the password comes from the standard input. */
export async function login(reference: string, user: string): Promise<void> {
  const { file } = await findCrane(process.env);
  const [host = ''] = reference.split('/');
  runVisibly(file, ['auth', 'login', host, '--username', user, '--password-stdin']);
}

/** What is signed: the image under its digest, and the digests of the release's files, which stand for the files. */
export function signatures(reference: string, digest: string, sums: string) {
  const name = reference.slice(0, reference.lastIndexOf(':'));
  return {
    image: ['sign', '--yes', `${name}@${digest}`],
    files: ['sign-blob', '--yes', '--bundle', `${sums}.sigstore.json`, sums],
  } as const;
}

export async function sign(command: readonly string[]): Promise<void> {
  const { cosign = '' } = await binaries({ env: process.env, progress }, [COSIGN]);
  runVisibly(cosign, command);
}
