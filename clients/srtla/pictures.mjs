// Pictures at the two ends: a camera that films a clip, and a screen that counts.

import { fstatSync, openSync, readSync } from 'node:fs';

import * as stamp from './stamp.mjs';

export const now = () => performance.timeOrigin + performance.now();

/** Pictures that may wait for the encoder; further ones are skipped. */
const WAITING = 2;
/** Delay after which the camera does not catch up, ms. */
const LOST_MS = 500;
const TITLE = 'FRAME\n';

/** Films a Y4M file in a loop, in real time; each picture has its number and the time. */
export class Camera {
  #file;
  #begin;
  #count;
  #bytes;
  #size;
  #interval;
  /** Encoder; without it nothing is filmed. */
  encoder;
  filmed = 0;
  skipped = 0;

  constructor(path, [width, height], fps) {
    this.#file = openSync(path);
    const head = Buffer.alloc(256);
    readSync(this.#file, head, 0, head.length, 0);
    this.#begin = head.indexOf('\n') + 1;
    this.#bytes = (width * height * 3) / 2;
    this.#count = Math.floor((fstatSync(this.#file).size - this.#begin) / (TITLE.length + this.#bytes));
    this.#size = [width, height];
    this.#interval = 1000 / fps;
  }

  start() {
    let due = now();
    const film = () => {
      if (this.encoder !== undefined) this.#film();
      due = Math.max(due + this.#interval, now() - LOST_MS);
      setTimeout(film, due - now());
    };
    film();
  }

  /** Time for which the encoder was too slow, s. */
  get limitedS() {
    return (this.skipped * this.#interval) / 1000;
  }

  #film() {
    const number = this.filmed;
    this.filmed += 1;
    if (this.encoder.writableLength > WAITING * this.#bytes) {
      this.skipped += 1;
      return;
    }
    const picture = Buffer.allocUnsafe(this.#bytes);
    const at = this.#begin + (number % this.#count) * (TITLE.length + this.#bytes) + TITLE.length;
    readSync(this.#file, picture, 0, this.#bytes, at);
    stamp.write(picture, ...this.#size, number, now());
    this.encoder.write(picture);
  }
}

/** Pictures whose mean interval decides what a freeze is. */
const WINDOW = 30;
const MARGIN_MS = 150;

/** Reads the corner of each decoded picture; counts freezes as weft does (W3C webrtc-stats). */
export class Screen {
  #size;
  #corner;
  #rest = Buffer.alloc(0);
  #shownAt;
  #intervals = [];
  #latencies = [];
  frames = 0;
  /** Pictures whose stamp is damaged. */
  damaged = 0;
  freezes = 0;
  freezeS = 0;

  constructor(size) {
    this.#size = size;
    const [width, height] = stamp.corner(...size);
    this.#corner = width * height;
  }

  onPixels(chunk) {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= this.#corner) {
      this.#onPicture(stamp.read(this.#rest, ...this.#size));
      this.#rest = this.#rest.subarray(this.#corner);
    }
  }

  /** Latencies since the last call, ms. */
  takeLatencies() {
    return this.#latencies.splice(0);
  }

  #onPicture(read) {
    if (read === undefined) {
      this.damaged += 1;
      return;
    }
    const at = now();
    this.frames += 1;
    // The stamp has the last 32 bits of the time.
    this.#latencies.push((((at - read.time) % 2 ** 32) + 2 ** 32) % 2 ** 32);
    const interval = this.#shownAt === undefined ? undefined : at - this.#shownAt;
    this.#shownAt = at;
    if (interval === undefined) return;
    const mean = this.#intervals.reduce((sum, each) => sum + each, 0) / this.#intervals.length;
    if (this.#intervals.length > 0 && interval >= Math.max(3 * mean, mean + MARGIN_MS)) {
      this.freezes += 1;
      this.freezeS += interval / 1000;
    }
    if (this.#intervals.length === WINDOW) this.#intervals.shift();
    this.#intervals.push(interval);
  }
}
