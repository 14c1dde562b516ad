import type { PageFile } from './server.ts';

/** What `scripts/build.mjs` has made of `page/`, in the program's own file. */
declare const DASHBOARD_PAGE: Readonly<Record<'html' | 'script' | 'style' | 'icon', string>>;

/** The page by path. */
export function pageFiles(): ReadonlyMap<string, PageFile> {
  const { html, script, style, icon } = DASHBOARD_PAGE;
  return new Map([
    ['/', { type: 'text/html', text: html }],
    ['/page.js', { type: 'text/javascript', text: script }],
    ['/page.css', { type: 'text/css', text: style }],
    ['/icon.svg', { type: 'image/svg+xml', text: icon }],
  ]);
}
