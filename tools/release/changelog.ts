const UNRELEASED = '## Unreleased';

/** What the changelog says of a version, without its heading; undefined where it has no such section, or nothing in it. */
export function notesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^(?=## )/m);
  const section = sections.find((text) => text.split('\n', 1)[0]?.split(' ')[1] === version);
  return section?.split('\n').slice(1).join('\n').trim() || undefined;
}

/** The changelog with what is unreleased under the heading of a version. @param date e.g. 2026-11-22 */
export function released(changelog: string, version: string, date: string): string {
  return changelog.replace(`${UNRELEASED}\n`, `${UNRELEASED}\n\n## ${version} - ${date}\n`);
}
