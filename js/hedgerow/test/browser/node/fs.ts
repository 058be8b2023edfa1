/** The part of Node's `fs` that tests use: Vite serves the files of the repository. */

export function readFileSync(url: URL, encoding: 'utf8'): string {
  if (encoding !== 'utf8') throw new Error('only text can be read in a browser');
  const request = new XMLHttpRequest();
  request.open('GET', url, false);
  request.send();
  if (request.status !== 200) throw new Error(`${url}: ${request.status}`);
  return request.responseText;
}
