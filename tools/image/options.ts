/** What is asked of `npm run image`. */
export type Command =
  | { readonly kind: 'build'; readonly whenGone: 'newest' | 'refuse' }
  | { readonly kind: 'lock' | 'help' }
  | { readonly kind: 'push'; readonly reference: string }
  | { readonly kind: 'unknown'; readonly fault: string };

export const HELP = `Builds the operator's image for linux/amd64 and linux/arm64, as an OCI layout in build/image/oci.

  npm run image               out of what tools/image/lock.json pins; where a mirror has dropped a pinned package, out of the
                              newest, which is said
  npm run image -- --locked   out of what is pinned, or not at all: for a release
  npm run image -- lock       pins what is newest today
  npm run image -- push REF   pushes what was built, e.g. to registry.example.com/brupop:0.1.0, and prints its digest

Needs Debian's apt and dpkg-deb, GNU tar and gzip, and Go 1.26 for the first build of crane.
`;

export function parseCommand(args: readonly string[]): Command {
  if (args.includes('--help')) return { kind: 'help' };
  const asked = args.join(' ');
  const [verb, reference] = args;
  if (asked === '') return { kind: 'build', whenGone: 'newest' };
  if (asked === '--locked') return { kind: 'build', whenGone: 'refuse' };
  if (asked === 'lock') return { kind: 'lock' };
  if (verb === 'push' && reference !== undefined && args.length === 2) return { kind: 'push', reference };
  return { kind: 'unknown', fault: `expected one of the following, got ${asked}` };
}
