/** Keeps a canvas at the resolution of its place on the page, and reports its size in CSS pixels when it changes. */
export function fitCanvas(
  canvas: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  onSize: (width: number, height: number) => void,
): void {
  new ResizeObserver(([entry]) => {
    if (entry === undefined) return;
    const scale = Math.min(devicePixelRatio, 2);
    const { width, height } = entry.contentRect;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    onSize(width, height);
  }).observe(canvas);
}
