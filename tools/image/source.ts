import { rfc3339 } from '../../runtime/lib/clock.ts';
import { run } from './run.ts';

/** Which state of the project an image is made of. */
export interface Source {
  /** Of the commit; absent where the work tree is another, or no git tells. */
  readonly revision?: string;
  /** When that commit was made, RFC 3339; the same for everybody who builds it. */
  readonly created: string;
}

/** @param root folder of the project */
export async function sourceOf(root: string, env: NodeJS.ProcessEnv): Promise<Source> {
  const git = (...args: readonly string[]): Promise<string> =>
    run('git', ['-C', root, ...args]).then(
      (text) => text.trim(),
      () => '',
    );
  const [revision = '', committed] = (await git('log', '-1', '--format=%H %ct')).split(' ');
  const clean = revision !== '' && (await git('status', '--porcelain')) === '';
  const epoch = env['SOURCE_DATE_EPOCH'] || committed || '0';
  return { ...(clean && { revision }), created: rfc3339(Number(epoch) * 1000) };
}
