import type { Hold, Pins } from './pins.js';

/** Announces that segments of a writer are stored and not committed. */
export async function announceWriter(pins: Pins, writer: number): Promise<Hold> {
  const { writers } = pins;
  writers.set(writer, (writers.get(writer) ?? 0) + 1);
  const announced = await pins.announce(`writer/${writer}`);
  const release = () => {
    const uses = (writers.get(writer) ?? 1) - 1;
    if (uses > 0) writers.set(writer, uses);
    else writers.delete(writer);
    announced.release();
  };
  return {
    get isSeen() {
      return announced.isSeen;
    },
    release,
  };
}
