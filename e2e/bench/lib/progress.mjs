// Shows progress in one line: a terminal overwrites it, other outputs get a line per round.

const FRAMES = ['|', '/', '-', '\\'];
const TURN_MS = 120;

export class Progress {
  #text = '';
  #phase = '';
  #frame = 0;
  #timer;

  show(text) {
    this.#text = text;
    if (process.stdout.isTTY) {
      this.#timer ??= setInterval(() => this.#draw(), TURN_MS).unref();
      this.#draw();
      return;
    }
    // Without the contestant.
    const phase = text.split(/, (?=[^,]*$)/)[0];
    if (phase !== this.#phase) console.log(`... ${phase}`);
    this.#phase = phase;
  }

  #draw() {
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const room = (process.stdout.columns ?? 80) - 3;
    process.stdout.write(`\r\x1b[2K${FRAMES[this.#frame]} ${this.#text.slice(0, room)}`);
  }

  clear() {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[2K');
  }
}
