export function htmlReport() {
  return '';
}
