// Reads the frame number in the corner of the built-in clip from a video's pixels, as
// described in `weft_media::stamp`.

import type { Page } from 'playwright-core';

/** Returns the number of the picture shown by the video with this label; null if it is
 *  unreadable. */
export function frameNumber(page: Page, label: string): Promise<number | null> {
  return page.getByLabel(label, { exact: true }).evaluate((element) => {
    const [COLUMNS, ROWS] = [22, 4];
    const video = element as HTMLVideoElement;
    const [width, height] = [video.videoWidth, video.videoHeight];
    if (width === 0) return null;
    const canvas = new OffscreenCanvas(width, height);
    const paint = canvas.getContext('2d')!;
    paint.drawImage(video, 0, 0);
    const cell = Math.min(height / 45, width / 48);
    const level = (row: number, column: number): number => {
      const side = Math.max(Math.round(cell / 2), 1);
      const from = (index: number): number => Math.round((index + 0.25) * cell);
      const { data } = paint.getImageData(from(column), from(row), side, side);
      return data.reduce((sum, value, at) => (at % 4 === 1 ? sum + value : sum), 0) / (side * side);
    };
    const rows = Array.from({ length: ROWS }, (_, row) => row);
    const markers = rows.map((row) => [level(row, row % 2 === 0 ? 0 : COLUMNS - 1), level(row, row % 2 === 0 ? COLUMNS - 1 : 0)] as const);
    const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
    const [bright, dark] = [mean(markers.map(([each]) => each)), mean(markers.map(([, each]) => each))];
    if (bright - dark < 44) return null;
    const middle = (bright + dark) / 2;
    let bits = 0n;
    for (const row of rows) for (let column = 1; column < COLUMNS - 1; column += 1) bits = (bits << 1n) | (level(row, column) > middle ? 1n : 0n);
    let crc = 0xffff;
    for (let at = 72n; at >= 16n; at -= 8n) {
      crc ^= Number((bits >> at) & 0xffn) << 8;
      for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
    }
    return BigInt(crc) === (bits & 0xffffn) ? Number(bits >> 48n) : null;
  });
}
