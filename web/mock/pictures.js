// Put into the page by the mock server only: answers WHIP, WHEP and requests for
// the reception of a room inside the page, with drawn pictures between two local
// peer connections.
(() => {
  const moves = { weft: true, single: true };
  const realFetch = window.fetch.bind(window);
  const peers = new Map();
  let next = 1;

  if (location.pathname === '/demo') {
    const events = new EventSource('/api/demo/events?mock');
    events.addEventListener('tick', (event) => {
      const { calls } = JSON.parse(event.data);
      moves.weft = !calls.weft.frozen;
      moves.single = !calls['single:wifi'].frozen;
    });
  }

  /** For tests: the view, and which pictures move. */
  window.mock = { moves, view: () => view };

  window.fetch = async (input, init = {}) => {
    const url = new URL(input, location.href);
    const reception = /^(\/api\/rooms\/[^/]+\/reception)(?:\/([^/]+)(?:\/view)?)?$/.exec(url.pathname);
    if (reception !== null) return receive(reception[1], reception[2], init);
    const [, kind, room, who, resource] = url.pathname.split('/');
    if (kind !== 'whep' && kind !== 'whip') return realFetch(input, init);
    const id = resource ?? who;
    if (init.method === 'DELETE') {
      peers.get(id)?.close();
      peers.delete(id);
      return new Response(null, { status: 200 });
    }
    if (init.method === 'PUT') return new Response(null, { status: 204 });
    if (init.method === 'PATCH') {
      await peers.get(id).setRemoteDescription({ type: 'answer', sdp: init.body });
      return new Response(null, { status: 204 });
    }
    return kind === 'whep' ? offer(room, who) : answer(room, init.body);
  };

  async function offer(room, who) {
    const peer = new RTCPeerConnection();
    const id = `m${next++}`;
    peers.set(id, peer);
    for (const look of CAMERAS[who] ?? [who]) {
      const stream = draw(look);
      for (const track of stream.getTracks()) peer.addTrack(track, stream);
    }
    await peer.setLocalDescription(await peer.createOffer());
    await gathered(peer);
    return created(`/whep/${room}/${who}/${id}`, peer);
  }

  async function answer(room, sdp) {
    const peer = new RTCPeerConnection();
    const id = `m${next++}`;
    peers.set(id, peer);
    await peer.setRemoteDescription({ type: 'offer', sdp });
    await peer.setLocalDescription(await peer.createAnswer());
    await gathered(peer);
    return created(`/whip/${room}/${id}`, peer);
  }

  const receptions = new Map();
  /** The latest view that the page told; tests read it. */
  let view = [];

  /** Answers a request on the connection that carries a whole room. */
  async function receive(path, id, { method, body }) {
    if (method === 'POST') {
      const peer = new RTCPeerConnection();
      const fresh = `m${next++}`;
      receptions.set(fresh, { peer, lines: [] });
      addLine(fresh);
      await peer.setLocalDescription(await peer.createOffer());
      await gathered(peer);
      return created(`${path}/${fresh}`, peer);
    }
    const { peer, lines } = receptions.get(id) ?? {};
    if (peer === undefined) return new Response(null, { status: 404 });
    if (method === 'PATCH') {
      await peer.setRemoteDescription({ type: 'answer', sdp: body });
      return new Response(null, { status: 204 });
    }
    if (method === 'DELETE') {
      for (const line of lines) stopLine(line);
      peer.close();
      receptions.delete(id);
      return new Response(null, { status: 200 });
    }
    // A pool of one line grows with the first view, by an offer in the answer.
    view = JSON.parse(body).cameras;
    const wanted = view.map(({ participant, camera }) => ({ participant, camera, look: (CAMERAS[participant] ?? [participant])[camera] }));
    const same = (one) => (other) => one?.participant === other.participant && one?.camera === other.camera;
    for (const line of lines) if (line.source !== null && !wanted.some(same(line.source))) stopLine(line);
    for (const source of wanted.filter((each) => each.look !== undefined)) {
      if (lines.some((line) => same(line.source ?? undefined)(source))) continue;
      // The last free one: who comes back gets a line that was somebody else's.
      const line = lines.findLast((each) => each.source === null) ?? addLine(id);
      line.source = source;
      line.track = draw(source.look).getVideoTracks()[0];
      await line.transceiver.sender.replaceTrack(line.track);
    }
    while (peer.signalingState !== 'stable') await new Promise((resolve) => setTimeout(resolve, 10));
    let offer;
    if (lines.some((line) => line.transceiver.mid === null)) {
      await peer.setLocalDescription(await peer.createOffer());
      offer = peer.localDescription.sdp;
    }
    // In the room "slow", there is rate for one picture.
    const paused = (place) => location.pathname === '/r/slow' && place > 0;
    const told = lines.filter((line) => line.source !== null);
    return Response.json({
      lines: told.map(({ transceiver: { mid }, source: { participant, camera } }, place) => ({ mid, participant, kind: 'video', camera, ...(paused(place) && { paused: true }) })),
      offer,
    });
  }

  function addLine(id) {
    const { peer, lines } = receptions.get(id);
    const line = { transceiver: peer.addTransceiver('video', { direction: 'sendonly', streams: [new MediaStream()] }), source: null, track: null };
    lines.push(line);
    return line;
  }

  function stopLine(line) {
    line.track?.stop();
    line.track = null;
    line.source = null;
    void line.transceiver.sender.replaceTrack(null);
  }

  function created(location, peer) {
    return new Response(peer.localDescription.sdp, {
      status: 201,
      headers: { location, 'content-type': 'application/sdp' },
    });
  }

  function gathered(peer) {
    return new Promise((resolve) => {
      if (peer.iceGatheringState === 'complete') resolve();
      else peer.addEventListener('icegatheringstatechange', () => peer.iceGatheringState === 'complete' && resolve());
    });
  }

  const LOOKS = {
    weft: ['#8fb3c9', '#e8b793', '#2f3b52', '#3a2a22'],
    single: ['#8fb3c9', '#e8b793', '#2f3b52', '#3a2a22'],
    ada: ['#c9b98f', '#f0c7a6', '#7a2e3b', '#1f1a17'],
    rover: ['#9dbb9a', '#c98d64', '#334d3d', '#241a14'],
    sender: ['#9dbb9a', '#c98d64', '#334d3d', '#241a14'],
  };

  /** What each camera shows of who has several. */
  const CAMERAS = { rover: ['rover', 'weft'] };

  function draw(who) {
    const canvas = document.createElement('canvas');
    canvas.width = 640;
    canvas.height = 360;
    const paint = canvas.getContext('2d', { alpha: false });
    const look = LOOKS[who] ?? LOOKS.ada;
    const stream = canvas.captureStream(0);
    const [track] = stream.getVideoTracks();
    let frame = 0;
    const timer = setInterval(() => {
      if (track.readyState === 'ended') return clearInterval(timer);
      if (moves[who] === false) return;
      frame += 1;
      head(paint, look, frame / 30, frame);
      track.requestFrame();
    }, 1000 / 30);
    return stream;
  }

  function head(paint, [room, skin, coat, hair], t, frame) {
    const wall = paint.createLinearGradient(0, 0, 640, 360);
    wall.addColorStop(0, room);
    wall.addColorStop(1, '#4a5464');
    paint.fillStyle = wall;
    paint.fillRect(0, 0, 640, 360);
    paint.fillStyle = 'rgba(255,255,255,.16)';
    paint.fillRect(470, 40, 120, 150);
    paint.fillRect(48, 60, 70, 210);
    const x = 320 + Math.sin(t * 0.9) * 16;
    const y = 168 + Math.sin(t * 1.7) * 5;
    ellipse(paint, coat, 320, 385, 170, 120);
    paint.fillStyle = skin;
    paint.fillRect(x - 24, y + 60, 48, 60);
    ellipse(paint, hair, x, y - 22, 80, 88);
    ellipse(paint, skin, x, y, 66, 84);
    ellipse(paint, hair, x, y - 70, 66, 30);
    const blink = t % 3.4 < 0.12 ? 1 : 6;
    ellipse(paint, '#22201f', x - 25, y - 10, 6, blink);
    ellipse(paint, '#22201f', x + 25, y - 10, 6, blink);
    ellipse(paint, '#8a3b3b', x, y + 42, 19, 3 + Math.abs(Math.sin(t * 7.3)) * 10);
    paint.fillStyle = 'rgba(0,0,0,.5)';
    paint.fillRect(0, 0, 92, 24);
    paint.fillStyle = '#fff';
    paint.font = '14px monospace';
    paint.fillText(String(frame).padStart(7, '0'), 12, 17);
  }

  function ellipse(paint, colour, x, y, rx, ry) {
    paint.fillStyle = colour;
    paint.beginPath();
    paint.ellipse(x, y, rx, ry, 0, 0, Math.PI * 2);
    paint.fill();
  }
})();
