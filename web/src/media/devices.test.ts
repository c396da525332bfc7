import { expect, it } from 'vitest';
import { capture, devicesOf, presentOf } from './devices';

const stream = {} as MediaStream;

/** Devices that grant what `allowed` permits and throw `error` for anything else. */
function devices(allowed: (constraints: MediaStreamConstraints) => boolean, error: string) {
  const asked: string[] = [];
  return {
    asked,
    getUserMedia: (constraints: MediaStreamConstraints = {}) => {
      asked.push(Object.keys(constraints).sort().join('+'));
      return allowed(constraints) ? Promise.resolve(stream) : Promise.reject(new DOMException('', error));
    },
  };
}

it('asks once for both', async () => {
  const all = devices(() => true, '');
  expect(await capture(all, true)).toEqual({ stream, problem: null });
  expect(all.asked).toEqual(['audio+video']);
});

it('continues with sound where there is no camera, and says so', async () => {
  const noCamera = devices((wanted) => wanted.video === undefined, 'NotFoundError');
  const got = await capture(noCamera, true);
  expect(got.stream).toBe(stream);
  expect(got.problem).toMatchObject({ error: expect.stringContaining('no camera') as string, remedy: 'Plug in a camera and press “Try again”.' });
});

it('continues with the picture where the microphone is taken', async () => {
  const noMicrophone = devices((wanted) => wanted.audio === undefined, 'NotReadableError');
  const got = await capture(noMicrophone, true);
  expect(noMicrophone.asked).toEqual(['audio+video', 'audio', 'video']);
  expect(got.stream).toBe(stream);
  expect(got.problem?.remedy).toContain('Another program may use the microphone');
});

it('does not ask again after a refusal', async () => {
  const refusing = devices(() => false, 'NotAllowedError');
  const got = await capture(refusing, true);
  expect(refusing.asked).toEqual(['audio+video']);
  expect(got).toMatchObject({ stream: null, problem: { remedy: expect.stringContaining('Allow them') as string } });
});

it('names https where the page is not secure', async () => {
  const got = await capture(undefined, false);
  expect(got).toMatchObject({ stream: null, problem: { remedy: expect.stringContaining('https://') as string } });
});

it('lists the devices of a kind, and numbers those without a name', () => {
  const device = (kind: MediaDeviceKind, deviceId: string, label: string) => ({ kind, deviceId, label });
  const all = [device('audiooutput', 'a', 'Headset'), device('audioinput', 'b', ''), device('audiooutput', 'c', ''), device('audiooutput', '', '')];
  expect(devicesOf(all, 'audiooutput')).toEqual([
    { id: 'a', name: 'Headset' },
    { id: 'c', name: 'Loudspeaker 2' },
  ]);
  expect(devicesOf(all, 'audioinput')).toEqual([{ id: 'b', name: 'Microphone 1' }]);
});

it('chooses no device that was unplugged', () => {
  const [front, back] = [{ id: 'front', name: 'Front' }, { id: 'back', name: 'Back' }];
  expect(presentOf([front, back], 'back', 'front')).toBe('back');
  expect(presentOf([front], 'back', 'front')).toBe('front');
  expect(presentOf([front], 'back', 'back')).toBeNull();
  expect(presentOf([front], undefined, null)).toBeNull();
});
