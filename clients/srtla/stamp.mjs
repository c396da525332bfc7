// The number and the time in the corner of a picture, as `weft_media::stamp` describes
// them, written into and read from its luma.

const [COLUMNS, ROWS] = [22, 4];
const [DARK, BRIGHT] = [32, 208];

const cellOf = (width, height) => Math.min(height / 45, width / 48);

/** Even size of the corner that holds the stamp. */
export function corner(width, height) {
  const even = (length) => 2 * Math.ceil(length / 2);
  const cell = cellOf(width, height);
  return [even(COLUMNS * cell), even(ROWS * cell)];
}

/** Draws a stamp over the one of the clip, whose chroma is grey already. */
export function write(luma, width, height, number, unixMs) {
  const cell = cellOf(width, height);
  const bytes = new Uint8Array(10);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, number);
  view.setUint32(4, unixMs % 2 ** 32);
  view.setUint16(8, crc16(bytes.subarray(0, 8)));
  for (let row = 0; row < ROWS; row += 1) {
    for (let column = 0; column < COLUMNS; column += 1) {
      const bit = row * (COLUMNS - 2) + column - 1;
      let isBright = (bytes[bit >> 3] & (0x80 >> (bit & 7))) !== 0;
      if (column === 0) isBright = row % 2 === 0;
      if (column === COLUMNS - 1) isBright = row % 2 === 1;
      const [left, right] = [Math.round(column * cell), Math.round((column + 1) * cell)];
      for (let line = Math.round(row * cell); line < Math.round((row + 1) * cell); line += 1) {
        luma.fill(isBright ? BRIGHT : DARK, line * width + left, line * width + right);
      }
    }
  }
}

/** Stamp in the corner of a picture of this size; undefined if it is damaged. */
export function read(luma, width, height) {
  const cell = cellOf(width, height);
  const [stride] = corner(width, height);
  const edges = (index) => [0.25, 0.75].map((part) => Math.round((index + part) * cell));
  const level = (row, column) => {
    const [[top, bottom], [left, right]] = [edges(row), edges(column)];
    let sum = 0;
    for (let line = top; line < bottom; line += 1) for (let at = left; at < right; at += 1) sum += luma[line * stride + at];
    return sum / ((bottom - top) * (right - left));
  };
  let [bright, dark] = [0, 0];
  for (let row = 0; row < ROWS; row += 1) {
    const ends = [level(row, 0), level(row, COLUMNS - 1)];
    bright += ends[row % 2] / ROWS;
    dark += ends[1 - (row % 2)] / ROWS;
  }
  const bytes = new Uint8Array(10);
  for (let bit = 0; bit < 80; bit += 1) {
    const isSet = level(Math.floor(bit / 20), 1 + (bit % 20)) > (bright + dark) / 2;
    bytes[bit >> 3] |= isSet ? 0x80 >> (bit & 7) : 0;
  }
  const view = new DataView(bytes.buffer);
  if (crc16(bytes.subarray(0, 8)) !== view.getUint16(8)) return undefined;
  return { number: view.getUint32(0), time: view.getUint32(4) };
}

/** CCITT, beginning with 0xFFFF. */
function crc16(bytes) {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return crc;
}
