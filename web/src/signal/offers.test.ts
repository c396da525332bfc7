import { expect, it } from 'vitest';
import { withoutDecoder } from './offers';

it('says which codec of theirs this browser cannot show', () => {
  const offer = 'm=video 9 UDP/TLS/RTP/SAVPF 102 103\r\na=rtpmap:102 H264/90000\r\na=rtpmap:103 rtx/90000\r\n';
  const rejecting = 'm=video 0 UDP/TLS/RTP/SAVPF 102\r\n';
  expect(withoutDecoder(offer, rejecting)).toBe('H264');
  expect(withoutDecoder(offer, rejecting.replace('video 0', 'video 9'))).toBeNull();
});

it('finds it among sections that this browser can show', () => {
  const shown = 'm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=rtpmap:96 VP8/90000\r\n';
  const sound = 'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:111 opus/48000/2\r\n';
  const offer = `v=0\r\n${shown}${sound}m=video 9 UDP/TLS/RTP/SAVPF 102\r\na=rtpmap:102 H264/90000\r\n`;
  expect(withoutDecoder(offer, `v=0\r\n${shown}${sound}m=video 0 UDP/TLS/RTP/SAVPF 102\r\n`)).toBe('H264');
  expect(withoutDecoder(offer, `v=0\r\n${shown}m=audio 0 UDP/TLS/RTP/SAVPF 111\r\nm=video 9 UDP/TLS/RTP/SAVPF 102\r\n`)).toBeNull();
});
