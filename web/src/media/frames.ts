// Detection of new frames in a video element.

/** Calls `onFrame` with the time of each frame until the returned function is called. Frames that
 *  arrived earlier belong to the element's previous content and do not count; only some browsers
 *  report their arrival. */
export function watchFrames(video: HTMLVideoElement, onFrame: (now: number) => void): () => void {
  return 'requestVideoFrameCallback' in video ? byCallback(video, onFrame) : byCounting(video, onFrame);
}

function byCallback(video: HTMLVideoElement, onFrame: (now: number) => void): () => void {
  let handle = 0;
  const begun = performance.now();
  const step = (now: number, { receiveTime = begun }: VideoFrameCallbackMetadata): void => {
    if (receiveTime >= begun) onFrame(now);
    handle = video.requestVideoFrameCallback(step);
  };
  handle = video.requestVideoFrameCallback(step);
  return () => video.cancelVideoFrameCallback(handle);
}

/** For browsers without the callback: polls the frame count at every redraw. */
function byCounting(video: HTMLVideoElement, onFrame: (now: number) => void): () => void {
  let handle = 0;
  let seen = video.getVideoPlaybackQuality().totalVideoFrames;
  const step = (now: number): void => {
    const count = video.getVideoPlaybackQuality().totalVideoFrames;
    if (count !== seen) onFrame(now);
    seen = count;
    handle = requestAnimationFrame(step);
  };
  handle = requestAnimationFrame(step);
  return () => cancelAnimationFrame(handle);
}
