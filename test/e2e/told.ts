import { comesTrue } from './come-true.ts';
import { kubectl } from './kubectl.ts';

/** Resolves when an Event of the object says so. */
export const toldOf = (
  { kind, name }: { readonly kind: string; readonly name: string },
  reason: string,
  text: string,
): Promise<void> =>
  comesTrue(async () => {
    const selector = `involvedObject.kind=${kind},involvedObject.name=${name},reason=${reason}`;
    const { stdout } = await kubectl('get', 'events', '-A', '--field-selector', selector, '-o', 'json');
    return stdout.includes(text);
  });
