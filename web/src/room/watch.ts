// Cameras on our screen and the sizes of their tiles, which determine what the server
// sends.

import type { ViewedCamera } from '../signal/reception';

/** Tile of a camera, in CSS pixels. */
export interface Tile {
  readonly participant: string;
  readonly camera: number;
  readonly width: number;
  readonly height: number;
}

/** Lists tiles in the form that the server wants: in physical pixels, the largest first, which is
 *  the pinned one. */
export function viewOf(tiles: readonly Tile[], pixelRatio: number): ViewedCamera[] {
  const seen = tiles.filter(({ width, height }) => width > 0 && height > 0);
  seen.sort((one, other) => other.width * other.height - one.width * one.height);
  return seen.map(({ participant, camera, width, height }) => ({
    participant,
    camera,
    width: Math.round(width * pixelRatio),
    height: Math.round(height * pixelRatio),
  }));
}

/** Document events after which other tiles may be on the screen. */
const CHANGES = ['visibilitychange', 'fullscreenchange', 'enterpictureinpicture', 'leavepictureinpicture'] as const;

interface Watched {
  readonly participant: string;
  readonly camera: number;
  /** Whether any part is within the window. */
  inside: boolean;
}

/** Watches tiles, and reports all tiles on the screen whenever they change. */
export class TileWatch {
  readonly #report: (view: readonly ViewedCamera[]) => void;
  readonly #tiles = new Map<Element, Watched>();
  readonly #resized = new ResizeObserver(() => this.#look());
  readonly #moved = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const tile = this.#tiles.get(target);
      if (tile !== undefined) tile.inside = isIntersecting;
    }
    this.#look();
  });

  constructor(report: (view: readonly ViewedCamera[]) => void) {
    this.#report = report;
  }

  /** Starts; returns the function that stops it. */
  run(): () => void {
    const look = (): void => this.#look();
    for (const change of CHANGES) document.addEventListener(change, look);
    // Zooming changes the physical pixels, but may not change the CSS pixels.
    addEventListener('resize', look);
    look();
    return () => {
      for (const change of CHANGES) document.removeEventListener(change, look);
      removeEventListener('resize', look);
    };
  }

  /** Watches the tile of a camera; returns the function that stops it. */
  add(element: Element, participant: string, camera: number): () => void {
    this.#tiles.set(element, { participant, camera, inside: false });
    this.#moved.observe(element);
    this.#resized.observe(element);
    return () => {
      this.#tiles.delete(element);
      this.#moved.unobserve(element);
      this.#resized.unobserve(element);
      this.#look();
    };
  }

  #look(): void {
    const tiles = [...this.#tiles].filter(([element, { inside }]) => inside && isShown(element));
    this.#report(
      viewOf(
        tiles.map(([element, { participant, camera }]) => ({ participant, camera, width: element.clientWidth, height: element.clientHeight })),
        devicePixelRatio,
      ),
    );
  }
}

/** Whether the page is visible, or the tile in full screen or in its own window. */
function isShown(tile: Element): boolean {
  const { hidden, fullscreenElement, pictureInPictureElement } = document;
  if (pictureInPictureElement !== null && tile.contains(pictureInPictureElement)) return true;
  return !hidden && (fullscreenElement === null || fullscreenElement.contains(tile));
}
